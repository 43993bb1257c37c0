/** How a run is controlled from outside: it can be stopped, and messages can be delivered to its turn. */

/** Why a run stops before its agent is done. */
export type StopReason =
  | 'cancelled'
  /** The task is gone: there is nobody to report to. */
  | 'deleted'
  /** Another runner has the execution now, or the lease ran out: nothing more may be reported. */
  | 'evicted'
  /** The record of its task is damaged: nothing more can be recorded. */
  | 'unrecordable'
  /** This server is shutting down. */
  | 'stopping'
  /** Nobody answered the agent for too long. */
  | 'unanswered'
  /** The agent printed nothing for too long. */
  | 'silent'
  /** The person can no longer reach the repository. */
  | 'no_access'
  /** It used more disk space than it may. */
  | 'disk_limit'
  | 'too_long'

/** A signal that carries why: `signal.reason` is a `StopReason`. */
export interface Stopping {
  readonly signal: AbortSignal
  /**
   * Ends a push that is under way. A deletion does not abort it: the code host may finish what it was sent whether or not we wait, and
   * whoever deletes the branch must know when it is there.
   */
  readonly pushSignal: AbortSignal
  /** Only the first reason counts. `sentence` says more than the reason's name does. */
  stop(reason: StopReason, sentence?: string): void
  reason(): StopReason | undefined
  sentence(): string
}

/** What reaches a run from outside. */
export interface Control {
  readonly stop: Stopping
  /** Ids of messages. */
  readonly steering: DeliveryQueue
  /** Ids of questions. */
  readonly answers: DeliveryQueue
  /** The run waits for a person, or goes on: while it waits it takes no slot of the runner. */
  readonly waits: (isWaiting: boolean) => void
}

export function stopping(): Stopping {
  const controller = new AbortController()
  const pushes = new AbortController()
  let why: { readonly reason: StopReason; readonly sentence: string } | undefined
  return {
    signal: controller.signal,
    pushSignal: pushes.signal,
    stop(reason, sentence = 'This was stopped.') {
      why ??= { reason, sentence }
      controller.abort(why.reason)
      if (reason !== 'deleted') pushes.abort(reason)
    },
    reason: () => why?.reason,
    sentence: () => why?.sentence ?? '',
  }
}

/** What a person wants delivered to the running turn, on its way from the log to the agent. */
export interface DeliveryQueue {
  /** Adds the ids that the log names by now. Each is passed on once. */
  offer(ids: readonly string[]): void
  /** Passes them on, one after the other, until the returned function is called. They wait while nobody takes them. */
  listen(take: (id: string) => Promise<void>): () => void
}

export function deliveryQueue(): DeliveryQueue {
  const seen = new Set<string>()
  const waiting: string[] = []
  let taking: ((id: string) => Promise<void>) | undefined
  let last: Promise<void> = Promise.resolve()

  function passOn(): void {
    const take = taking
    if (take === undefined) return
    for (const id of waiting.splice(0)) last = last.then(() => take(id))
  }
  return {
    offer(ids) {
      waiting.push(...ids.filter((id) => !seen.has(id)))
      for (const id of ids) seen.add(id)
      passOn()
    },
    listen(take) {
      taking = take
      passOn()
      return () => (taking = undefined)
    },
  }
}
