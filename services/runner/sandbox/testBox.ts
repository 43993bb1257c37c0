/** For tests: a box where this machine can make one, and else the reason for leaving tests out. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { openScratch } from '../scratch.ts'
import { testPath } from '../workspace/testScene.ts'
import { detectContainers } from './containerDetect.ts'
import { detectBubblewrap } from './detect.ts'
import type { Sandbox } from './port.ts'

export interface TestBox {
  readonly sandbox: Sandbox | undefined
  /** For the name of a suite: empty, or why it is skipped. */
  readonly note: string
}

/** A container engine that is there, and an image on it. */
export interface TestEngine {
  readonly socketPath: string
  readonly image: string
}

/** By bubblewrap, or by the engine. With `REQUIRE_SANDBOX=1` in the environment, a machine without boxes is a failure. */
export async function findTestBox(engine?: TestEngine): Promise<TestBox> {
  const root = await mkdtemp(join(tmpdir(), 'flightdeck-box-'))
  try {
    const asked = { path: testPath, root, gitProgram: 'git' }
    const found = engine ? await detectOn(engine, asked) : await detectBubblewrap(asked)
    if (found.kind === 'works') return { sandbox: found.sandbox, note: '' }
    if (process.env['REQUIRE_SANDBOX'] === '1') throw new Error(found.why)
    return { sandbox: undefined, note: ` (skipped: ${found.why})` }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

/** A runner of its own: what others have is not taken away. */
async function detectOn(engine: TestEngine, asked: { path: string; root: string; gitProgram: string }) {
  const runnerId = basename(asked.root)
  const scratch = await openScratch(runnerId)
  return detectContainers({ ...engine, ...asked, runnerId, scratch, shared: {}, node: process.execPath })
}
