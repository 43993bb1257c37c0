/** The control of a run from outside: it can be stopped, and messages can be delivered to its turn. */

/** Why a run is stopped before it is done. */
export type StopReason =
  | 'cancelled'
  /** The task was deleted, so nothing can be reported. */
  | 'deleted'
  /** Another runner has ended the execution, or the lease of a pull request's job was lost: nothing more may be reported. */
  | 'evicted'
  /** The record of the run's task is damaged: nothing more can be recorded. */
  | 'unrecordable'
  /** This server is shutting down. */
  | 'stopping'
  /** Nobody answered the agent for too long. */
  | 'unanswered'
  /** The agent has printed nothing for too long. */
  | 'silent'
  /** The person can no longer access the repository. */
  | 'no_access'
  /** The run uses more disk space than it may, or the disk is nearly full. */
  | 'disk_limit'
  | 'too_long'

/** A signal with a reason: `signal.reason` is a `StopReason`. */
export interface Stopping {
  readonly signal: AbortSignal
  /**
   * Aborts a running push. A deletion of the task does not abort it, because the code host may complete the push anyway. Whoever deletes the branch
   * must know when the push is done.
   */
  readonly pushSignal: AbortSignal
  /** Stops the run. Only the first reason counts. `sentence` tells the person why. */
  stop(reason: StopReason, sentence?: string): void
  reason(): StopReason | undefined
  sentence(): string
}

/** The ways in which a run is controlled from outside. */
export interface Control {
  readonly stop: Stopping
  /** Ids of messages to deliver to the running turn. */
  readonly steering: DeliveryQueue
  /** Ids of answered questions to deliver to the running turn. */
  readonly answers: DeliveryQueue
  /** Called when the run begins to wait for a person, and when it continues. A waiting run takes no slot of the runner. */
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

/** Passes ids of messages or of answered questions from the log to the running turn. The turn delivers the messages and answers to the agent. */
export interface DeliveryQueue {
  /** Adds the ids that the log has now. Each is passed on once. */
  offer(ids: readonly string[]): void
  /** Passes ids to `take`, one after the other. Ids that come after the returned function was called wait for the next `take`. */
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
