/** The runner: takes jobs, and runs agents and commands in their boxes. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { taskStream } from '#domain/kernel/ids.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import { commandsFrom, logFrom } from '#platform/commands/causation.ts'
import type { Config } from '#platform/config/config.ts'
import type { Origin } from '#platform/eventlog/eventLog.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { Delivery } from '#platform/ports/jobs.ts'
import { now } from '#platform/telemetry/telemetry.ts'
import { installedAgents } from './agents/installed.ts'
import { openEgress } from './egress/egress.ts'
import type { WorkspaceDeps, RunnerEngines, RunnerDeps } from './deps.ts'
import { startClearing } from './workspace/removeDeleted.ts'
import { affinityOf, runnerIdIn } from './queue/taskAffinity.ts'
import { startRunnerPresence, type RunnerPresence } from './queue/runnerPresence.ts'
import { openBudgets } from './broker/budget.ts'
import { redactionOf } from './output/redaction.ts'
import { textThreads } from './output/textThreads.ts'
import { openAllowances } from './execution/recording/recordingAllowance.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { openDiskWatch } from './workspace/diskWatch.ts'
import { openPrewarm } from './prewarm/prewarm.ts'
import { answerHosts } from './rpc/hostSuggestions.ts'
import { answerChanges } from './rpc/changesAgainstBase.ts'
import { answerLines } from './rpc/fileLines.ts'
import { runExecution } from './execution/execution.ts'
import { makePullRequest } from './execution/pullRequest.ts'
import { steering } from './execution/steering.ts'
import { stopping, type Control, type Stopping } from './execution/stopping.ts'
import { recordingPatienceMs } from './execution/recording/terminalWriter.ts'
import { warmAgents } from './prewarm/warmAgents.ts'
import { detectContainers } from './sandbox/containerDetect.ts'
import { detectBubblewrap } from './sandbox/detect.ts'
import { endLeftBoxes } from './sandbox/leftBoxes.ts'
import { noSandbox } from './sandbox/none.ts'
import type { Sandbox } from './sandbox/port.ts'
import { notAllowed, type Shortcoming } from './sandbox/shortcomings.ts'
import { openScratch } from './scratch.ts'
import { openBoxUsers } from './workspace/sandboxUsers.ts'
import { openCheckoutLimits } from './workspace/git/checkoutLimits.ts'
import { hostGit } from './workspace/git/git.ts'
import { removeLeftovers } from './workspace/leftovers.ts'
import { openLocks } from './workspace/locks.ts'
import { openMirrors } from './workspace/git/mirror.ts'
import { openWorkspaceEviction } from './workspace/eviction.ts'
import { removeWorkspace } from './workspace/workspace.ts'

export interface RunningRunner {
  /** Takes no more jobs, ends what runs and records it. Nothing it started is left. */
  stop(): Promise<void>
  /** What its boxes lack, and how their memory is counted, in sentences. */
  readonly ofBoxes: readonly string[]
}

/** A workspace that was used within this time stays. */
const leastIdleMs = 15 * 60_000
/** Agents that may wait for a next message, each with some 200 MB. */
const warmAtMost = 8
/** A runner that died is followed by another within this time. */
const leaseMs = 4_000
const renewMs = 1_000
/** How soon a job is given out again that is for another runner. */
const passOnMs = 50
/** When a job that seems to run elsewhere is looked at again. */
const askAgainMs = 1_000
/** A job that fails so often is set aside. */
const mostAttempts = 20
/** How often a run looks for itself whether it is to stop, where the bus was silent. */
const lookMs = 1_000

const scriptedNotice =
  'No model key is set, so a built-in scripted model stands in for Claude and makes one small change. Set ANTHROPIC_API_KEY on the server to use a real model. Commands work without a key.'
const unboxedNotice =
  'Agents run without a sandbox on this server. They can read and change everything the server can.'

