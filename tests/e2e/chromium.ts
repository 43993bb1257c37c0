/** The system's Chromium, with a profile of its own that goes with it. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium, type Browser } from 'playwright'
import { cleanEnvironment } from '../product.ts'

/** `shell` is the same engine without the windows around it, for a third less of the processor's time; `person` is what a person has. */
export type ChromiumKind = 'shell' | 'person'

const shells = ['chromium-headless-shell']
const persons = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
/** Either stands in where the other is not installed. */
const names = { shell: [...shells, ...persons], person: [...persons, ...shells] }
/** The first start reads all of it from the disk. */
const launchMs = 90_000

/** It asks nothing of a network, and its own sandbox is off: tests may run as root, where that does not start. */
export const chromiumArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
] as const

/** Starts it with nothing of the shell's environment; `folder` is its home. Throws a sentence when there is none. */
export function openChromium(folder: string, kind: ChromiumKind = 'shell'): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath(kind),
    env: cleanEnvironment(folder),
    timeout: launchMs,
    args: [...chromiumArguments],
  })
}

/** Where the system's Chromium is. Throws a sentence when there is none. */
export function chromiumPath(kind: ChromiumKind, path = process.env['PATH'] ?? ''): string {
  const folders = path.split(delimiter).filter((folder) => folder !== '')
  const found = names[kind].flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram)
  if (found === undefined)
    throw new Error(
      'There is no Chromium on the PATH: install the package chromium-headless-shell or chromium.',
    )
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
