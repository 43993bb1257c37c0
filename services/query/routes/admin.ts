/** The routes that read the audit log, for administrators. Each request is recorded before the answer, and is refused if it cannot be recorded. */
import {
  exportAuditLog,
  listAuditLog,
  type AuditEntry,
  type AuditExportLine,
} from '#domain/api/admin.schema.ts'
import { RecordsExported, RecordsRead } from '#domain/audit.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { Actor } from '#domain/kernel/event.ts'
import { auditOrder, auditLogView, namingSecrets, type AuditDocument } from '#domain/views/auditLog.ts'
import { usersView } from '#domain/views/users.ts'
import { recordAudit } from '#platform/access/auditLog.ts'
import { orElse } from '#platform/async/orElse.ts'
import { UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import { administrator, fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import type { Find } from '#platform/ports/readStore.ts'
import { route, type QueryServices } from '../services.ts'

const foldTimeoutMs = 10_000
const exportBatch = 500

interface Filter {
  readonly person?: string | undefined
  readonly task?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export const adminRoutes: readonly Route<QueryServices>[] = [
  route(listAuditLog, signedIn, fresh, administrator, async ({ query, ...request }, services) => {
    const { after, limit } = query
    await record(RecordsRead, { query, ...request }, services)
    const found = await page(services, query, { direction: 'descending', after, limit: limit + 1 })
    const shown = found.slice(0, limit)
    return {
      entries: await presented(services, shown),
      next: found.length > limit ? (shown.at(-1)?.order ?? null) : null,
    }
  }),
  route(exportAuditLog, signedIn, fresh, administrator, async ({ query, ...request }, services) => {
    const exportedAt = services.clock.now().toISOString()
    await record(RecordsExported, { query, ...request }, services)
    const to = query.to !== undefined && query.to < exportedAt ? query.to : exportedAt
    return exported(services, { ...query, to }, exportedAt)
  }),
]

interface AuditQuery {
  readonly query: Filter
  readonly actor: Actor
  readonly commandId: string
  readonly requestId: string
}

/** Records the request, and waits until the audit log's documents have all earlier events. */
async function record(
  kind: typeof RecordsRead | typeof RecordsExported,
  { query, actor, commandId, requestId }: AuditQuery,
  services: QueryServices,
): Promise<void> {
  const event = kind.of({
    records: 'audit_log',
    personId: query.person ?? null,
    taskId: query.task ?? null,
    from: query.from ?? null,
    to: query.to ?? null,
  })
  const position = await recordAudit(services, event, { actor, commandId, correlationId: requestId })
  if (!(await services.projected.waitFor(position, foldTimeoutMs))) throw new Fault('timeout')
}

interface Page {
  readonly direction: Find['sort']['direction']
  readonly after?: string | undefined
  readonly limit: number
}

/** A page of entries that match the filter. It begins after `after` or, by default, at the beginning or the end of the period. */
async function page(
  { documents }: QueryServices,
  { person, task, from, to }: Filter,
  { direction, after, limit }: Page,
): Promise<readonly AuditDocument[]> {
  const begin = direction === 'ascending' ? from : to
  const start = after ?? (begin === undefined ? undefined : auditOrder(begin))
  const found = await documents.find(auditLogView, {
    where: { ...(person === undefined ? {} : { person }), ...(task === undefined ? {} : { task }) },
    sort: { field: 'order', direction },
    limit,
    ...(start === undefined ? {} : { after: { value: start, id: '' } }),
  })
  return found.filter(
    ({ order }) => (from === undefined || order >= from) && (to === undefined || order < to),
  )
}

async function* exported(
  services: QueryServices,
  filter: Filter & { readonly to: string },
  exportedAt: string,
): AsyncGenerator<string> {
  const { person = null, task = null, from = null, to } = filter
  yield line({ kind: 'audit_log', version: 1, exportedAt, filter: { person, task, from, to } })
  let count = 0
  for (let after: string | undefined; ;) {
    const found = await page(services, filter, { direction: 'ascending', after, limit: exportBatch })
    const entries = await presented(services, found)
    count += entries.length
    if (entries.length > 0) yield entries.map((entry) => line({ kind: 'entry', ...entry })).join('')
    after = found.at(-1)?.order
    if (found.length < exportBatch) break
  }
  yield line({ kind: 'end', count })
}

const line = (value: AuditExportLine): string => `${JSON.stringify(value)}\n`

/** The entries as the API shows them, with the names of people and of secrets, except for names that were erased or cannot be read. */
export async function presented(
  { documents, log }: Pick<QueryServices, 'documents' | 'log'>,
  entries: readonly AuditDocument[],
): Promise<AuditEntry[]> {
  const ids = entries.flatMap(({ person }) => (person === null ? [] : [person]))
  const people = await documents.getMany(usersView, [...new Set(ids)])
  return Promise.all(
    entries.map(async (entry) => {
      const { person, stream, order: _order, position: _position, version, ...shown } = entry
      return {
        ...shown,
        person: person === null ? null : { id: person, name: people.get(person)?.name ?? null },
        secret: namingSecrets.includes(entry.action) ? await secretNamed(log, stream, version) : null,
      }
    }),
  )
}

async function secretNamed(
  log: QueryServices['log'],
  stream: string,
  revision: number,
): Promise<string | null> {
  const [event] = await log.read(stream, revision, 1).catch(orElse(UnreadableEvent, []))
  const isNaming = event?.type === 'ProjectSecretSet' || event?.type === 'ProjectSecretRemoved'
  return isNaming ? (event.content?.name ?? null) : null
}
