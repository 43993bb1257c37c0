/** The project's setup command: run once in each workspace, before anything else is. */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ExecutionOutcome } from '#domain/task/commands.ts'
import type { RunnerDeps } from '../deps.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { runInBox } from './sandboxCommand.ts'
import { timeInWords } from './runLimits.ts'
import { failed } from './failed.ts'
import type { Run } from './run.ts'
import type { SandboxEnvs } from './sandboxEnvs.ts'

const setupMs = 15 * 60_000

/**
 * Sets the workspace up, unless this very command has done so before. `undefined` when it is; else how the execution ends: a setup that
 * failed is run again by the next one.
 */
export async function setUpWorkspace(
  deps: RunnerDeps,
  {
    run,
    workspace,
    around,
  }: { readonly run: Run; readonly workspace: Workspace; readonly around: SandboxEnvs },
): Promise<ExecutionOutcome | undefined> {
  const command = around.setupCommand.trim()
  if (command === '' || (await isSetUp(workspace, command))) return undefined
  const longestMs = Math.min(setupMs, deps.limits.longestMs)
  await run.output.note('Setting up the workspace, as the project says.\n')
  const begun = performance.now()
  const ran = await runInBox(deps, { run, workspace, command, sandboxEnv: around.withSecrets, longestMs })
  if (ran.kind !== 'ended') return ran
  const { code, reason } = ran.exit
  if (reason === 'time_limit')
    return failed('setup_failed', `The project's setup command was stopped after ${timeInWords(longestMs)}.`)
  if (reason === 'memory_limit')
    return failed('setup_failed', "The project's setup command used more memory than it may.")
  if (code !== 0)
    return failed(
      'setup_failed',
      `The project's setup command ended with exit code ${code ?? 1}. The terminal has what it said. Mend it, or change it in the project's settings, and try again.`,
    )
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
  await run.output.note(`The workspace was set up in ${seconds} s.\n`)
  await writeFile(markerOf(workspace), digestOf(command))
  return undefined
}

/** Beside the tree, out of an agent's reach. It goes with the workspace. */
function markerOf({ dir }: Workspace): string {
  return join(dirname(dir), 'setup')
}

async function isSetUp(workspace: Workspace, command: string): Promise<boolean> {
  const done = await readFile(markerOf(workspace), 'utf8').catch(() => undefined)
  return done === digestOf(command)
}

function digestOf(command: string): string {
  return createHash('sha256').update(command).digest('hex')
}
