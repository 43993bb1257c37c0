/** Runs jobs. Each is begun by one runner at a time, under a lease that is renewed while the work runs. */
import { LRUCache } from 'lru-cache'
import { taskStream } from '#domain/kernel/streams.ts'
import { undelivered } from '#domain/task/questionState.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import { chatView } from '#domain/views/chat.ts'
import { projectsView } from '#domain/views/projects.ts'
import { questionsView } from '#domain/views/questions.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { usersView } from '#domain/views/users.ts'
import { atMost } from '#platform/atMost.ts'
import {
  isOfLaterVersion,
  UnreadableEvent,
  unreadableSentences,
  type Origin,
} from '#platform/eventlog/eventLog.ts'
import { commandsFrom, logFrom } from '#platform/commands/causation.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { Delivery } from '#platform/ports/jobs.ts'
import { now, type Emit } from '#platform/telemetry/telemetry.ts'
import type { RunnerEngines } from '../deps.ts'
import { deliveryQueue, stopping, type Control, type Stopping } from '../execution/control.ts'
import type { RunnerPresence } from './runnerPresence.ts'
import { affinityOf } from './taskAffinity.ts'

/** If a lease is not renewed for this long, its job is delivered again, also to other runners. */
export const leaseMs = 4_000
const renewMs = 1_000
/** How soon a job that is for another runner is delivered again: this time for each delivery so far, up to `retryMs`. */
const passOnMs = 50
/** How soon a job that seems to be running elsewhere is delivered again. */
const retryMs = 1_000
/** A job is rejected once it has failed this many times on one runner. */
const maxFailures = 20

/** The runs on this runner. */
export interface Runs {
  has(taskId: string): boolean
  isEmpty(): boolean
  /** Stops all runs, also those that are added later. */
  stopAll(reason: 'stopping'): void
  /** Adds a run, until the returned function is called. */
  add(taskId: string, stop: Stopping): () => void
}

export function openRuns(): Runs {
  const running = new Map<Stopping, string>()
  let stopped: 'stopping' | undefined
  return {
    has: (taskId) => [...running.values()].includes(taskId),
    isEmpty: () => running.size === 0,
    stopAll(reason) {
      stopped = reason
      for (const run of running.keys()) run.stop(reason)
    },
    add(taskId, stop) {
      running.set(stop, taskId)
      if (stopped) stop.stop(stopped)
      return () => void running.delete(stop)
    },
  }
}

type QueueDeps = Pick<RunnerEngines, 'commands' | 'documents' | 'log' | 'bus' | 'logger' | 'emit'>

export interface WorkerOptions<Deps extends QueueDeps> {
  readonly deps: Deps
  readonly runs: Runs
  readonly runnerId: string
  /** Whether no other runner shares the queue. */
  readonly isAlone: boolean
  readonly presence: RunnerPresence
  /** Removes the workspace and the agent that this runner has of a task, if another runner has run the task since. */
  readonly forget: (taskId: string) => Promise<void>
  /** Called when the run of a deleted task ends. */
  readonly onDeletedRunEnded: () => void
}

/** Does the work of one delivery, and acknowledges, gives back or rejects the job. */
export type Work<Deps> = (
  delivery: Delivery,
  /** `deps` add the job's origin to everything that is recorded. */
  run: (deps: Deps, control: Control) => Promise<void>,
) => Promise<void>

export function openWorker<Deps extends QueueDeps>(options: WorkerOptions<Deps>): Work<Deps> {
  const { presence, runs } = options
  // Jobs that failed here and ended elsewhere stay in it, so it is bounded.
  const failures = new LRUCache<string, number>(atMost(10_000))
  return async (delivery, run) => {
    const decision = await decide(options, delivery)
    if (decision.kind === 'later') return delivery.nak(decision.afterMs)
    const stop = stopping()
    const { id, payload } = delivery.job
    const remove = runs.add(payload['taskId'] ?? '', stop)
    presence.running.add(id)
    const renewal = renewLease(delivery, stop)
    try {
      await runDelivery(
        options,
        delivery,
        { stop, isForgotten: decision.kind === 'begin_again', failures },
        run,
      )
    } finally {
      clearInterval(renewal)
      remove()
      presence.running.delete(id)
      if (stop.reason() === 'deleted') options.onDeletedRunEnded()
    }
  }
}

