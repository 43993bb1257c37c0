/** A product whose speed is compared with that of others: how it is started, and how a person uses its page. */
import type { Page } from 'playwright'
import type { Environment } from '../processes.ts'
import type { Scene } from '../row.ts'

export interface Contender {
  readonly name: string
  /** Prepares a folder of its own, with a small repository. `modelUrl` is the model's stand-in. */
  prepare(scene: Scene, modelUrl: string): Promise<Prepared>
}

export interface Prepared {
  /** Starts the server, which prints a line that `ready` matches once it answers at `base`. */
  readonly command: readonly [string, ...string[]]
  readonly ready: RegExp
  /** The folder of its own, which also names its processes. */
  readonly home: string
  readonly cwd: string
  readonly env: Environment
  readonly base: string
  /** Signs a person in; called once, when the server is ready for the first time. */
  signIn(): Promise<SignedIn>
}

export interface SignedIn {
  /** A script that runs in each page before its own scripts, and signs the person in. */
  readonly before: string
  /** The address of the page on which a person begins a new run. */
  newRun(): Promise<string>
  /** Writes a message on that page, and sends it with a key. Returns when the key was pressed, in milliseconds of `Date.now()` with fractions. */
  begin(page: Page, message: string): Promise<number>
  /** The same for the next message of the run. */
  followUp(page: Page, message: string): Promise<number>
}

/** Fills the box with a message, and presses the key that sends it. */
export async function send(page: Page, box: string, message: string, key: string): Promise<number> {
  const field = page.locator(box).first()
  await field.click()
  await page.keyboard.insertText(message)
  // A person reads what they wrote before they send it.
  await page.waitForTimeout(300)
  const pressedAt = performance.timeOrigin + performance.now()
  await page.keyboard.press(key)
  return pressedAt
}
