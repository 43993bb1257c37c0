/** The routes that read a task's history, its changes at a past moment, the state of its record, its audit bundle, and the log's seals. */
import { RecordsExported, type AuditedRecords } from '#domain/audit.ts'
import {
  getRecordedChanges,
  getSeals,
  getTaskAudit,
  getTaskHistory,
  getTaskRecord,
} from '#domain/api/history.schema.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { GitDiff } from '#domain/api/tasks.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { RecordedOf } from '#domain/kernel/event.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { TaskEvent } from '#domain/task/events.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import { orElse } from '#platform/async/orElse.ts'
import { recordAudit } from '#platform/access/auditLog.ts'
import { UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import { fresh, identified, signedIn, type Person } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { readableSeal } from '#platform/seals/recordedSeals.ts'
import { signingKeys } from '#platform/seals/signingKeys.ts'
import { recordedFilesOf } from '#platform/reads/pullRequestProposal.ts'
import { auditedTask, route, ownTask, type QueryServices } from '../services.ts'
import { taskAudit } from '../taskAudit.ts'
import { historyPage, joinedPage } from '../taskHistory.ts'

type WorkspaceChanged = Extract<RecordedOf<TaskEvent>, { type: 'WorkspaceChanged' }>

export const historyRoutes: readonly Route<QueryServices>[] = [
  route(getTaskHistory, signedIn, fresh, ownTask, async ({ task, query, ...request }, services) => {
    const isFirst = query.after === undefined
    if (query.export !== undefined && isFirst) await exported('saved_replay', task, request, services)
    const page = await historyPage(services.log, task.id, query)
    return query.pieces === 'joined' ? joinedPage(page) : page
  }),
  route(getRecordedChanges, signedIn, fresh, ownTask, async ({ task, query }, services) => {
    const changed = await changesAt(services, task.id, query.revision)
    if (changed === null) return { data: { ...nothingChanged, baseBranch: task.branch }, kept: true }
    const files = await recordedFilesOf(services, task.id, changed.data.blob)
    return { data: diffOf(changed, files ?? []), kept: files !== undefined }
  }),
  route(getTaskRecord, signedIn, fresh, ownTask, async ({ task }, { taskRecords }) =>
    taskRecords.of(task.id),
  ),
  route(getSeals, identified, fresh, async (_asked, services) => sealsOf(services)),
  route(getTaskAudit, signedIn, fresh, auditedTask, async ({ task, query, ...request }, services) => {
    await exported('audit_bundle', task, request, services)
    const { withhold: withheld, seal: sizes } = query
    return taskAudit(services, { taskId: task.id, isDeleted: task.isDeleted, withheld, sizes })
  }),
]

/** The newest seal of the log, and the keys that sign seals. */
async function sealsOf({
  eventStore,
  vault,
  logIdentity,
}: QueryServices): Promise<AnswerOf<typeof getSeals>> {
  const [newest, keys] = await Promise.all([
    readableSeal(eventStore, logIdentity),
    signingKeys(vault, logIdentity),
  ])
  return {
    ...logIdentity,
    seal: newest === undefined ? null : { at: newest.at, size: newest.seal.size },
    keys: [...(keys?.published ?? [])],
  }
}

/** Records in the audit log that a person gets a copy of the task's history. */
async function exported(
  records: AuditedRecords,
  task: Pick<TaskDocument, 'id'>,
  { actor, commandId, requestId }: Person & { readonly commandId: string; readonly requestId: string },
  services: QueryServices,
): Promise<void> {
  const event = RecordsExported.of({ records, personId: null, taskId: task.id, from: null, to: null })
  await recordAudit(services, event, { actor, commandId, correlationId: requestId })
}

const readAtOnce = 200
const nothingChanged: GitDiff = {
  status: 'ready',
  exists: true,
  changedFiles: [],
  totalChanges: 0,
  currentBranch: '',
  commitComparison: { ahead: 0, behind: 0 },
  baseBranch: '',
  truncated: false,
  tree: null,
  version: 0,
}

/** The last changes that were recorded up to a revision of the task; `null` when none were. Throws `not_found` when the log cannot show this. */
async function changesAt(
  { log }: QueryServices,
  taskId: string,
  revision: number,
): Promise<WorkspaceChanged | null> {
  for (let from = revision; from >= 0; from -= readAtOnce) {
    const events = await log
      .readBackwards(taskStream(taskId), from, readAtOnce)
      .catch(orElse(UnreadableEvent, []))
    if (events[0]?.revision !== from) throw new Fault('not_found', 'There is no such moment in this task.')
    for (const event of events) if (event.type === 'WorkspaceChanged') return event
  }
  return null
}

function diffOf(
  { data, content, revision }: WorkspaceChanged,
  changedFiles: GitDiff['changedFiles'],
): GitDiff {
  return {
    status: 'ready',
    exists: true,
    changedFiles,
    totalChanges: data.files,
    currentBranch: content?.currentBranch ?? '',
    commitComparison: { ahead: data.ahead, behind: data.behind },
    baseBranch: content?.baseBranch ?? '',
    truncated: data.truncated,
    tree: content?.tree ?? null,
    version: revision,
  }
}
