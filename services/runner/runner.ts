/** The runner: takes jobs from the queue, and runs agents and commands in their sandboxes. */
import { join } from 'node:path'
import { byAgent } from '#domain/agents/configuration.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { task as decider } from '#domain/task/task.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { orElse } from '#platform/async/orElse.ts'
import { limitConcurrency } from '#platform/async/queue.ts'
import { withinOr } from '#platform/async/timeLimit.ts'
import { codeHostAddresses, knownAddressForCodeHost, noreplyDomainOf } from '#platform/config/addresses.ts'
import type { Config } from '#platform/config/config.ts'
import { checkImage } from '#platform/images/reencode.ts'
import { NotFolded } from '#platform/ports/faults.ts'
import type { Delivery } from '#platform/ports/jobs.ts'
import type { SandboxPorts } from '#platform/ports/listeningPorts.ts'
import { installedAgents, scriptedNotices, type InstalledAgents } from './agents/installed.ts'
import { reportedModels } from './agents/reportedModels.ts'
import { openBudgets } from './model/budget.ts'
import type { RunnerEngines, WorkspaceDeps } from './deps.ts'
import { openEgress } from './egress/egress.ts'
import { changedLocks, fetchedKeys, lastUse } from './environment/changedLocks.ts'
import { openRebuilds, type RebuildPorts, type Rebuilds } from './environment/rebuild.ts'
import { setUpNewWorkspace } from './environment/setUpNewWorkspace.ts'
import { runExecution } from './execution/execution.ts'
import { settingsOf } from './execution/taskSecrets.ts'
import { openRecordingAllowances } from './execution/recording/recordingAllowance.ts'
import { patientBlobs } from './execution/recording/patientBlobs.ts'
import { recordingPatienceMs } from './execution/recording/terminalWriter.ts'
import { terminalWriters } from './execution/recording/terminalWriters.ts'
import { openSnapshots } from './execution/recording/snapshots.ts'
import { restoreIdleTasks } from './execution/restore.ts'
import type { ExecutionDeps } from './execution/runTypes.ts'
import type { OpenedSandbox } from './sandbox/openSandbox.ts'
import { pausable, type PausableSandbox, type Paused } from './sandbox/pausableSandboxes.ts'
import { sandboxPorts } from './sandbox/sandboxPorts.ts'
import { redactionOf } from './redaction/redaction.ts'
import { textThreads } from './redaction/textThreads.ts'
import type { PreparedRunner } from './prepareRunner.ts'
import { openPrewarm } from './prewarm/prewarm.ts'
import { maxWarmAgents, warmAgents, type WarmAgents } from './prewarm/warmAgents.ts'
import { makePullRequest } from './pullRequest/pullRequest.ts'
import { startRunnerPresence } from './queue/runnerPresence.ts'
import { isElsewhere } from './queue/taskAffinity.ts'
import { leaseMs, openRuns, openWorker, type Runs, type Work } from './queue/worker.ts'
import { handleRpcRequests } from './rpc/handleRpcRequests.ts'
import { endOrphanedSandboxes } from './sandbox/bubblewrap/orphans.ts'
import { openShells, type Shells } from './shell/shells.ts'
import { openAbilities } from './workspace/abilities.ts'
import { openDiskWatch } from './workspace/diskWatch.ts'
import { openWorkspaceEviction } from './workspace/eviction.ts'
import { openSurveys } from './workspace/git/repositorySurvey.ts'
import { openCheckoutLimits } from './workspace/git/checkoutLimits.ts'
import type { Git } from './workspace/git/git.ts'
import { openMirrors } from './workspace/git/mirror.ts'
import { openLocks } from './workspace/locks.ts'
import { openCommitSigner } from './workspace/publish/commitIdentity.ts'
import { startDeletedRemoval } from './workspace/deletedRemoval.ts'
import { removeLeftovers } from './workspace/leftovers.ts'
import { removeAfterRestore } from './workspace/restoredLog.ts'
import { openSandboxUsers, type SandboxUsers } from './workspace/sandboxUsers.ts'
import { removeWorkspace, type Workspace } from './workspace/workspace.ts'
import { openWorkspaceLimit } from './workspace/workspaceLimit.ts'
import { openWorkspaces } from './workspace/workspaces.ts'

export interface RunningRunner {
  /**
   * Stops taking jobs, lets running jobs go on for the configured time, then ends them and records their end. Nothing that the runner has started is
   * left.
   */
  stop(): Promise<void>
  /** Sentences about what the runner's sandboxes lack, how their memory is counted, and which toolchains of this machine they show. */
  readonly ofSandboxes: readonly string[]
  /** A sentence that says how workspaces are limited, and to which size. */
  readonly workspaceLimit: string
  readonly sandboxPorts: SandboxPorts
}

