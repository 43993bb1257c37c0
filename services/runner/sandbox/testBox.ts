/** For tests: a box where this machine can make one, and else the reason for leaving tests out. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testPath } from '../workspace/testScene.ts'
import { detectBubblewrap } from './detect.ts'
import type { Sandbox } from './port.ts'

export interface TestBox {
  readonly sandbox: Sandbox | undefined
  /** For the name of a suite: empty, or why it is skipped. */
  readonly note: string
}

/** With `REQUIRE_SANDBOX=1` in the environment, a machine without boxes is a failure. */
export async function findTestBox(): Promise<TestBox> {
  const root = await mkdtemp(join(tmpdir(), 'flightdeck-box-'))
  try {
    const found = await detectBubblewrap({ path: testPath, root, gitProgram: 'git' })
    if (found.kind === 'works') return { sandbox: found.sandbox, note: '' }
    if (process.env['REQUIRE_SANDBOX'] === '1') throw new Error(found.why)
    return { sandbox: undefined, note: ` (skipped: ${found.why})` }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}
