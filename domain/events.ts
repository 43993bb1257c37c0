/** All kinds of events that the log can contain. */
import type { EventKind } from './kernel/event.schema.ts'
import type { z } from 'zod'
import { auditEvents, type AuditEvent } from './audit.ts'
import { deliveryEvents, type DeliveryEvent } from './webhookDelivery.ts'
import { identityEvents, type IdentityEvent } from './identity.ts'
import { imageEvents, type ImageEvent } from './image.ts'
import { logEvents, type LogEvent } from './log.ts'
import { projectEvents, type ProjectEvent } from './project/events.ts'
import { requestEvents, type RequestEvent } from './idempotentRequest.ts'
import { sealEvents, type SealEvent } from './seal.ts'
import { taskEvents, type TaskEvent } from './task/events.ts'
import { terminalEvents, type TerminalEvent } from './task/terminalEvents.ts'
import { usageEvents, type UsageEvent } from './usage.ts'
import { userEvents, type UserEvent } from './user/events.ts'

export type DomainEvent =
  | LogEvent
  | UserEvent
  | IdentityEvent
  | ProjectEvent
  | TaskEvent
  | TerminalEvent
  | RequestEvent
  | ImageEvent
  | UsageEvent
  | AuditEvent
  | DeliveryEvent
  | SealEvent

export type AnyKind = Pick<
  EventKind<string, z.ZodType, z.ZodType>,
  'type' | 'version' | 'data' | 'content' | 'upcasts'
>

/** The kinds by type: every event read from the log is checked against its kind. */
export const eventKinds: ReadonlyMap<string, AnyKind> = new Map<string, AnyKind>(
  [
    ...logEvents,
    ...userEvents,
    ...identityEvents,
    ...projectEvents,
    ...taskEvents,
    ...terminalEvents,
    ...requestEvents,
    ...imageEvents,
    ...usageEvents,
    ...auditEvents,
    ...deliveryEvents,
    ...sealEvents,
  ].map((kind) => [kind.type, kind]),
)