/** The result of pausing where there is no sandbox, and so no process to pause. */
const nothingPaused: Paused = { deletedBytes: async () => 0, resume: () => undefined }

/** A workspace that was used within this time is not evicted. */
const leastIdleMs = 15 * 60_000
/** How long a runner that stops waits for the sizes of the workspaces whose runs have just ended. */
const lastCountMs = 1_000

export async function startRunner(
  config: Config,
  given: RunnerEngines,
  prepared: PreparedRunner,
): Promise<RunningRunner> {
  const engines = { ...given, blobs: patientBlobs(given.blobs) }
  const base = await openBase(config, engines, prepared)
  const { deps, opened, agents } = base
  const presence = startRunnerPresence({
    bus: engines.bus,
    runnerId: deps.runnerId,
    isAlone: isAlone(config),
    agents: agents.told,
    notices: [...scriptedNotices(agents), ...(opened.notice === null ? [] : [opened.notice])],
  })
  const removal = startDeletedRemoval({
    ...deps,
    endAgent: deps.endSandboxes,
    rebuilds: base.rebuilds,
    isRunning: base.runs.has,
    isBusy: () => !base.runs.isEmpty(),
    idleMs: leastIdleMs,
  })
  const stopRestoring = restoreIdleTasks(deps)
  const work = openWorker<ExecutionDeps>({
    deps,
    runs: base.runs,
    runnerId: deps.runnerId,
    isAlone: isAlone(config),
    presence,
    forget: (taskId) => forget(base, taskId),
    onDeletedRunEnded: removal.soon,
  })
  const stopWorking = takeJobs(config, engines, work)
  const stopAnswering = handleRpcRequests(
    // Callers wait for seconds only.
    { ...deps, blobs: given.blobs, shells: base.shells },
    {
      rpc: engines.rpc,
      isAlone: isAlone(config),
      rebuilds: base.rebuilds,
      codeHostUrl: codeHostAddresses(config, config.codeHost).serverUrl,
    },
  )
  return {
    ofSandboxes: [...opened.shortcomings, ...opened.about],
    workspaceLimit: deps.limit.says,
    sandboxPorts: base.sandboxPorts,
    async stop() {
      const stopped = stopWorking()
      if (config.drainMs > 0) {
        // Otherwise the next turns of this runner's tasks would wait until all of its running jobs have ended.
        presence.leave()
        await withinOr(config.drainMs, stopped, undefined)
      }
      stopAnswering()
      await base.shells.close()
      base.runs.stopAll('stopping')
      await stopped
      await stopRestoring()
      await Promise.all([deps.prewarm.close(), base.rebuilds.close()])
      await base.closeThreads()
      await withinOr(lastCountMs, deps.disk.counted(), undefined)
      deps.disk.close()
      await removal.stop()
      presence.stop()
    },
  }
}

/** Whether this runner is the only one: without NATS, no other runner can share its queue. */
const isAlone = (config: Config): boolean => config.engines.nats === null

interface Base {
  readonly deps: ExecutionDeps
  readonly runs: Runs
  readonly opened: OpenedSandbox
  readonly agents: InstalledAgents
  readonly rebuilds: Rebuilds
  readonly sandboxPorts: SandboxPorts
  readonly shells: Shells
  closeThreads(): Promise<void>
}