type Decision =
  | { readonly kind: 'begin' }
  /** Another runner ran the task last and is leaving or gone, so the workspace of the task on this runner is outdated. */
  | { readonly kind: 'begin_again' }
  | { readonly kind: 'later'; readonly afterMs: number }

/**
 * Decides whether to begin a job here. A job that was delivered before, or whose execution was begun, is begun only if it no longer runs. A job that
 * lost its lease may still run: its execution goes on, and perhaps no other worker has the job. A queue that has lost its records counts from 1.
 */
async function decide<Deps extends QueueDeps>(
  { deps, runs, runnerId, isAlone, presence }: WorkerOptions<Deps>,
  { job, attempt }: Delivery,
): Promise<Decision> {
  const mayRun = () => presence.whereabouts(job.id) !== 'nowhere'
  if (attempt > 1 && mayRun()) return { kind: 'later', afterMs: retryMs }
  const { taskId = '', executionId } = job.payload
  const { state } = await deps.commands.load(decider, taskStream(taskId))
  if (state.kind !== 'task') return { kind: 'begin' }
  // If a lost runner had begun the execution, it only has to be ended, which any runner can do.
  if (isBegun(state, executionId)) return mayRun() ? { kind: 'later', afterMs: retryMs } : { kind: 'begin' }
  // Throws while the read models are unavailable or are being built, so that the run waits instead of failing.
  await Promise.all([
    deps.documents.get(projectsView, state.projectId),
    deps.documents.get(usersView, state.ownerId),
    deps.documents.get(chatView, ''),
    deps.documents.get(questionsView, ''),
  ])
  switch (affinityOf(state, { runnerId, isAlone }, presence)) {
    case 'here':
      return { kind: 'begin' }
    case 'elsewhere':
      return { kind: 'later', afterMs: Math.min(passOnMs * attempt, retryMs) }
    case 'gone':
      return runs.has(taskId) ? { kind: 'later', afterMs: retryMs } : { kind: 'begin_again' }
  }
}

function isBegun({ phase }: LiveTask, executionId: string | undefined): boolean {
  return 'execution' in phase && phase.execution.executionId === executionId && phase.execution.attempt > 0
}

function renewLease(delivery: Delivery, stop: Stopping): NodeJS.Timeout {
  const renewal = setInterval(() => {
    delivery.working().catch(() => {
      clearInterval(renewal)
      // The log refuses what an execution reports without a valid lease. But the code host knows no leases, so the job of a pull request is stopped
      // here.
      if (delivery.job.kind === 'pull_request') stop.stop('evicted')
    })
  }, renewMs)
  return renewal
}

async function runDelivery<Deps extends QueueDeps>(
  options: WorkerOptions<Deps>,
  delivery: Delivery,
  {
    stop,
    isForgotten,
    failures,
  }: {
    readonly stop: Stopping
    readonly isForgotten: boolean
    /** How often each job has failed here. Attempts do not tell, because a job that is passed on to another runner is delivered again too. */
    readonly failures: LRUCache<string, number>
  },
  run: (deps: Deps, control: Control) => Promise<void>,
): Promise<void> {
  const { job } = delivery
  const deps = depsFor(options.deps, delivery)
  const control = { stop, steering: deliveryQueue(), answers: deliveryQueue(), waits: delivery.waits }
  const unwatch = watchTask(deps, job, control)
  try {
    // Removing may take long, so the lease is renewed meanwhile.
    if (isForgotten) await options.forget(job.payload['taskId'] ?? '')
    await measured(deps, delivery, () => run(deps, control))
    await delivery.ack()
    failures.delete(job.id)
  } catch (fault) {
    // A job that throws is given back and delivered again, and rejected after `maxFailures`. It is never rejected because a part of the server is
    // unavailable.
    if (fault instanceof EngineUnavailable) throw fault
    const failed = (failures.get(job.id) ?? 0) + 1
    failures.set(job.id, failed)
    if (failed < maxFailures) throw fault
    deps.logger.error({ err: fault, job }, 'job set aside')
    await delivery.reject(fault)
    failures.delete(job.id)
  } finally {
    unwatch()
  }
}

