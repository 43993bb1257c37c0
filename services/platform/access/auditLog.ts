/**
 * Records, for the audit log, events that no other stream has, such as refused sign-ins. Actions that other streams record appear in the audit log
 * anyway.
 */
import { audit, SignInRefused, type AuditEvent } from '#domain/audit.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { Actor, Position } from '#domain/kernel/event.ts'
import { auditStream } from '#domain/kernel/streams.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { Cause } from '#platform/eventlog/eventLog.ts'
import type { Logger } from '#platform/log.ts'
import type { Clock } from '#platform/ports/clock.ts'

export interface AuditServices {
  readonly commands: Pick<Commands, 'execute'>
  readonly clock: Clock
}

/** Records the event in the stream of the day. Throws when that fails, in which case the audited action must not happen. */
export async function recordAudit(
  { commands, clock }: AuditServices,
  event: AuditEvent,
  cause: Cause & { readonly actor: Actor },
): Promise<Position> {
  const stream = auditStream(clock.now().toISOString().slice(0, 10))
  const { position } = await commands.execute(audit, stream, { type: 'RecordAudit', event }, cause)
  if (position === null) throw new Fault('internal')
  return position
}

/** Records a refused sign-in. The person is refused either way, so a fault is logged and not thrown. */
export async function recordRefusal(
  services: AuditServices & { readonly logger: Pick<Logger, 'error'> },
  refusal: Parameters<typeof SignInRefused.of>[0],
  cause: Pick<Cause, 'commandId' | 'correlationId'>,
): Promise<void> {
  const actor = { kind: 'system', service: 'gateway' } as const
  await recordAudit(services, SignInRefused.of(refusal), { ...cause, actor }).catch((err: unknown) =>
    services.logger.error({ err, code: refusal.code }, 'a refused sign-in is missing in the audit log'),
  )
}
