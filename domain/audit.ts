/**
 * What the audit log must hold that no other stream does: refused sign-ins, who read what is not only their own, and who exported what.
 * Ids alone, no content: nothing here names a person once their account is erased.
 */
import { z } from 'zod'
import { event, none, type EventOf } from './kernel/event.schema.ts'
import { TaskId, UserId } from './kernel/ids.schema.ts'
import type { Decider } from './kernel/decider.ts'

/** What was read or exported. */
export const auditedRecords = [
  'audit_log',
  'figures_of_everybody',
  'own_figures',
  'audit_bundle',
  'saved_replay',
] as const
export type AuditedRecords = (typeof auditedRecords)[number]

export const signInMethods = ['password', 'code_host'] as const

/** Somebody was not let in. `userId` is whose account it is here; `null` when it is nobody's. */
export const SignInRefused = event('SignInRefused', 1, {
  data: z.object({ method: z.enum(signInMethods), code: z.string(), userId: UserId.nullable() }),
  content: none,
})

/** What was asked for: `null` where it was not limited. */
const asked = {
  records: z.enum(auditedRecords),
  personId: UserId.nullable(),
  taskId: TaskId.nullable(),
  from: z.iso.datetime().nullable(),
  to: z.iso.datetime().nullable(),
}
/** Somebody was about to be shown these records: recorded before they are. */
export const RecordsRead = event('RecordsRead', 1, { data: z.object(asked), content: none })
/** Somebody was about to be given a copy of these records: recorded before they are. */
export const RecordsExported = event('RecordsExported', 1, { data: z.object(asked), content: none })

/** The App by which this server acts at the code host was made, by an administrator or with the code that the server printed. */
export const CodeHostAppRegistered = event('CodeHostAppRegistered', 1, {
  data: z.object({ hasWebhook: z.boolean() }),
  content: none,
})

export const auditEvents = [SignInRefused, RecordsRead, RecordsExported, CodeHostAppRegistered] as const
export type AuditEvent = EventOf<(typeof auditEvents)[number]>

export interface AuditCommand {
  readonly type: 'RecordAudit'
  readonly event: AuditEvent
}

/** Takes whatever is recorded: it has no state, and refuses nothing. */
export const audit: Decider<null, AuditCommand, AuditEvent> = {
  initial: null,
  decide: ({ event }) => [event],
  evolve: () => null,
}
