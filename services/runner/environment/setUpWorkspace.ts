/** Sets a workspace up: uses a kept environment, or runs the project's setup command and keeps what it leaves for later tasks. */
import { randomUUID } from 'node:crypto'
import type { ExecutionOutcome } from '#domain/task/commands.ts'
import { projectStream } from '#domain/kernel/streams.ts'
import {
  ProjectEnvironmentFailed,
  ProjectEnvironmentPrepared,
  ProjectEnvironmentStarted,
  type ProjectEnvironmentEvent,
} from '#domain/project/environmentEvents.ts'
import { projectDecider } from '#domain/project/project.ts'
import type { AgentDeps, RecordingDeps, WorkspaceDeps } from '../deps.ts'
import { failed } from '../execution/failure.ts'
import { valuesOf } from '../execution/projectSecrets.ts'
import { timeInWords } from '../execution/runLimits.ts'
import { runInSandbox, type CommandDeps, type CommandRun } from '../execution/sandboxCommand.ts'
import type { SandboxEnvs } from '../execution/sandboxEnv.ts'
import type { SandboxExit } from '../sandbox/port.ts'
import { removeFolder } from '../workspace/agentFiles.ts'
import { treeDifferences, withScratchIndex } from '../workspace/changes/indexDifferences.ts'
import { floorsOf } from '../workspace/diskDecision.ts'
import { freeBytes, inGigabytes } from '../workspace/diskWatch.ts'
import { gitOrThrow } from '../workspace/git/git.ts'
import { namedOf } from '../workspace/names.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { packHome, packTree, unpack, type Packing } from './archive.ts'
import { NotKept, searchFor } from './archiveFilter.ts'
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
import { archivesIn, beginLayer, findLayer, keepLayer } from './layers.ts'

export type SetupDeps = EnvironmentDeps &
  CommandDeps &
  Pick<WorkspaceDeps, 'treeGitFor'> &
  Pick<AgentDeps, 'commands'> &
  Pick<RecordingDeps, 'redaction'>

export interface Setup {
  readonly run: CommandRun
  readonly projectId: string
  readonly workspace: Workspace
  readonly envs: SandboxEnvs
}

/** What the setup of a workspace comes to: `undefined` when it is set up, and otherwise the outcome of the execution. */
export type SetUp = ExecutionOutcome | undefined

/**
 * Sets the workspace up, unless that was done already. When what an earlier setup left is used, this resolves before that is unpacked, since an agent
 * can start meanwhile. After a failure, the next execution runs the setup again. `ready` and this may reject with `Evicted`.
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
    if (before.untold === undefined) return isReady
    await tellUsed(run, before.untold)
    await markSetUp(workspace, { command })
    return isReady
  }
  const environment = await environmentOf(deps, setup)
  // What an earlier attempt left must not be mixed with something else.
  const fills = environment && before === undefined ? environment : undefined
  const layer = fills && (await findLayer(deps.root, fills.projectId, fills.usable, 'whole'))
  const ready = fillOrRun(deps, { ...setup, environment, trigger: 'task' }, layer && fills)
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
  const layer = fills && (await fillFrom(deps, fills, { by: 'whole', over: false }))
  if (layer) await tellUsed(run, layer.builtAt)
  else {
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
  readonly trigger: 'task' | 'rebuild'
}

/**
 * Runs the setup command, and keeps what it leaves if other tasks may use it. Also copies the caches from the command's home to the agent's home.
 * Throws `Evicted`.
 */
