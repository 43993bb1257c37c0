/** Sets a workspace up: uses a kept environment, or runs the project's setup command and keeps what it leaves for later tasks. */
import type { ExecutionOutcome } from '#domain/task/commands.ts'
import { failed, outcomeOfStop } from '../execution/failure.ts'
import { timeInWords } from '../execution/runLimits.ts'
import { runInSandbox, type CommandDeps, type CommandRun } from '../execution/sandboxCommand.ts'
import type { SandboxEnv, SandboxEnvs } from '../execution/sandboxEnv.ts'
import type { SandboxExit } from '../sandbox/port.ts'
import { originOf, type Workspace } from '../workspace/workspace.ts'
import {
  ago,
  environmentOf,
  fillFrom,
  markSetUp,
  markSetupBegun,
  setupStateOf,
  type Environment,
  type EnvironmentDeps,
} from './environment.ts'
import { beginRecord, noRecord, type EnvironmentRecord, type RecordDeps } from './environmentRecord.ts'
import { beginPacking, type PackingDeps } from './keepSetup.ts'
import { findLayer } from './layers.ts'

export type SetupDeps = EnvironmentDeps & CommandDeps & PackingDeps & Pick<RecordDeps, 'commands'>

export interface Setup {
  readonly run: CommandRun
  readonly projectId: string
  readonly workspace: Workspace
  readonly envs: Pick<SandboxEnvs, 'setupCommand' | 'variables' | 'secrets' | 'withSecrets' | 'forAgent'>
  /** Set when the workspace has only files of the base branch, although it is not recorded as untouched. */
  readonly isOfBase?: true | undefined
}

/** The result of a workspace's setup: `undefined` when it is set up, and otherwise the outcome of the execution. */
export type SetUp = ExecutionOutcome | undefined

/**
 * Sets the workspace up, unless that was done already. Resolves before a kept environment is unpacked, since an agent can start meanwhile. After a
 * failure, the next execution runs the setup again. `ready` and the call itself may reject with `Evicted`.
 */
export async function setUpWorkspace(
  deps: SetupDeps,
  setup: Setup,
): Promise<ExecutionOutcome | { readonly ready: Promise<SetUp> }> {
  const { run, workspace } = setup
  const command = setup.envs.setupCommand.trim()
  if (command === '') return isReady
  const before = await setupStateOf(workspace, command)
  if (before?.isDone === true) {
    if (before.builtAtIfUntold === undefined) return isReady
    await tellUsed(run, before.builtAtIfUntold)
    await markSetUp(workspace, { command })
    return isReady
  }
  const environment = await environmentOf(deps, setup)
  // What an earlier attempt left must not be mixed with the files of an environment.
  const fills = environment && before === undefined ? environment : undefined
  const layer = fills && (await findLayer(deps.root, fills.projectId, fills.usable, 'setupAndLocks'))
  const ready = fillOrRun(deps, { ...setup, environment }, layer && fills)
  return layer ? { ready } : ((await ready) ?? isReady)
}

const isReady = { ready: Promise.resolve(undefined) }

const tellUsed = (run: CommandRun, builtAt: number) =>
  run.output.note(`The environment was prepared ${ago(Date.now() - builtAt)} and is used again.\n`)

async function fillOrRun(
  deps: SetupDeps,
  setup: RunningSetup,
  fills: Environment | undefined,
): Promise<SetUp> {
  const { run, workspace } = setup
  const layer =
    fills && (await fillFrom(deps, fills, { by: 'setupAndLocks', over: false, signal: run.stopping.signal }))
  if (layer) await tellUsed(run, layer.builtAt)
  else {
    const stopped = outcomeOfStop(run.stopping)
    if (stopped) return stopped
    await markSetupBegun(workspace)
    const outcome = await runSetup(deps, setup)
    if (outcome) return outcome
  }
  await markSetUp(workspace, { command: setup.envs.setupCommand.trim() })
  return undefined
}

const longestSetupMs = 15 * 60_000

interface RunningSetup extends Setup {
  readonly environment: Environment | undefined
  /** Missing when the setup runs for a task. */
  readonly rebuild?: OfRebuild
}

export interface OfRebuild {
  /** The rebuild's record, which the caller opens and closes. */
  readonly record: EnvironmentRecord
  /** When a task last used an environment of the project, in milliseconds since 1970; missing when that is now. */
  readonly usedAt?: number | undefined
}