export async function startRunner(config: Config, engines: RunnerEngines): Promise<RunningRunner> {
  const root = join(config.dataDir, 'runner')
  mkdirSync(root, { recursive: true, mode: 0o711 })
  const git = hostGit({ program: 'git', path: config.path })
  const runnerId = runnerIdIn(root)
  const scratch = await openScratch(runnerId)
  const { sandbox, notice, shortcomings, memory, close } = await openSandbox(config, {
    root,
    git,
    runnerId,
    scratch,
  })
  for (const lacks of shortcomings) engines.logger.warn(lacks)
  for (const counted of memory) engines.logger.info(counted)
  // Asking a CLI for its version takes a moment: the first run waits for it, the start does not.
  const agents = installedAgents(config)
  await endLeftBoxes(root)
  await removeLeftovers(root)
  const runs: Holding['runs'] = new Map()
  const threads = textThreads()
  const warm = warmAgents({ most: warmAtMost })
  const locks = openLocks()
  const preparing: WorkspaceDeps = {
    ...engines,
    runnerId,
    isAlone: config.engines.nats === null,
    root,
    path: config.path,
    isRoot: process.getuid?.() === 0,
    git,
    mirrors: openMirrors({ root, git }),
    checkCheckout: openCheckoutLimits(config.checkout),
    sandbox,
    model: config.model,
    located: agents.located,
    agentKeys: agents.keys,
    limits: config.runs,
    budgets: openBudgets({
      ...config.budgets,
      now: () => engines.clock.now().getTime(),
      commands: engines.commands,
      patienceMs: recordingPatienceMs,
      onFault: (fault) => engines.logger.warn({ err: fault }, 'failed to read or record a day budget'),
    }),
    allowances: openAllowances({
      ...config.recording,
      now: () => engines.clock.now().getTime(),
      commands: engines.commands,
      patienceMs: recordingPatienceMs,
      onFault: (fault) => engines.logger.warn({ err: fault }, 'failed to read or record a day output limit'),
    }),
    egress: openEgress({
      agentHosts: { cursor: config.cursor.hosts },
      mayReachPrivate: config.privateEgress,
      node: process.execPath,
    }),
    scratch,
    redaction: (secrets) => redactionOf(secrets, threads),
    textThreads: threads,
    locks,
    boxUsers: openBoxUsers(root),
    eviction: openWorkspaceEviction({
      locks,
      root,
      mirrorsRoot: root,
      path: config.path,
      git,
      treeGitFor: (workspace) => ('missing' in sandbox ? git : sandbox.gitFor(workspace)),
      limits: config.disk,
      projectOf: async (taskId) => (await engines.documents.get(tasksView, taskId))?.projectId,
      isInUse: (taskId) => [...runs.values()].includes(taskId) || warm.workspaceOf(taskId) !== undefined,
      // By the log: while read models are made anew, every task looks deleted in them.
      isDeleted: async (taskId) =>
        (await engines.commands.load(decider, taskStream(taskId))).state.kind === 'deleted',
      idleMs: Math.max(leastIdleMs, 2 * config.runs.idleMs),
      onFault: (fault) => engines.logger.warn({ err: fault }, 'failed to free disk space for workspaces'),
      onFull: (bytes) => engines.logger.warn({ bytes }, 'the disk budget is used up by unpushed work'),
    }),
    disk: openDiskWatch({
      root,
      path: config.path,
      limits: config.disk,
      onFault: (fault) => engines.logger.warn({ err: fault }, 'failed to measure the disk usage of a run'),
    }),
    warm,
  }
  const deps: RunnerDeps = { ...preparing, prewarm: await openPrewarm(preparing, engines.rpc) }
  const presence = startRunnerPresence({
    bus: engines.bus,
    runnerId: deps.runnerId,
    isAlone: deps.isAlone,
    agents: agents.told,
    notices: [
      ...(config.model.kind === 'scripted' ? [scriptedNotice] : []),
      ...(notice === null ? [] : [notice]),
    ],
  })
  const held: Holding = { deps, presence, runs, hasStopped: () => clearing.soon() }
  const executions = engines.jobs.work(
    'execution',
    { concurrency: config.runs.atOnce, leaseMs },
    (delivery) =>
      underLease(held, delivery, (deps, control) =>
        deps.locks.hold(delivery.job.payload['taskId'] ?? '', () =>
          runExecution(deps, payloadOf(delivery, 'executionId'), control),
        ),
      ),
  )
  const pullRequests = engines.jobs.work(
    'pull_request',
    { concurrency: config.runs.atOnce, leaseMs },
    (delivery) =>
      underLease(held, delivery, (deps, { stop }) =>
        makePullRequest(deps, payloadOf(delivery, 'requestId'), stop),
      ),
  )
  const stopAnswering = answerChanges(deps, engines.rpc)
  const stopReading = answerLines(deps, engines.rpc)
  const stopSuggesting = answerHosts(deps, engines.rpc, config.environment['HOME'])
  const clearing = startClearing(deps, {
    isRunning: (taskId) => [...runs.values()].includes(taskId),
    isBusy: () => runs.size > 0,
    idleMs: leastIdleMs,
  })
  return {
    ofBoxes: [...shortcomings, ...memory],
    async stop() {
      stopAnswering()
      stopReading()
      stopSuggesting()
      const stopped = Promise.all([executions.stop(), pullRequests.stop()])
      for (const run of held.runs.keys()) run.stop('stopping')
      await stopped
      await deps.prewarm.close()
      await deps.warm.close()
      await threads.close()
      await close()
      await clearing.stop()
      presence.stop()
    },
  }
}

