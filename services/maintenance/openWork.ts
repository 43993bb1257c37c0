/**
 * Finds requests in the log that have no outcome yet. A sweep at the start and every minute queues requests that have no job in the queue, and ends
 * requests whose job ended without an outcome, so that no request waits for ever, whatever happened to the queue or a runner.
 */
import { randomUUID } from 'node:crypto'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import { task } from '#domain/task/task.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { bySystem } from '#platform/commands/causation.ts'
import type { Engines } from '#platform/compose.ts'
import { repeat } from '#platform/async/rounds.ts'
import type { Documents } from '#platform/reads/documents.ts'
import { pagesOf } from '#platform/reads/documentPages.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { NotFolded } from '#platform/ports/faults.ts'
import { jobFor, openWorkOf, type OpenWork } from '#platform/commands/requestedJobs.ts'
import type { Jobs } from '#platform/ports/jobs.ts'
import { sweepErasures } from './erasure.ts'

export interface OpenWorkEngines extends Pick<Engines, 'log' | 'commands' | 'documents' | 'logger'> {
  readonly jobs: Pick<Jobs, 'put' | 'stateOf'>
}

const intervalMs = 60_000
const whileFoldedMs = 1_000
const page = 200
const givenUp = 'This failed too many times and was stopped. Try again.'
const noRunner = 'The runner of this run is gone, and no other runner is connected. Try again.'
/** A running execution is lost if no runner was heard while the queue answered in this many sweeps. Each runner sends a heartbeat per second. */
const silentSweeps = 4
/** Sweeps that follow each other faster, while read models are being built, count once. */
const countedMs = 50_000

/** For each running execution, the number of sweeps in which the queue answered since a runner was last heard, and the time of the last one. */
interface Silence {
  readonly sweeps: Map<string, { readonly count: number; readonly at: number }>
  stop(): void
}

/** Begins to listen to the heartbeats of runners. */
export function hearSilence(bus: Pick<Bus, 'subscribe'>): Silence {
  const sweeps: Silence['sweeps'] = new Map()
  return { sweeps, stop: bus.subscribe('runner', () => sweeps.clear()) }
}

/** Sweeps until it is stopped, and queues erasures that a new queue lacks. A task that cannot be read does not stop the others. */
export function startOpenWorkSweep(
  engines: OpenWorkEngines & Pick<Engines, 'bus'> & Parameters<typeof sweepErasures>[0],
): RunningWork {
  const silence = hearSilence(engines.bus)
  const sweeping = repeat(async (signal) => {
    let pauseMs = intervalMs
    try {
      await sweepOpenWork(engines, () => signal.aborted, silence)
    } catch (fault) {
      // While read models are being built, the sweep is repeated soon.
      if (fault instanceof NotFolded) pauseMs = whileFoldedMs
      else engines.logger.warn({ err: fault }, 'failed to look for unfinished work')
    }
    await sweepErasures(engines).catch((fault: unknown) => {
      engines.logger.warn({ err: fault }, 'failed to look for deletions to erase')
    })
    return pauseMs
  })
  return {
    async stop() {
      silence.stop()
      await sweeping.stop()
    },
  }
}

/** Checks every task that has open work according to the read models; the log decides. `now` is in ms of `performance.now()`. */
export async function sweepOpenWork(
  engines: OpenWorkEngines,
  isStopped: () => boolean = () => false,
  silence: Pick<Silence, 'sweeps'> = { sweeps: new Map() },
  now: number = performance.now(),
): Promise<void> {
  const checked = new Set<string>()
  for await (const taskId of tasksWithOpenWork(engines.documents)) {
    if (isStopped()) return
    // A task with two kinds of open work is listed twice, and a sweep counts only once.
    if (checked.has(taskId)) continue
    checked.add(taskId)
    try {
      await settle(engines, taskId, { ...silence, now })
    } catch (fault) {
      engines.logger.warn({ err: fault, taskId }, 'failed to check the unfinished work of a task')
    }
  }
}

