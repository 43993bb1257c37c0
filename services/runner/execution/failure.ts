/** Outcomes of executions that did not end by their own work: they failed, were stopped, or were taken over by another runner. */
import { Fault } from '#domain/kernel/errors.ts'
import type { ExecutionOutcome } from '#domain/task/commands.ts'
import type { Logger } from '#platform/log.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { EngineUnavailable, TooLarge } from '#platform/ports/faults.ts'
import type { Stopping } from './control.ts'

export type Failed = Extract<ExecutionOutcome, { kind: 'failed' }>

/** The outcome of a failure. `reason` is a sentence for the person. */
export function failed(code: string, reason: string): Failed {
  return { kind: 'failed', code, reason, exitCode: null }
}

/** This run must report nothing more: another runner has its execution or gets its job, the task was deleted, or the task's record is damaged. */
export class Evicted extends Error {
  override readonly name = 'Evicted'
}

/** The outcome of a run that was stopped; `undefined` when it was not stopped. Throws `Evicted` when nothing may be reported. */
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
    case 'unanswered':
      return failed('question_unanswered', sentence())
    case 'no_access':
      return failed('clone_failed', sentence())
    case 'disk_limit':
      return failed('disk_limit', sentence())
    case 'too_long':
      return failed('time_limit', sentence())
    case 'deleted':
    case 'evicted':
    case 'unrecordable':
      throw new Evicted('This run may no longer report.')
  }
}

/** The outcome of a run that threw. A fault of an unknown kind is logged. */
export function outcomeOfFault(
  { logger, now = () => new Date() }: { readonly logger: Pick<Logger, 'error'>; readonly now?: () => Date },
  fault: unknown,
): ExecutionOutcome {
  if (fault instanceof Fault) return failed(fault.code, fault.message)
  if (fault instanceof CodeHostFault) {
    const { message, retryAfterMs: waitMs } = fault
    const retryAt = waitMs === undefined ? {} : { retryAt: new Date(now().getTime() + waitMs).toISOString() }
    return { ...failed('code_host', message), ...retryAt }
  }
  if (fault instanceof EngineUnavailable)
    return failed('engine_unavailable', 'Part of the server did not respond in time. Try again.')
  if (fault instanceof TooLarge)
    return failed(
      'too_large',
      'The agent produced more output at once than can be recorded. Ask it to work in smaller steps.',
    )
  logger.error({ err: fault }, 'run failed')
  return failed('internal', 'Something went wrong during this run. The error has been logged.')
}