export async function runSetup(deps: SetupDeps, setup: RunningSetup): Promise<ExecutionOutcome | undefined> {
  const { run, workspace, envs, environment, projectId, trigger } = setup
  const longestMs = Math.min(longestSetupMs, deps.limits.longestMs)
  const log = run.output.keepLast()
  const isTold = environment !== undefined && deps.environments.notKept.has(environment.key.whole)
  const isRecorded = environment?.mayBeKept === true && environment.isDefaultBranch && !isTold
  const tell = async (event: ProjectEnvironmentEvent) => {
    if (isRecorded) await recordEnvironment(deps, projectId, event)
  }
  // A person who asked for a rebuild was already told that it began.
  if (trigger === 'task') await tell(ProjectEnvironmentStarted.of({ trigger }))
  const failing = async (code: 'setup_failed' | 'interrupted', reason: string, usesEarlier: boolean) =>
    tell(ProjectEnvironmentFailed.of({ code, usesEarlier }, { reason, log: await log() }))
  const packing = environment && (await beginPacking(deps, setup, environment))
  try {
    await run.output.note('Setting up the workspace, as the project says.\n')
    const begun = performance.now()
    const command = envs.setupCommand.trim()
    const sandboxEnv = envs.withSecrets
    const ran = await runInSandbox(deps, {
      run,
      workspace,
      command,
      sandboxEnv,
      longestMs,
      beforeHomeGoes: (own) => packing?.packHome(own),
    })
    const seconds = (performance.now() - begun) / 1_000
    const outcome = ran.kind === 'ended' ? failureOf(ran.exit, longestMs) : ran
    if (!outcome) {
      await run.output.note(`The workspace was set up in ${seconds.toFixed(1)} s.\n`)
      await packing?.keep({ seconds, log, tell })
      return undefined
    }
    const reason = outcome.kind === 'failed' ? outcome.reason : 'The setup was cancelled.'
    const isOwnFault = ran.kind === 'ended'
    const earlier =
      environment && isOwnFault && trigger === 'task'
        ? await fillFrom(deps, environment, { by: 'setup', over: true })
        : undefined
    const usesEarlier = environment
      ? (await findLayer(deps.root, projectId, environment.usable, 'setup')) !== undefined
      : false
    await failing(isOwnFault ? 'setup_failed' : 'interrupted', reason, usesEarlier)
    if (!earlier) return outcome
    await run.output.note(
      `${reason}\nThe environment that was prepared ${ago(Date.now() - earlier.builtAt)} is used instead.\n`,
    )
    return undefined
  } catch (fault) {
    // The fault of a rebuild is recorded by whoever began it.
    if (trigger === 'task') await failing('interrupted', 'The setup did not come to its end.', false)
    throw fault
  } finally {
    await packing?.close()
  }
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

const mostLeftOut = 20

/** Prepares to keep what a setup leaves. `close` removes the files that did not become a layer. */
async function beginPacking(deps: SetupDeps, { run, envs }: Setup, environment: Environment) {
  const { root, path, logger, environments } = deps
  const { projectId, workspace, sandbox, key, mayBeKept, isDefaultBranch } = environment
  const half = await beginLayer(root, projectId)
  const archives = archivesIn(half)
  const leftOut: string[] = []
  const common: Omit<Packing, 'to' | 'workspace'> = {
    sandbox,
    search: searchFor(valuesOf(envs.secrets)),
    signal: run.stopping.signal,
    leftOut: (name) => void leftOut.push(name),
    mayWrite(bytes) {
      if (bytes > environments.mostBytes)
        throw new NotKept(`What the setup left takes up more than ${inGigabytes(environments.mostBytes)}.`)
      if (freeBytes(root) < floorsOf(environments.leastFree).begin)
        throw new NotKept("The server's disk is nearly full.")
    },
  }
  let home: number | NotKept | undefined
  const orReason = (fault: unknown): NotKept => {
    if (fault instanceof NotKept) return fault
    logger.error({ err: fault, projectId }, 'failed to keep what a setup left')
    return new NotKept('This server failed to keep what the setup left; its log says why.')
  }

  async function keepAll(): Promise<number> {
    if (home === undefined || home instanceof NotKept) throw home ?? new NotKept('Its home is gone.')
    await refuseOtherChanges(deps, workspace)
    const tree = await packTree(
      { ...common, workspace, to: archives.tree },
      await ignoredPaths(deps, workspace),
    )
    const bytes = tree + home
    await keepLayer(deps, half, { projectId, key, builtAt: Date.now(), bytes })
    return bytes
  }

  return {
    async packHome(ofCommand: Workspace): Promise<void> {
      home = await packHome({ ...common, workspace: ofCommand, to: archives.home }).catch(orReason)
    },
    async keep({
      seconds,
      log,
      tell,
    }: {
      readonly seconds: number
      readonly log: () => Promise<string>
      readonly tell: (event: ProjectEnvironmentEvent) => Promise<void>
    }): Promise<void> {
      if (typeof home === 'number')
        await unpack(sandbox, workspace, { tree: undefined, home: archives.home }, { over: false }).catch(
          orReason,
        )
      if (!mayBeKept || environments.notKept.has(key.whole)) return
      const bytes = await keepAll().catch(orReason)
      if (bytes instanceof NotKept) {
        environments.notKept.add(key.whole)
        // The message names files, and the name of a file may contain a secret.
        const reason = await deps.redaction(valuesOf(envs.secrets)).text(bytes.message)
        await run.output.note(`Its result is not kept for other tasks. ${reason}\n`)
        await tell(
          ProjectEnvironmentFailed.of({ code: 'not_kept', usesEarlier: false }, { reason, log: await log() }),
        )
        return
      }
      const named = leftOut.length === 0 ? '' : ` ${secretsIn(leftOut)}`
      await run.output.note(
        `Its result is kept for other tasks${isDefaultBranch ? '' : ' of this branch'}.${named}\n`,
      )
      const short = leftOut.slice(0, mostLeftOut).map((name) => name.slice(0, 300))
      await tell(ProjectEnvironmentPrepared.of({ seconds, bytes }, { log: await log(), leftOut: short }))
    },
    close: () => removeFolder(half, path),
  }
}

const secretsIn = (names: readonly string[]): string =>
  `Files with a secret of the project are left out: ${namedOf(names, 5)}.`

/** Throws `NotKept` when the setup changed anything that git does not ignore: a task that uses the kept environment would not get this change. */
async function refuseOtherChanges({ treeGitFor }: SetupDeps, workspace: Workspace): Promise<void> {
  const { tracked, untracked, nested } = await withScratchIndex(workspace, (index) =>
    treeDifferences(treeGitFor(workspace), workspace, index, 10),
  )
  const changed = [...tracked, ...untracked, ...nested].map((name) => name.toString('utf8'))
  if (changed.length > 0)
    throw new NotKept(
      `The setup changes files that git does not ignore (${namedOf(changed, 3)}), so it has to run for each task. Add them to .gitignore, or use a command that leaves them as they are.`,
    )
}

/** The paths in the tree that git ignores, each ended by NUL; a folder of which everything is ignored is one path. */
async function ignoredPaths({ treeGitFor }: SetupDeps, workspace: Workspace): Promise<Buffer> {
  const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory']
  const { privateGitDir: gitDir, dir: workTree } = workspace
  const { stdout } = await gitOrThrow(treeGitFor(workspace), { gitDir, workTree, args })
  let folder: string | undefined
  const paths = stdout
    .toString('latin1')
    .split('\0')
    .filter((path) => {
      // If a folder ignores itself by its own .gitignore, git names the folder and also each file in it.
      if (path === '' || (folder !== undefined && path.startsWith(folder))) return false
      folder = path.endsWith('/') ? path : folder
      return true
    })
  return Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1')
}

const actor = { kind: 'system', service: 'runner' } as const

/** Records a fact about a project's environment, and returns its position in the log. A fault is only logged: no run fails because of it. */
export async function recordEnvironment(
  { commands, logger }: Pick<SetupDeps, 'commands' | 'logger'>,
  projectId: string,
  event: ProjectEnvironmentEvent,
): Promise<string | null> {
  try {
    const cause = { actor, commandId: randomUUID() }
    const command = { type: 'RecordEnvironment', event } as const
    return (await commands.execute(projectDecider, projectStream(projectId), command, cause)).position
  } catch (fault) {
    logger.warn({ err: fault, projectId }, 'failed to record what became of an environment')
    return null
  }
}