/**
 * Runs the setup command, keeps what it leaves if other tasks may use it, and copies the caches from the command's home to the agent's home. If the
 * command fails for a task, an earlier environment is used instead, if there is one. Throws `Evicted`.
 */
export async function runSetup(deps: SetupDeps, setup: RunningSetup): Promise<ExecutionOutcome | undefined> {
  const { rebuild } = setup
  if (rebuild) return runRecorded(deps, setup, rebuild)
  const record = await recordOf(deps, setup)
  try {
    return await runRecorded(deps, setup, { record })
  } catch (fault) {
    await record.failed('interrupted', { reason: 'The setup did not come to its end.', log: '' })
    throw fault
  } finally {
    await record.close()
  }
}

/** The record of a setup that runs for a task. Only a setup of the default branch whose result may be kept is recorded. */
async function recordOf(
  deps: SetupDeps,
  { projectId, environment }: RunningSetup,
): Promise<EnvironmentRecord> {
  const isRecorded =
    environment?.mayBeKept === true &&
    environment.isDefaultBranch &&
    !deps.environments.notKept.has(environment.key.setupAndLocks)
  return isRecorded ? beginRecord(deps, { projectId, trigger: 'task', usable: environment.usable }) : noRecord
}

async function runRecorded(
  deps: SetupDeps,
  setup: RunningSetup,
  { record, usedAt }: OfRebuild,
): Promise<ExecutionOutcome | undefined> {
  const { run, workspace, envs, environment, rebuild } = setup
  const longestMs = Math.min(longestSetupMs, deps.limits.longestMs)
  const log = run.output.keepLast()
  const packing = environment && (await beginPacking(deps, setup, environment))
  try {
    await run.output.note('Setting up the workspace, as the project says.\n')
    const begun = performance.now()
    const ran = await runInSandbox(deps, {
      run,
      workspace,
      command: envs.setupCommand.trim(),
      sandboxEnv: await sandboxEnvOf(setup),
      longestMs,
      beforeHomeGoes: (own) => packing?.packHome(own),
    })
    const seconds = (performance.now() - begun) / 1_000
    const failure = ran.kind === 'ended' ? failureOf(ran.exit, longestMs) : undefined
    if (ran.kind === 'ended' && !failure) {
      await run.output.note(`The workspace was set up in ${seconds.toFixed(1)} s.\n`)
      const isStopped = (await packing?.keep({ seconds, log, record, usedAt })) === 'stopped'
      if (!isStopped) return undefined
    }
    const { signal } = run.stopping
    const earlier =
      environment && failure && !rebuild
        ? await fillFrom(deps, environment, { by: 'setup', over: true, signal })
        : undefined
    const stopped = ran.kind === 'ended' ? outcomeOfStop(run.stopping) : ran
    const outcome = failure ?? stopped
    const reason = outcome?.kind === 'failed' ? outcome.reason : 'The setup was cancelled.'
    const code = failure ? 'setup_failed' : 'interrupted'
    await record.failed(code, { reason, log: await log() }, environment?.usable)
    if (!earlier) return stopped ?? outcome
    await run.output.note(
      `${reason}\nThe environment that was prepared ${ago(Date.now() - earlier.builtAt)} is used instead.\n`,
    )
    return undefined
  } finally {
    await packing?.close()
  }
}

/** The environment of the setup command. Where an agent may have written the files that it runs, it gets no secret that the agent may not have. */
async function sandboxEnvOf({ run, workspace, envs, isOfBase }: RunningSetup): Promise<SandboxEnv> {
  const mayAgentHaveAll = envs.secrets.every(({ forAgent }) => forAgent)
  if (mayAgentHaveAll || isOfBase === true || (await originOf(workspace)) === 'base') return envs.withSecrets
  await run.output.note(
    "The agent may have changed the files here, so the setup gets only the secrets that the agent may use. If it needs another, allow the agent to use that one in the project's settings.\n",
  )
  return envs.forAgent
}

function failureOf({ code, reason }: SandboxExit, longestMs: number): ExecutionOutcome | undefined {
  if (reason === 'time_limit')
    return failed('setup_failed', `The project's setup command was stopped after ${timeInWords(longestMs)}.`)
  if (reason === 'memory_limit')
    return failed('setup_failed', "The project's setup command used more memory than it may.")
  return code === 0
    ? undefined
    : failed(
        'setup_failed',
        `The project's setup command ended with exit code ${code ?? 1}. The terminal has what it said. Mend it, or change it in the project's settings, and try again.`,
      )
}
