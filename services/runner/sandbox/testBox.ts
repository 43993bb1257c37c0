/** For tests: a box where this machine can make one, and else the reason for leaving tests out. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { openScratch } from '../scratch.ts'
import { testPath } from '../workspace/testScene.ts'
import { detectContainers } from './containerDetect.ts'
import type { ControlGroups } from './controlGroups.ts'
import { detectBubblewrap } from './detect.ts'
import type { Sandbox } from './port.ts'

export interface TestBox {
  readonly sandbox: Sandbox | undefined
  /** For the name of a suite: empty, or why it is skipped. */
  readonly note: string
  /** Ends what the box keeps open between calls. */
  close(): Promise<void>
}

/** A machine on which there is no box. */
export const noBox = (why: string): TestBox => ({
  sandbox: undefined,
  note: ` (${why})`,
  close: async () => undefined,
})

/** A container engine that is there, and an image on it. */
export interface TestEngine {
  readonly socketPath: string
  readonly image: string
}

/** By bubblewrap, or by the engine. With `REQUIRE_SANDBOX=1` in the environment, a machine without boxes is a failure. */
export async function findTestBox(engine?: TestEngine, groups?: ControlGroups): Promise<TestBox> {
  const root = await mkdtemp(join(tmpdir(), 'flightdeck-box-'))
  try {
    const asked = { path: testPath, root, gitProgram: 'git', ...(groups && { groups }) }
    const found = engine ? await detectOn(engine, asked) : await detectHere(asked)
    if (found.kind === 'works') return { ...found, note: '' }
    if (process.env['REQUIRE_SANDBOX'] === '1') throw new Error(found.why)
    return noBox(`skipped: ${found.why}`)
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

interface Asked {
  readonly path: string
  readonly root: string
  readonly gitProgram: string
  readonly groups?: ControlGroups
}

async function detectHere(asked: Asked) {
  const found = await detectBubblewrap(asked)
  return found.kind === 'works' ? { ...found, close: async () => undefined } : found
}

/** A runner of its own: what others have is not taken away. */
async function detectOn(engine: TestEngine, asked: Asked) {
  const runnerId = basename(asked.root)
  const scratch = await openScratch(runnerId)
  const given = { ...engine, ...asked, runnerId, scratch, shared: {}, node: process.execPath }
  const found = await detectContainers(given)
  return found.kind === 'works' ? { ...found, close: () => found.sandbox.close() } : found
}
