/** Stopping a run from outside. */
import type { ExecutionOutcome } from '#domain/task/commands.ts'
import type { Steering } from './steering.ts'
import { Evicted } from './recording/terminalWriter.ts'
import { failed } from './failed.ts'

/** Why a run stops before its agent is done. */
export type StopReason =
  /** A person asked. */
  | 'cancelled'
  /** The task is gone: there is nobody to report to. */
  | 'deleted'
  /** Another runner has the execution now, or the lease ran out: nothing more may be reported. */
  | 'evicted'
  /** This server is shutting down. */
  | 'stopping'
  /** Nothing was heard of the agent for too long. */
  | 'silent'
  /** The person can no longer reach the repository. */
  | 'no_access'
  /** It took more of the disk than it may. */
  | 'disk_limit'
  /** It went on for too long. */
  | 'too_long'

/** A signal that carries why: `signal.reason` is a `StopReason`. */
export interface Stopping {
  readonly signal: AbortSignal
  /**
   * Ends a push that is under way. A deletion does not: the host may finish what it was sent whether or not we wait for the answer, and who
   * deletes the branch must know when it is there.
   */
  readonly pushSignal: AbortSignal
  /** The first reason counts; `sentence` says more of it than its name does. */
  stop(reason: StopReason, sentence?: string): void
  reason(): StopReason | undefined
  sentence(): string
}

/** What reaches a run from outside. */
export interface Control {
  readonly stop: Stopping
  readonly steering: Steering
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

/** The outcome of a run that was stopped; `undefined` when it was not. Throws `Evicted` when nobody may report it. */
export function outcomeOfStop({ reason, sentence }: Stopping): ExecutionOutcome | undefined {
  switch (reason()) {
    case undefined:
      return undefined
    case 'cancelled':
      return { kind: 'cancelled' }
    case 'stopping':
      return failed('server_stopped', 'The server stopped while this was running. Try again to continue.')
    case 'silent':
      return failed('agent_silent', sentence())
    case 'no_access':
      return failed('clone_failed', sentence())
    case 'disk_limit':
      return failed('disk_limit', sentence())
    case 'too_long':
      return failed('time_limit', sentence())
    case 'deleted':
    case 'evicted':
      throw new Evicted('This run has nobody to report to.')
  }
}
