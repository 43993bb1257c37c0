/**
 * The routes that read figures: of the person's own tasks or, for administrators, of everybody's tasks. The audit log records each export, and each
 * request for everybody's figures.
 */
import { exportFigures, getFigures, type FiguresGroup } from '#domain/api/figures.schema.ts'
import { figuresLimits, type Scope } from '#domain/api/figures.ts'
import { RecordsExported, RecordsRead } from '#domain/audit.ts'
import { dayAfter, measures, weekOf, type Grouping, type Period } from '#domain/figures.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { recordAudit } from '#platform/access/auditLog.ts'
import { administrator, fresh, signedIn, type Person } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { cutGroups, groupsOf, sumFigures } from '../figures.ts'
import { route, type QueryServices } from '../services.ts'

export const figuresRoutes: readonly Route<QueryServices>[] = [
  route(getFigures, signedIn, fresh, async (request, services) => {
    const { by, scope } = request.query
    const period = periodOf(request.query, services)
    await allowed(RecordsRead, request, services, period)
    const { total, groups: all } = await figuresFor(request, services, period)
    const { groups, others } = cutGroups(all, by === 'week' ? all.length : figuresLimits.groups)
    const { mergedPullRequests } = total
    return { ...period, by, scope, total, groups: [...groups], others, mergedPullRequests }
  }),
  route(exportFigures, signedIn, fresh, async (request, services) => {
    const period = periodOf(request.query, services)
    await allowed(RecordsExported, request, services, period)
    const { groups } = await figuresFor(request, services, period)
    return table(request.query.by, groups)
  }),
]

interface Asking extends Person {
  readonly query: {
    readonly from?: string | undefined
    readonly to?: string | undefined
    readonly by: Grouping
    readonly scope: Scope
  }
  readonly commandId: string
  readonly requestId: string
}

function periodOf({ from, to }: Asking['query'], { clock }: QueryServices): Period {
  const end = to ?? clock.now().toISOString().slice(0, 10)
  const begin = from ?? dayAfter(weekOf(end), -7 * (figuresLimits.weeks - 1))
  if (begin > end) throw new Fault('invalid_input', 'The period ends before it begins.', 'to')
  if (dayAfter(begin, figuresLimits.days) <= end)
    throw new Fault('invalid_input', 'A period can be at most five years.', 'from')
  return { from: begin, to: end }
}

/** Throws unless the person may see the requested figures. Records the request if it is for everybody's figures, or if it is an export. */
async function allowed(
  kind: typeof RecordsRead | typeof RecordsExported,
  request: Asking,
  services: QueryServices,
  { from, to }: Period,
): Promise<void> {
  const isOwn = request.query.scope === 'own'
  if (isOwn && kind === RecordsRead) return
  if (!isOwn) await administrator(request, services)
  const event = kind.of({
    records: isOwn ? 'own_figures' : 'figures_of_everybody',
    personId: null,
    taskId: null,
    from: `${from}T00:00:00.000Z`,
    to: `${dayAfter(to, 1)}T00:00:00.000Z`,
  })
  const { actor, commandId, requestId } = request
  await recordAudit(services, event, { actor, commandId, correlationId: requestId })
}

async function figuresFor({ query, user }: Asking, { documents }: QueryServices, period: Period) {
  const { by, scope } = query
  const summed = await sumFigures(documents, { owner: scope === 'all' ? null : user.id, by, period })
  return { total: summed.total, groups: await groupsOf(documents, by, period, summed) }
}

/** The figures as CSV according to RFC 4180. The byte order mark tells spreadsheets that the text is in UTF-8. */
async function* table(by: Grouping, groups: readonly FiguresGroup[]): AsyncGenerator<string> {
  yield `\uFEFF${lineOf([by, 'name', ...measures])}`
  for (const { key, name, figures } of groups)
    yield lineOf([key ?? '', name ?? '', ...measures.map((measure) => String(figures[measure]))])
}

const lineOf = (cells: readonly string[]): string => `${cells.map(cellOf).join(',')}\r\n`

/** A cell of the table. A text that a spreadsheet would take for a formula gets an apostrophe before it. */
function cellOf(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
