/** Stopping a run from outside. */
import type { ExecutionOutcome } from '#domain/task/commands.ts'
import { Evicted } from './terminalWriter.ts'
import { failed } from './prepare.ts'

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

/** A signal that carries why: `signal.reason` is a `StopReason`. */
export interface Stopping {
  readonly signal: AbortSignal
  /** The first reason counts. */
  stop(reason: StopReason): void
  reason(): StopReason | undefined
}

export function stopping(): Stopping {
  const controller = new AbortController()
  let why: StopReason | undefined
  return {
    signal: controller.signal,
    stop(reason) {
      why ??= reason
      controller.abort(why)
    },
    reason: () => why,
  }
}

/** The outcome of a run that was stopped; `undefined` when it was not. Throws `Evicted` when nobody may report it. */
export function outcomeOfStop({ reason }: Stopping): ExecutionOutcome | undefined {
  switch (reason()) {
    case undefined:
      return undefined
    case 'cancelled':
      return { kind: 'cancelled' }
    case 'stopping':
      return failed('server_stopped', 'The server was stopped while this ran. Try again to go on.')
    case 'silent':
      return failed('agent_silent', 'The agent was stopped: nothing was heard of it for 15 minutes.')
    case 'deleted':
    case 'evicted':
      throw new Evicted('This run has nobody to report to.')
  }
}
