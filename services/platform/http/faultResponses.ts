/** Turns faults into HTTP responses. */
import type { Middleware } from 'koa'
import { Fault, faults, type FaultCode } from '#domain/kernel/errors.ts'
import type { FaultAnswer } from '#domain/api/fields.schema.ts'
import type { Logger } from '#platform/log.ts'
import { UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import {
  CannotOpen,
  DamagedBlob,
  EngineUnavailable,
  isDiskFull,
  NotFolded,
  TooLarge,
} from '#platform/ports/faults.ts'
import { nameRequest, requestIdOf, routeOf } from '#platform/telemetry/requests.ts'

const logged: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'internal',
  'history_unreadable',
  'record_damaged',
  'disk_full',
])

/**
 * Responds to faults with `{error, code, field?, current?, requestId}`. Known errors of engines and of the code host become faults too. Any other
 * error becomes `internal`, and its details are only in the log.
 */
export function faultResponses(log: Logger, fresh: () => string): Middleware {
  return async (context, next) => {
    if (requestIdOf(context) === undefined) nameRequest(context, fresh())
    try {
      await next()
    } catch (thrown) {
      const fault = faultOf(thrown)
      const requestId = requestIdOf(context) ?? ''
      if (logged.has(fault.code))
        log.error(
          { err: thrown, requestId, method: context.method, route: routeOf(context) },
          'request failed',
        )
      const { field } = fault
      const { current, retryAfterSeconds } = fault.details
      const answer: FaultAnswer = {
        error: fault.message,
        code: fault.code,
        ...(field === undefined ? {} : { field }),
        ...(current === undefined ? {} : { current }),
        requestId,
      }
      context.status = faults[fault.code].status
      if (retryAfterSeconds !== undefined) context.set('retry-after', String(Math.ceil(retryAfterSeconds)))
      context.body = answer
    }
  }
}

/** The refusal of a read whose answer is not in the read models yet. */
export function viewsBehind(): Fault {
  return new Fault('views_behind', undefined, undefined, { retryAfterSeconds: 2 })
}

function faultOf(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown
  if (thrown instanceof CodeHostFault) return faultOfHost(thrown)
  if (thrown instanceof NotFolded) return viewsBehind()
  if (thrown instanceof EngineUnavailable && isDiskFull(thrown)) return new Fault('disk_full')
  if (thrown instanceof EngineUnavailable) return new Fault('engine_unavailable')
  if (thrown instanceof UnreadableEvent) return new Fault('history_unreadable')
  if (thrown instanceof DamagedBlob || thrown instanceof CannotOpen)
    return new Fault(
      'record_damaged',
      'What was saved here is damaged. Ask the operator of this server to look at it.',
    )
  if (thrown instanceof TooLarge) return new Fault('too_large')
  // The router throws this for an address that cannot be decoded.
  if (thrown instanceof Error && 'status' in thrown && thrown.status === 400)
    return new Fault('invalid_input', 'The address is not valid.')
  return new Fault('internal')
}

/** Turns a fault of the code host into a fault for the client. `field` is the input field that caused it, if there is one. */
export const faultOfHost = ({ kind, message, retryAfterMs }: CodeHostFault, field?: string): Fault =>
  new Fault(
    codeOfHost[kind],
    message,
    field,
    retryAfterMs === undefined ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) },
  )

const codeOfHost: Record<CodeHostFault['kind'], FaultCode> = {
  unauthorized: 'github_not_connected',
  forbidden: 'code_host_refused',
  not_found: 'code_host_refused',
  invalid: 'code_host_refused',
  rate_limited: 'rate_limited',
  unavailable: 'code_host_unavailable',
}
