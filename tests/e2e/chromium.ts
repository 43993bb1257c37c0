/** The system's Chromium, with a profile of its own that goes with it. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium, type Browser } from 'playwright'
import { cleanEnvironment } from '../product.ts'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
/** The first start reads all of it from the disk. */
const launchMs = 90_000

/** Starts it with nothing of the shell's environment; `folder` is its home. Throws a sentence when there is none. */
export function openChromium(folder: string): Promise<Browser> {
  return chromium.launch({
    executablePath: installed(process.env['PATH'] ?? ''),
    env: cleanEnvironment(folder),
    timeout: launchMs,
    args: [
      // Tests may run as root, where Chromium's own sandbox does not.
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

function installed(path: string): string {
  const folders = path.split(delimiter).filter((folder) => folder !== '')
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram)
  if (found === undefined) throw new Error('There is no Chromium on the PATH: install the package chromium.')
  return found
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
