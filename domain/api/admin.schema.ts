/** The audit log: who did what, and who read or exported what. */
import { z } from 'zod'
import { auditedRecords, signInMethods } from '../audit.ts'
import { TaskId, UserId } from '../kernel/ids.schema.ts'
import { saying } from '../kernel/readInput.ts'
import { defineFile, defineRead } from './call.schema.ts'
import { Moment, queryNumber, Since, Until } from './fields.schema.ts'
import { adminRoutes, auditActions, auditLogPage } from './admin.ts'

export const AuditEntry = z.object({
  id: z.string(),
  at: Moment,
  action: z.enum(Object.values(auditActions)),
  /**
   * The person who acted, or whose account was refused at sign-in; `null` for a service or an unknown account. `name` is `null` for a deleted
   * account.
   */
  person: z.object({ id: z.string(), name: z.string().nullable() }).nullable(),
  /** The service that acted on its own behalf, if one did. */
  service: z.string().nullable(),
  task: z.string().nullable(),
  project: z.string().nullable(),
  /** How many sessions were ended; 1 for everything else. */
  count: z.number(),
  /** How a refused sign-in was tried; `code` says why it was refused. Both are `null` for any other action. */
  method: z.enum(signInMethods).nullable(),
  code: z.string().nullable(),
  /** The records that were read or exported, if any. If they are of one task, or were filtered by a task, `task` is its id. */
  records: z.enum(auditedRecords).nullable(),
  /** The filters of the request that read or exported the records, except for `task`; `null` for other actions. */
  asked: z
    .object({ person: z.string().nullable(), from: Moment.nullable(), to: Moment.nullable() })
    .nullable(),
  /** The name of a secret that was set or removed. `null` for other actions, and once the secret's project is erased. */
  secret: z.string().nullable(),
})
export type AuditEntry = z.infer<typeof AuditEntry>

const filters = {
  /** Limits the list to entries of this person. */
  person: idOf('person', UserId).optional(),
  task: idOf('task', TaskId).optional(),
  from: Since.optional(),
  to: Until.optional(),
}

function idOf(what: string, id: z.ZodType) {
  return z.string().refine((given) => id.safeParse(given).success, {
    error: saying(`must be the id of a ${what}.`),
  })
}

const Cursor = z
  .string()
  .regex(/^[\d:.TZ-]{20,30}_\d{20,40}$/, { error: saying('must come from the page before.') })

/** Entries are sorted newest first. Each request for the audit log becomes an entry itself. */
export const listAuditLog = defineRead(adminRoutes.listAuditLog, {
  summary: 'The audit log, for administrators.',
  query: { ...filters, limit: queryNumber(200).default(auditLogPage), after: Cursor.optional() },
  answer: { entries: z.array(AuditEntry), next: z.string().nullable() },
  faults: ['forbidden'],
})

export const AuditExportLine = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('audit_log'),
    version: z.literal(1),
    exportedAt: Moment,
    filter: z.object({
      person: UserId.nullable(),
      task: TaskId.nullable(),
      from: Moment.nullable(),
      to: Moment,
    }),
  }),
  z.object({ kind: z.literal('entry'), ...AuditEntry.shape }),
  z.object({ kind: z.literal('end'), count: z.number() }),
])
export type AuditExportLine = z.infer<typeof AuditExportLine>

/**
 * NDJSON, oldest first: a line with the request, a line for each matching entry from before the export, and a line with the number of entries. A file
 * without that last line is incomplete. Each export becomes an entry itself.
 */
export const exportAuditLog = defineFile(adminRoutes.exportAuditLog, {
  summary: 'The audit log as a file with one JSON object per line, for administrators.',
  query: filters,
  file: { type: 'application/x-ndjson', name: 'audit-log.ndjson' },
  faults: ['forbidden'],
})
