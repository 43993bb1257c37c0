/** A sandbox for tests if this machine can make one, or else the reason for skipping tests. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { openScratch } from '../../services/runner/scratch.ts'
import { isLongRun } from '../longRun.ts'
import { testGit, testPath } from './workspaceScene.ts'
import { detectContainers } from '../../services/runner/sandbox/container/detect.ts'
import { sandboxDockerfile, type ImageRequest } from '../../services/runner/sandbox/container/image.ts'
import type { ControlGroups } from '../../services/runner/sandbox/bubblewrap/controlGroups.ts'
import { detectBubblewrap, type DetectRequest } from '../../services/runner/sandbox/bubblewrap/detect.ts'
import type { Sandbox } from '../../services/runner/sandbox/port.ts'
import type { Git } from '../../services/runner/workspace/git/git.ts'
import type { Workspace } from '../../services/runner/workspace/workspace.ts'

export interface TestSandbox {
  readonly sandbox: Sandbox | undefined
  /** An addition to the name of a suite: empty, or why it is skipped. */
  readonly note: string
  /** Ends the processes that the sandbox keeps between calls. */
  close(): Promise<void>
}

/** A machine that cannot make sandboxes. */
export const noTestSandbox = (why: string): TestSandbox => ({
  sandbox: undefined,
  note: ` (${why})`,
  close: async () => undefined,
})

type GitFor = (workspace: Workspace) => Git

/**
 * The kinds of git that touch an agent's tree, by a name for the suite: the sandbox's, as in production; also that of the host in a long run, and if
 * there is no sandbox.
 */
export function treeGits({
  sandbox,
  note,
}: TestSandbox): readonly (readonly [way: string, gitFor: GitFor | undefined])[] {
  const sandboxed = [`in a sandbox${note}`, sandbox?.gitFor] as const
  return sandbox && !isLongRun ? [sandboxed] : [['on the host', () => testGit], sandboxed]
}

/** A container engine that runs, and an image that it has. */
export interface TestEngine {
  readonly socketPath: string
  readonly image: string
}

/** A sandbox by bubblewrap, or by the engine. With `REQUIRE_SANDBOX=1` in the environment, a machine without sandboxes is a failure. */
export async function findTestSandbox(
  engine?: TestEngine,
  groups?: ControlGroups,
  toolchains?: DetectRequest['toolchains'],
): Promise<TestSandbox> {
  const root = await mkdtemp(join(tmpdir(), 'flightdeck-sandbox-'))
  try {
    const asked = {
      path: testPath,
      root,
      gitProgram: 'git',
      ...(groups && { groups }),
      ...(toolchains && { toolchains }),
    }
    const found = engine ? await detectOn(engine, asked) : await detectHere(asked)
    if (found.kind === 'works') return { ...found, note: '' }
    if (process.env['REQUIRE_SANDBOX'] === '1') throw new Error(found.why)
    return noTestSandbox(`skipped: ${found.why}`)
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

async function detectHere(asked: DetectRequest) {
  const found = await detectBubblewrap(asked)
  return found.kind === 'works' ? { ...found, close: async () => undefined } : found
}

/** A runner of its own, so that nothing of other runners is removed. */
async function detectOn(engine: TestEngine, asked: DetectRequest) {
  const runnerId = basename(asked.root)
  const scratch = await openScratch(runnerId)
  const given = {
    ...asked,
    sockets: [engine.socketPath],
    image: testImage(engine.image),
    runnerId,
    scratch,
    shared: {},
    node: process.execPath,
  }
  const found = await detectContainers(given)
  return found.kind === 'works' ? { ...found, close: () => found.sandbox.close() } : found
}

/** An existing image; none is built. */
export const testImage = (named: string): ImageRequest => ({
  named,
  dockerfile: sandboxDockerfile,
  buildArguments: {},
  progress: () => undefined,
})
