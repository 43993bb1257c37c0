/**
 * Audit events that belong in no other stream: refused sign-ins, reads of records, exports, and the creation of the App. Events about people hold
 * only their ids, so no event names a person whose account was erased.
 */
import { z } from 'zod'
import { fact, type EventOf } from './kernel/event.schema.ts'
import { TaskId, UserId } from './kernel/ids.schema.ts'
import type { Decider } from './kernel/decider.ts'

export const auditedRecords = [
  'audit_log',
  'figures_of_everybody',
  'own_figures',
  'audit_bundle',
  'saved_replay',
] as const
export type AuditedRecords = (typeof auditedRecords)[number]

export const signInMethods = ['password', 'code_host'] as const

/** A sign-in was refused. `userId` is the Flightdeck user to whom the account belongs; `null` when there is no such user. */
export const SignInRefused = fact('SignInRefused', {
  method: z.enum(signInMethods),
  code: z.string(),
  userId: UserId.nullable(),
})

/** The records for which a person asked, and the filters; `null` for a filter that was not set. `taskId` is also set for records of one task. */
const asked = {
  records: z.enum(auditedRecords),
  personId: UserId.nullable(),
  taskId: TaskId.nullable(),
  from: z.iso.datetime().nullable(),
  to: z.iso.datetime().nullable(),
}
/** A person read records. The event is written before the records are shown. */
export const RecordsRead = fact('RecordsRead', asked)
/** A person exported records. The event is written before the copy is handed out. */
export const RecordsExported = fact('RecordsExported', asked)

/** The server's GitHub App was created, by an administrator or by somebody with the code that the server printed. */
export const CodeHostAppRegistered = fact('CodeHostAppRegistered', { hasWebhook: z.boolean() })

export const auditEvents = [SignInRefused, RecordsRead, RecordsExported, CodeHostAppRegistered] as const
export type AuditEvent = EventOf<(typeof auditEvents)[number]>

export interface AuditCommand {
  readonly type: 'RecordAudit'
  readonly event: AuditEvent
}

/** A decider without state: it records everything and refuses nothing. */
export const audit: Decider<null, AuditCommand, AuditEvent> = {
  initial: null,
  decide: ({ event }) => [event],
  evolve: () => null,
}