/** Cleans up after an earlier process, and opens everything that runs need. */
async function openBase(
  config: Config,
  engines: RunnerEngines,
  { root, runnerId, git, scratch, opened }: PreparedRunner,
): Promise<Base> {
  const { logger } = engines
  const { path } = config
  for (const sentence of opened.shortcomings) logger.warn(sentence)
  for (const sentence of opened.about) logger.info(sentence)
  // Asking the CLIs for their versions takes a moment. The first run waits for the answers, but the start of the runner does not.
  const agents = installedAgents(
    config,
    reportedModels(join(root, 'models.json'), (fault) =>
      logger.warn({ err: fault }, 'failed to keep the models that an agent reported'),
    ),
  )
  await endOrphanedSandboxes(root)
  await removeAfterRestore({ ...engines, root, path })
  await removeLeftovers(root)
  const isRoot = process.getuid?.() === 0
  // Without a sandbox, tasks have no users of their own: such users could not even reach their trees in the data folder.
  const isIsolated = 'kind' in opened.sandbox && opened.sandbox.kind !== 'none'
  const sandboxUsers = isRoot && isIsolated ? openSandboxUsers(root) : undefined
  const limit = await openWorkspaceLimit({
    root,
    path,
    workspaceBytes: config.disk.workspace,
    users: sandboxUsers,
    onFault: (fault) => logger.warn({ err: fault }, 'failed to set or lift the limit of a workspace'),
  })
  logger.info(limit.says)
  const runs = openRuns()
  const threads = textThreads()
  const limitFor = (kept: number) => maxWarmAgents(config.warmAgents, kept)
  const warm: WarmAgents = warmAgents({ limitFor, watchDisk: (run) => deps.disk.watch(run) })
  const pausing = 'missing' in opened.sandbox ? undefined : pausable(opened.sandbox)
  const sandbox = pausing?.sandbox ?? opened.sandbox
  const commitSigner = await openCommitSigner({ root, path }, config.commitSigner)
  const shared = { runnerId, root, path, isRoot, git, scratch, sandbox, limit, commitSigner }
  const workspaces = workspaceDeps(config, engines, { ...shared, sandboxUsers })
  const deps = {
    ...engines,
    ...shared,
    ...workspaces,
    ...diskDeps(config, engines, {
      ...shared,
      ...workspaces,
      isInUse: (taskId) => runs.has(taskId) || warm.workspaceOf(taskId) !== undefined || shells.has(taskId),
      pause: pausing?.pause ?? (async () => nothingPaused),
    }),
    ...runDeps(config, engines, { threads, scratch }),
    installed: agents,
    abilities: openAbilities({ git, logger }),
    surveyOf: openSurveys({ git, scratch }),
    onlyScripted: opened.onlyScripted,
    environments: environmentLimits(config),
    terminals: terminalWriters(engines),
  }
  const shells: Shells = openShells({ ...deps, sandboxOfAgent: (taskId) => pausing?.ofAgent(taskId) })
  const prewarm = await openPrewarm(deps, {
    agents: warm,
    isOn: config.warmAgents !== 0,
    isAlone: isAlone(config),
    rpc: engines.rpc,
  })
  const endSandboxes = async (taskId: string): Promise<void> => {
    await Promise.all([shells.end(taskId), prewarm.agents.drop(taskId)])
  }
  const runDependencies = { ...deps, prewarm, endSandboxes }
  const rebuilds = await openRebuilds(runDependencies, rebuildPorts(runDependencies))
  return {
    deps: runDependencies,
    runs,
    opened,
    agents,
    rebuilds,
    sandboxPorts: sandboxPorts({ ofTask: (taskId) => pausing?.ofTask(taskId) ?? [] }),
    shells,
    closeThreads: () => threads.close(),
  }
}

function environmentLimits(config: Config) {
  return {
    mostBytes: config.disk.workspace,
    leastFree: config.disk.leastFree,
    notKept: new Set<string>(),
  }
}

type Places = Pick<WorkspaceDeps, 'root' | 'git' | 'sandbox' | 'limit'>

/** The dependencies for mirrors, workspaces and snapshots. */
function workspaceDeps(
  config: Config,
  { blobs, logger }: RunnerEngines,
  { root, git, sandbox, limit, sandboxUsers }: Places & { readonly sandboxUsers: SandboxUsers | undefined },
) {
  const { path } = config
  const treeGitFor = (workspace: Workspace): Git => ('missing' in sandbox ? git : sandbox.gitFor(workspace))
  return {
    isAlone: isAlone(config),
    noreplyDomain: noreplyDomainOf(config),
    originNotes: config.originNotes,
    publicAddress: knownAddressForCodeHost(config),
    mirrors: openMirrors({
      root,
      git,
      onFault: (fault) =>
        logger.warn(
          { err: fault },
          'failed to move a workspace to the mirror of today, or to fetch tags into it',
        ),
    }),
    workspaces: openWorkspaces({
      root,
      path,
      git,
      limit,
      logger,
      checkCheckout: openCheckoutLimits(config.checkout),
      ownerOf: async (taskId) => sandboxUsers?.userOf(taskId),
    }),
    treeGitFor,
    snapshots: openSnapshots({ blobs, git, treeGitFor, path, logger }),
  }
}

/** The dependencies for keeping mirrors and workspaces within their disk space. */
function diskDeps(
  config: Config,
  { documents, commands, logger }: RunnerEngines,
  {
    root,
    git,
    treeGitFor,
    runnerId,
    isInUse,
    pause,
  }: Pick<ExecutionDeps, 'root' | 'git' | 'treeGitFor' | 'runnerId'> &
    Pick<PausableSandbox, 'pause'> & { readonly isInUse: (taskId: string) => boolean },
) {
  const { path, disk: limits } = config
  const warned = (message: string) => (fault: unknown) => logger.warn({ err: fault }, message)
  const locks = openLocks()
  const disk = openDiskWatch({
    root,
    path,
    limits,
    pause,
    onCounted: (taskId, bytes) => eviction.counted(taskId, bytes),
    onFault: warned('failed to measure the disk usage of a run'),
  })
  const eviction = openWorkspaceEviction({
    locks,
    root,
    path,
    git,
    treeGitFor,
    limits,
    // While read models cannot be read, the stricter rule holds, which needs no owners.
    belongingOf: (taskId) => documents.get(tasksView, taskId).catch(orElse(NotFolded, undefined)),
    isInUse,
    // Deletions are read from the log, because every task looks deleted in read models that are being rebuilt.
    isDeleted: async (taskId) => (await commands.load(decider, taskStream(taskId))).state.kind === 'deleted',
    isElsewhere: (taskId) => isElsewhere({ commands, runnerId, isAlone: isAlone(config) }, taskId),
    idleMs: Math.max(leastIdleMs, 2 * config.runs.idleMs),
    runsCounted: disk.counted,
    onFault: warned('failed to free disk space for workspaces'),
    onFull: (bytes) => logger.warn({ bytes }, 'the disk budget is used up by unpushed work'),
  })
  return { locks, disk, eviction }
}