interface OpenedSandbox {
  readonly sandbox: RunnerDeps['sandbox']
  readonly notice: string | null
  /** What its boxes lack of what boxes promise, in sentences. */
  readonly shortcomings: readonly string[]
  /** How the memory of boxes is counted, where there are boxes: a sentence. */
  readonly memory: readonly string[]
  /** Ends what it has beside what runs in its boxes. */
  close(): Promise<void>
}

/**
 * The box; without one the scripted model may run, whose commands we wrote, and a real one may not, nor in one that lacks what was not
 * allowed to it. An engine that was asked for by name and makes no boxes is a fault, told in a sentence.
 */
async function openSandbox(
  config: Config,
  { root, git, runnerId, scratch }: Pick<WorkspaceDeps, 'root' | 'git' | 'runnerId' | 'scratch'>,
): Promise<OpenedSandbox> {
  const { path, containers } = config
  const unboxed = noSandbox({ path, git })
  const close = async () => undefined
  switch (config.sandbox) {
    case 'none':
      return { sandbox: unboxed, notice: unboxedNotice, shortcomings: [], memory: [], close }
    case 'container': {
      const boxes = {
        ...containers,
        root,
        runnerId,
        scratch,
        path,
        gitProgram: 'git',
        node: process.execPath,
      }
      const detected = await detectContainers(boxes)
      if (detected.kind === 'fails') throw new Error(`SANDBOX=container: ${detected.why}`)
      return {
        ...asAllowed(config, detected),
        memory: [detected.memory],
        close: () => detected.sandbox.close(),
      }
    }
    case 'bubblewrap': {
      const detected = await detectBubblewrap({ path, root, gitProgram: 'git' })
      if (detected.kind === 'works')
        return { ...asAllowed(config, detected), memory: [detected.memory], close }
      const why = `There is no box for agents here. ${detected.why}`
      if (!hasRealModel(config))
        return {
          sandbox: unboxed,
          notice: `${why} Until then only the scripted model runs, without one.`,
          shortcomings: [],
          memory: [],
          close,
        }
      const missing = `${why} SANDBOX=none runs agents without one, at your own risk.`
      return { sandbox: { missing }, notice: why, shortcomings: [], memory: [], close }
    }
  }
}

/** A box that works, unless it is weaker than a real model may have it. */
function asAllowed(
  config: Config,
  { sandbox, shortcomings }: { readonly sandbox: Sandbox; readonly shortcomings: readonly Shortcoming[] },
): Omit<OpenedSandbox, 'memory' | 'close'> {
  const says = shortcomings.map((shortcoming) => shortcoming.says)
  const wanting = notAllowed(shortcomings, config.weakerBox)
  if (wanting.length === 0) return { sandbox, notice: null, shortcomings: says }
  const lacking = shortcomings.filter(({ name }) => name !== null && wanting.includes(name))
  const why = `The box for agents is weaker here than it should be. ${lacking.map((each) => each.says).join(' ')}`
  if (!hasRealModel(config))
    return { sandbox, notice: `${why} Until then only the scripted model runs.`, shortcomings: says }
  const missing = `${why} ALLOW_WEAKER_BOX=${[...config.weakerBox, ...wanting].join(',')} runs agents in it, at your own risk.`
  return { sandbox: { missing }, notice: why, shortcomings: says }
}

