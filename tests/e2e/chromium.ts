/** The system's Chromium, with a profile of its own that is removed with it. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium, type Browser } from 'playwright'
import { cleanEnvironment } from '../product.ts'

/** `shell` is the browser's engine without windows, which takes a third less processor time; `person` is the browser that people use. */
export type ChromiumKind = 'shell' | 'person'

const shells = ['chromium-headless-shell']
const persons = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
/** If one kind is not installed, the other is used. */
const names = { shell: [...shells, ...persons], person: [...persons, ...shells] }
/** A long limit, because the first start reads the whole browser from the disk. */
const launchMs = 90_000

/** The browser makes no requests of its own, and its own sandbox is off, because that does not start for root. */
export const chromiumArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
] as const

/** Starts the browser without the shell's environment; `folder` is its home. Throws a sentence when there is no browser. */
export function openChromium(folder: string, kind: ChromiumKind = 'shell'): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath(kind),
    env: cleanEnvironment(folder),
    timeout: launchMs,
    args: [...chromiumArguments],
  })
}

/** The path of the system's Chromium. Throws a sentence when there is none. */
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