/** How many images are decoded at once: a decoded image may take hundreds of megabytes. */
const imagesAtOnce = 2

/** The dependencies that record a run, keep secrets out of the record, and limit what the run may use. */
function runDeps(
  config: Config,
  { commands, clock, logger }: RunnerEngines,
  { threads, scratch }: Pick<ExecutionDeps, 'scratch'> & { readonly threads: ReturnType<typeof textThreads> },
) {
  const decode = limitConcurrency(imagesAtOnce)
  const counted = (message: string) => ({
    now: () => clock.now().getTime(),
    commands,
    patienceMs: recordingPatienceMs,
    onFault: (fault: unknown) => logger.warn({ err: fault }, message),
  })
  return {
    allowances: openRecordingAllowances({
      ...config.recording,
      ...counted('failed to read or record a day output limit'),
    }),
    redaction: (secrets: readonly string[]) => redactionOf(secrets, threads),
    textThreads: threads,
    checkImage: (bytes: Buffer) => decode(() => checkImage(bytes)),
    // With prewarming off, an agent ends with its turn.
    limits: config.warmAgents === 0 ? { ...config.runs, idleMs: 0 } : config.runs,
    budgets: openBudgets({ ...config.budgets, ...counted('failed to read or record a day budget') }),
    egress: openEgress({
      agentHosts: byAgent((name) => config.agents[name].hosts),
      mayReachPrivate: config.privateEgress,
      privateHosts: config.privateHosts,
      node: process.execPath,
      scratch,
      logger,
    }),
  }
}

function rebuildPorts(deps: ExecutionDeps): RebuildPorts {
  return {
    hasSetup: async (projectId) => (await settingsOf(deps, projectId)).settings.setupCommand.trim() !== '',
    isUsed: async (projectId) => (await lastUse(deps.root, projectId)) !== undefined,
    usableKeys: (request) => fetchedKeys(deps, request),
    changedLocks: (request, signal) => changedLocks(deps, request, signal),
    setUp: (rebuild) => setUpNewWorkspace(deps, rebuild),
  }
}

/** Removes the workspace, the agent and the shell that this runner has of a task, because another runner has run the task since. */
function forget({ deps: { locks, root, path, endSandboxes } }: Base, taskId: string): Promise<void> {
  return locks.hold(taskId, async () => {
    await endSandboxes(taskId)
    await removeWorkspace(root, taskId, path)
  })
}

/** Takes jobs of both kinds, executions and pull requests. The returned function stops taking jobs, and resolves when running jobs have ended. */
function takeJobs(config: Config, { jobs }: RunnerEngines, work: Work<ExecutionDeps>): () => Promise<void> {
  const options = { concurrency: config.runs.atOnce, leaseMs }
  const executions = jobs.work('execution', options, (delivery) =>
    work(delivery, (deps, control) => {
      const taskId = delivery.job.payload['taskId'] ?? ''
      // The lock may be held by a preparation of the task's workspace.
      const { signal } = control.stop
      const stopPreparing = () => deps.prewarm.stopPreparing(taskId)
      if (signal.aborted) stopPreparing()
      else signal.addEventListener('abort', stopPreparing, { once: true })
      return deps.locks.hold(taskId, () => runExecution(deps, payloadOf(delivery, 'executionId'), control))
    }),
  )
  const pullRequests = jobs.work('pull_request', options, (delivery) =>
    work(delivery, (deps, { stop }) => makePullRequest(deps, payloadOf(delivery, 'requestId'), stop)),
  )
  return async () => {
    await Promise.all([executions.stop(), pullRequests.stop()])
  }
}

function payloadOf<Name extends string>(
  { job }: Delivery,
  name: Name,
): { taskId: string } & Record<Name, string> {
  const taskId = job.payload['taskId']
  const value = job.payload[name]
  if (taskId === undefined || value === undefined)
    throw new Error(`The job ${job.id} does not say what to do.`)
  return { taskId, [name]: value } as { taskId: string } & Record<Name, string>
}