/** Dependencies that add the job's origin to everything in the log, and to every log line. */
function depsFor<Deps extends QueueDeps>(deps: Deps, { job }: Delivery): Deps {
  const origin = originOf(job)
  const { taskId } = job.payload
  return {
    ...deps,
    commands: commandsFrom(deps.commands, origin),
    log: logFrom(deps.log, origin),
    logger: deps.logger.child({ requestId: origin.correlationId, jobId: job.id, taskId }),
  }
}

/** Jobs that were queued by an older version have no origin. */
function originOf({ payload }: Delivery['job']): Origin {
  const { correlationId, causationId } = payload
  return correlationId === undefined ? {} : { correlationId, causationId: causationId ?? null }
}

async function measured(
  { emit, logger }: { readonly emit: Emit; readonly logger: QueueDeps['logger'] },
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

/** How often the log is checked, in case a bus message was lost. */
const pollIntervalMs = 1_000
const relevant = new Set(['CancellationRequested', 'TaskDeleted', 'SteeringRequested', 'QuestionAnswered'])

/**
 * Passes steering messages and answers to the run. Stops the run when a person cancels the run or deletes the task, when another runner has ended the
 * run, or when the task's record is damaged.
 */
function watchTask(
  { commands, documents, bus, logger }: Pick<RunnerEngines, 'commands' | 'documents' | 'bus' | 'logger'>,
  { payload }: Delivery['job'],
  { stop, steering, answers }: Control,
): () => void {
  const { taskId = '', executionId } = payload
  const stream = taskStream(taskId)
  const stopUnrecorded = (err: unknown) => {
    if (stop.reason() !== 'unrecordable')
      logger.error(
        { err },
        'the record of the task is damaged: its run is stopped, for nothing more can be recorded',
      )
    stop.stop('unrecordable')
  }
  const look = async () => {
    try {
      const { state } = await commands.load(decider, stream)
      if (state.kind !== 'task') return stop.stop('deleted')
      if (executionId === undefined) return
      const execution = 'execution' in state.phase ? state.phase.execution : undefined
      if (execution?.executionId !== executionId) return stop.stop('evicted')
      if (execution.cancelRequested) stop.stop('cancelled')
      steering.offer(state.steering)
      answers.offer(undelivered(state.questions))
    } catch (fault) {
      if (fault instanceof UnreadableEvent && !isOfLaterVersion(fault)) return stopUnrecorded(fault)
      // The next check may succeed. If another runner has taken over in the meantime, the log refuses this run's reports.
      logger.warn({ err: fault }, 'failed to read the task')
    }
  }
  const unsubscribe = bus.subscribe('appended', (event) => {
    if (event.stream === stream && relevant.has(event.type)) void look()
  })
  // Reads the document of the task too. Commands do not notice damage at the beginning of the stream, because this process has already read that
  // part.
  const lookAtDocument = async () => {
    const flaw = (await documents.get(tasksView, taskId))?.unreadable
    if (flaw?.stream === 'task') stopUnrecorded(new Error(unreadableSentences[flaw.reason]))
  }
  const stopHearing = bus.subscribe('quarantine', (event) => {
    if (event.stream === stream)
      void lookAtDocument().catch((err: unknown) => logger.warn({ err }, 'failed to read the task'))
  })
  const timer = setInterval(() => void look(), pollIntervalMs)
  return () => {
    unsubscribe()
    stopHearing()
    clearInterval(timer)
  }
}