/** Lists tasks with open work from the read models, which may be behind: the next sweep finds the tasks that are missing there now. */
async function* tasksWithOpenWork(documents: Pick<Documents, 'find'>): AsyncGenerator<string> {
  for (const where of [{ status: 'queued' }, { status: 'running' }, { pullRequestPending: true }])
    for await (const found of pagesOf(documents, tasksView, { where, limit: page }))
      for (const { id } of found) yield id
}

type Sweep = Pick<Silence, 'sweeps'> & { readonly now: number }

async function settle(engines: OpenWorkEngines, taskId: string, sweep: Sweep): Promise<void> {
  const { commands, jobs, logger } = engines
  const open = async () => {
    const { state } = await commands.load(task, taskStream(taskId))
    return state.kind === 'task' ? { ownerId: state.ownerId, work: openWorkOf(state) } : undefined
  }
  const before = await open()
  if (before === undefined) return
  for (const work of before.work) {
    const jobState = await jobs.stateOf(work.id)
    if (jobState === 'queued' || jobState === 'leased') {
      // The job's record may have outlived the job. If the queue still has the job, `put` changes nothing.
      await jobs.put(jobFor(work, before.ownerId))
      if (!isLost(work, sweep)) continue
    }
    // The work may have ended since it was read.
    const now = await open()
    if (!now?.work.some(({ id }) => id === work.id)) continue
    const told = { taskId, job: work.kind, id: work.id }
    if (jobState === undefined) {
      logger.warn(told, 'abandoned work queued again')
      await jobs.put(jobFor(work, now.ownerId))
    } else {
      const isGivenUp = jobState !== 'queued' && jobState !== 'leased'
      const reason = isGivenUp ? givenUp : noRunner
      logger.error({ ...told, standing: jobState, reason }, 'ended work that had no outcome')
      await end(engines, work, reason).catch((fault: unknown) => {
        // A refusal means that another process ended the work at the same moment.
        if (!(fault instanceof Fault)) throw fault
      })
    }
  }
}

/** Counts this sweep for a running execution; true once no runner was heard for so long that its runner must be gone. */
function isLost(work: OpenWork, { sweeps, now }: Sweep): boolean {
  if (work.kind !== 'execution' || work.execution.attempt === 0) return false
  const before = sweeps.get(work.id)
  if (before !== undefined && now - before.at < countedMs) return false
  const count = (before?.count ?? 0) + 1
  sweeps.set(work.id, { count, at: now })
  return count >= silentSweeps
}

async function end({ commands, log }: OpenWorkEngines, work: OpenWork, reason: string): Promise<void> {
  const stream = taskStream(work.taskId)
  const cause = () => bySystem('command')
  const failed = { kind: 'failed', code: 'runner_lost', reason } as const
  if (work.kind === 'pull_request') {
    const outcome = { ...failed, messageId: randomUUID() }
    const settled = { requestId: work.id, outcome, nextRequestId: randomUUID() }
    await commands.execute(task, stream, { type: 'SettlePullRequest', ...settled }, cause())
    return
  }
  // Claims the execution first, so that late reports are refused. The claim names the last runner, which keeps the workspace.
  const { executionId, attempt: afterAttempt } = work.execution
  const { state } = await commands.load(task, stream)
  const runnerId = (state.kind === 'task' ? state.lastRunnerId : null) ?? 'none'
  await commands.execute(
    task,
    stream,
    { type: 'StartExecution', executionId, afterAttempt, runnerId },
    cause(),
  )
  const head = await log.headOf(terminalStream(work.taskId))
  await commands.execute(
    task,
    stream,
    {
      type: 'EndExecution',
      fence: { executionId, attempt: afterAttempt + 1 },
      outcome: { ...failed, exitCode: null },
      terminal: head.revision < 0 ? null : head,
      nextExecutionId: randomUUID(),
    },
    cause(),
  )
}