/** Whether an agent may be told what to do by something else than our own script. */
function hasRealModel({ model, cursor }: Config): boolean {
  return model.kind !== 'scripted' || cursor.apiKey !== undefined
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

interface Holding {
  readonly deps: RunnerDeps
  readonly presence: RunnerPresence
  /** All that runs here, each with its task. */
  readonly runs: Map<Stopping, string>
  /** Told when a run of a task that was deleted has ended. */
  readonly hasStopped: () => void
}

/**
 * Keeps the lease while the work runs. A job that was given out before is begun only where nobody runs it any more: an execution goes on when
 * its lease is lost, since the queue may have been away for all.
 */
async function underLease(
  { deps: own, presence, runs, hasStopped }: Holding,
  delivery: Delivery,
  work: (deps: RunnerDeps, control: Control) => Promise<void>,
): Promise<void> {
  const deps = depsFor(own, delivery)
  const { id } = delivery.job
  if (delivery.attempt > 1 && presence.whereabouts(id) !== 'nowhere') return delivery.nak(askAgainMs)
  const { taskId = '', executionId } = delivery.job.payload
  const { state } = await deps.commands.load(decider, taskStream(taskId))
  // What a lost runner began is only to be ended, which any can do.
  const affinity =
    state.kind !== 'task' || isBegun(state, executionId) ? 'here' : affinityOf(state, deps, presence)
  if (affinity === 'elsewhere') return delivery.nak(Math.min(passOnMs * delivery.attempt, askAgainMs))
  if (affinity === 'gone' && [...runs.values()].includes(taskId)) return delivery.nak(askAgainMs)
  const stop = stopping()
  runs.set(stop, taskId)
  presence.running.add(id)
  const renewal = setInterval(() => {
    delivery.working().catch(() => {
      clearInterval(renewal)
      // What an execution reports is fenced by the log; what a pull request does at the code host is not.
      if (delivery.job.kind === 'pull_request') stop.stop('evicted')
    })
  }, renewMs)
  const control = { stop, steering: steering() }
  const unwatch = watchTask(deps, delivery, control)
  try {
    // What is here from before is older than what the other runner did. It may be large: the lease is kept meanwhile.
    if (affinity === 'gone') {
      await deps.locks.hold(taskId, async () => {
        await deps.warm.drop(taskId)
        await removeWorkspace(deps.root, taskId, deps.path)
      })
    }
    await watched(deps, delivery, () => work(deps, control))
    await delivery.ack()
  } catch (fault) {
    // What throws is given back and comes again; an engine that is away is waited for however long.
    if (fault instanceof EngineUnavailable || delivery.attempt < mostAttempts) throw fault
    deps.logger.error({ err: fault, job: delivery.job }, 'job set aside')
    await delivery.reject(fault)
  } finally {
    clearInterval(renewal)
    unwatch()
    runs.delete(stop)
    presence.running.delete(id)
    if (stop.reason() === 'deleted') hasStopped()
  }
}

/** What is done for a job goes back to the request that it came of, and tells so in every line. */
function depsFor(deps: RunnerDeps, { job }: Delivery): RunnerDeps {
  const origin = originOf(job)
  const { taskId } = job.payload
  return {
    ...deps,
    commands: commandsFrom(deps.commands, origin),
    log: logFrom(deps.log, origin),
    logger: deps.logger.child({ requestId: origin.correlationId, jobId: job.id, taskId }),
  }
}

/** A job that an older version queued does not tell where it comes from. */
function originOf({ payload }: Delivery['job']): Origin {
  const { correlationId, causationId } = payload
  return correlationId === undefined ? {} : { correlationId, causationId: causationId ?? null }
}

async function watched(
  { emit, logger }: RunnerDeps,
  { job }: Delivery,
  work: () => Promise<void>,
): Promise<void> {
  const begun = now()
  emit({ kind: 'run_begun', job: job.kind })
  logger.info({ job: job.kind }, 'run started')
  let ok = false
  try {
    await work()
    ok = true
  } finally {
    const ended = now()
    emit({ kind: 'run_ended', job: job.kind, origin: originOf(job), ok, begun, ended })
    logger.info({ job: job.kind, ok, ms: Math.round(ended - begun) }, 'run ended')
  }
}

function isBegun({ phase }: LiveTask, executionId: string | undefined): boolean {
  return 'execution' in phase && phase.execution.executionId === executionId && phase.execution.attempt > 0
}

const looksAt = new Set(['CancellationRequested', 'TaskDeleted', 'SteeringRequested'])

/** Tells the run what a person wants of it, and stops it when a person cancels it, deletes the task, or another runner has ended it. */
function watchTask(
  { commands, bus, logger }: RunnerDeps,
  { job }: Delivery,
  { stop, steering }: Control,
): () => void {
  const { taskId = '', executionId } = job.payload
  const stream = taskStream(taskId)
  const look = async () => {
    try {
      const { state } = await commands.load(decider, stream)
      if (state.kind !== 'task') return stop.stop('deleted')
      if (executionId === undefined) return
      const execution = 'execution' in state.phase ? state.phase.execution : undefined
      if (execution?.executionId !== executionId) return stop.stop('evicted')
      if (execution.cancelRequested) stop.stop('cancelled')
      steering.offer(state.steering)
    } catch (fault) {
      // The next look may succeed; what is reported meanwhile is fenced.
      logger.warn({ err: fault }, 'failed to read the task')
    }
  }
  const unsubscribe = bus.subscribe('appended', (event) => {
    if (event.stream === stream && looksAt.has(event.type)) look()
  })
  const timer = setInterval(() => void look(), lookMs)
  return () => {
    unsubscribe()
    clearInterval(timer)
  }
}
