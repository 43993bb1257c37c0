/**
 * When a person has connected to the code host again, updates of pull requests that failed without the connection are retried, since the tasks' chats
 * promise that the work is kept.
 */
import { randomUUID } from 'node:crypto'
import { Fault } from '#domain/kernel/errors.ts'
import type { Position } from '#domain/kernel/event.ts'
import { parseStream, taskStream } from '#domain/kernel/streams.ts'
import { task } from '#domain/task/task.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { bySystem } from '#platform/commands/causation.ts'
import type { Engines } from '#platform/compose.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import { startReactor, type ReactorEngines } from '#platform/eventlog/reactor.ts'
import { CodeHostFault, type CodeHost } from '#platform/ports/codeHost.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { newest } from '#platform/reads/documentPages.ts'
import type { Projected } from '#platform/reads/projectionWait.ts'
import { isRefusal, isTransient } from '../faults.ts'
import { hintedWork, type HintTimes } from '../refresh/hints.ts'

type RetryEngines = ReactorEngines &
  Pick<Engines, 'documents' | 'logger'> & {
    readonly projected: Pick<Projected, 'waitFor'>
    readonly commands: Pick<Engines['commands'], 'execute'>
    readonly access: Pick<HostAccess, 'tokenOf'>
    readonly codeHost: Pick<CodeHost, 'account'>
  }

/** `burstPauseMs` is needed because a new connection's event can arrive before its tokens are stored. */
const usualTimes: HintTimes = { burstPauseMs: 1_000, minIntervalMs: 60_000 }
const maxHinted = 1_000
const foldTimeoutMs = 5_000
/** How many of a person's newest tasks are searched for failed updates. */
const newestTasks = 200

/** The outcome for a person; `refused`: they have no token, or the code host does not accept it. */
type Outcome = 'done' | 'later' | 'refused'

/** Retries updates until it is stopped. A person who connects while no process runs this has to retry in the task. */
export async function startRetriedUpdates(
  engines: RetryEngines,
  times: HintTimes = usualTimes,
  max: number = maxHinted,
): Promise<RunningWork> {
  /** People whose token was refused. They are tried once more, since the new tokens may be stored after the event. */
  const refused = new Set<string>()
  let heard: Position | null = null
  const looking = hintedWork({
    times,
    max,
    async workOn(userId) {
      const outcome = await retryFor(engines, userId, heard)
      if (outcome === 'later') return 'later'
      if (outcome === 'refused' && !refused.has(userId)) {
        refused.add(userId)
        return 'later'
      }
      refused.delete(userId)
      return 'done'
    },
  })
  const reactor = await startReactor(engines, {
    from: 'head',
    // Signing in with the code host also brings new tokens, even if nobody had noticed that the old ones were invalid.
    filter: { streams: ['user-'], types: ['GitHubConnected', 'SessionStarted'] },
    async handle(events, upTo) {
      heard = upTo
      for (const { stream } of events) {
        const named = parseStream(stream)
        if (named.kind !== 'user') continue
        refused.delete(named.id)
        if (!(await looking.add(named.id, 'soon'))) return
      }
    },
  })
  return {
    async stop() {
      await Promise.all([looking.stop(), reactor.stop()])
    },
  }
}

async function retryFor(engines: RetryEngines, userId: string, upTo: Position | null): Promise<Outcome> {
  const { projected, documents, access, codeHost } = engines
  try {
    if (upTo !== null) await projected.waitFor(upTo, foldTimeoutMs)
    const latest = await newest(documents, tasksView, { owner: userId }, newestTasks)
    const failed = latest.filter(({ publishingFault }) => publishingFault === 'github_not_connected')
    if (failed.length === 0) return 'done'
    await codeHost.account(await access.tokenOf(userId))
    let outcome: Outcome = 'done'
    for (const { id } of failed) if (!(await isRetried(engines, id))) outcome = 'later'
    return outcome
  } catch (fault) {
    if (isTransient(fault)) return 'later'
    tell(engines, fault, { userId })
    return isRefusal(fault) ? 'refused' : 'done'
  }
}

/**
 * Retries the update of one task. Returns `false` if the retry failed and may be tried again. Any other fault is only logged, so that
 * the updates of other tasks go on.
 */
async function isRetried(engines: RetryEngines, taskId: string): Promise<boolean> {
  const command = { type: 'RetryUpdate', requestId: randomUUID() } as const
  try {
    await engines.commands.execute(task, taskStream(taskId), command, bySystem('retries'))
    return true
  } catch (fault) {
    if (isTransient(fault)) return false
    tell(engines, fault, { taskId })
    return true
  }
}

function tell({ logger }: RetryEngines, fault: unknown, about: object): void {
  const isExpected = fault instanceof CodeHostFault || fault instanceof Fault
  logger[isExpected ? 'debug' : 'warn']({ err: fault, ...about }, 'failed to retry updates of pull requests')
}
