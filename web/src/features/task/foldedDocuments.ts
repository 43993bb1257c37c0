/** Documents of the open task, such as its messages and tool calls: read from the server and updated with the task's events. Pure. */
import type { TaskEventMessage, TaskStatusChanged } from '#domain/api/socket.schema.ts'
import { type Position, sortKey } from '#domain/kernel/event.ts'
import { belongs, project, type View, type ViewDocument } from '#domain/views/view.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import type { MessageDocument } from '#domain/views/chat.ts'
import { currentBranchOf, shownOf, type TaskDocument, tasksView } from '#domain/views/tasks.ts'
import type { ApiFault } from '../../api/fault.ts'
import { statusOf } from '../tasks/taskStatus.ts'

/** The loading state of a part that is read from the server. */
export type Load =
  | { readonly kind: 'loading' }
  | { readonly kind: 'loaded' }
  | { readonly kind: 'failed'; readonly fault: ApiFault }

/** Documents by id, folded up to the revision `at` of the task's stream; `at` is `-1` before the first snapshot. */
export interface Folded<D extends ViewDocument> {
  readonly at: number
  readonly documents: Readonly<Record<string, D>>
  readonly load: Load
  /** The server has older documents before this position; `null` when it has none. */
  readonly before: Position | null
}

export const loading: Load = { kind: 'loading' }
export const loaded: Load = { kind: 'loaded' }
export const unread = { at: -1, documents: {}, load: loading, before: null }

/** Folds events into documents; events that the snapshot covers change nothing. */
export function fold<D extends ViewDocument>(
  view: View<D>,
  folded: Folded<D>,
  events: readonly TaskEventMessage[],
): Folded<D> {
  let { at } = folded
  const changes = new Map<string, D | undefined>()
  for (const event of events) {
    if (event.revision <= at) continue
    at = event.revision
    const gone = view.goneWith?.(event)
    if (gone)
      for (const [id, document] of [...Object.entries(folded.documents), ...changes])
        if (document !== undefined && belongs(document, gone)) changes.set(id, undefined)
    for (const id of view.touches(event)) {
      const before = changes.has(id) ? changes.get(id) : folded.documents[id]
      changes.set(id, project(view, before, event, id))
    }
  }
  if (at === folded.at) return folded
  if (changes.size === 0) return { ...folded, at }
  const documents = { ...folded.documents }
  for (const [id, document] of changes) {
    if (document === undefined) delete documents[id]
    else documents[id] = document
  }
  return { ...folded, at, documents }
}

/** Applies a chat message, which is received instead of its event, to the document with the message's id. */
export function withMessageIn<D extends ViewDocument>(
  folded: Folded<D>,
  { id, version, isVisible, isEdited }: MessageDocument,
  change: (known: D | undefined) => D | undefined,
): Folded<D> {
  if (version <= folded.at) return folded
  const { [id]: known, ...others } = folded.documents
  if (!isVisible) return { ...folded, at: version, documents: others }
  // Clients choose ids, so a second message with the same id is ignored. An edited message that is unknown is older than the loaded page.
  const changed = isEdited === (known !== undefined) ? change(known) : undefined
  const documents = changed === undefined ? folded.documents : { ...others, [id]: changed }
  return { ...folded, at: version, documents }
}

interface Placed extends ViewDocument {
  readonly order: string
  readonly position: Position
  readonly status: string
}

/** The newest documents, oldest first, as read from the server. */
export interface Page<D> {
  readonly documents: readonly D[]
  /** Older documents that a later event may still change, such as tool calls that are running. */
  readonly open?: readonly D[]
  readonly version: number
  readonly more?: boolean | undefined
}

/** Replaces the known documents with a newly read page, unless the known documents are newer. */
export function snapshot<D extends Placed>(
  folded: Folded<D>,
  { documents, open = [], version, more = false }: Page<D>,
): Folded<D> {
  if (version < folded.at) return { ...folded, load: loaded }
  const [oldest] = documents
  const read = byId([...open, ...documents])
  const before = more && oldest !== undefined ? oldest.position : null
  // Earlier pages are kept only if this page follows them without a gap and all their documents are finished, so that none of them can have changed.
  const follows = more && oldest !== undefined && documents.some(({ id }) => id in folded.documents)
  const older = follows
    ? Object.values(folded.documents).filter(({ id, order }) => order < oldest.order && !(id in read))
    : []
  if (older.length === 0 || !older.every(({ status }) => isOver(status)))
    return { at: version, documents: read, load: loaded, before }
  return { at: version, documents: { ...byId(older), ...read }, load: loaded, before: folded.before }
}

function byId<D extends ViewDocument>(documents: readonly D[]): Record<string, D> {
  return Object.fromEntries(documents.map((document) => [document.id, document]))
}

function isOver(status: string): boolean {
  return status !== 'queued' && status !== 'running' && status !== 'pending'
}

/** Adds documents before the known ones, oldest first; known documents take precedence. `more` says whether the server has still older ones. */
export function withEarlier<D extends Placed>(
  folded: Folded<D>,
  documents: readonly D[],
  more: boolean,
): Folded<D> {
  const [oldest] = documents
  const before = folded.before === null || !more ? null : (oldest?.position ?? folded.before)
  return { ...folded, documents: { ...byId(documents), ...folded.documents }, before }
}

export function failed<D extends ViewDocument>(folded: Folded<D>, fault: ApiFault): Folded<D> {
  return { ...folded, load: { kind: 'failed', fault } }
}

/** The task after events; `null` when one of them deletes the task. Events that the task already includes change nothing. */
export function foldTask(task: Task, events: readonly TaskEventMessage[]): Task | null {
  const newer = events.filter(({ revision }) => revision > task.version)
  if (newer.length === 0) return task
  let document = documentOf(task)
  for (const event of newer) {
    const after = project(tasksView, document, event, task.id)
    if (after === undefined) return null
    document = after
  }
  // `status` and `progress` depend on more than the API shows, so they are not computed here: the server sends both with each event.
  return {
    ...shownOf(document),
    project: task.project,
    images: task.images,
    currentBranch: currentBranchOf(document) ?? task.currentBranch,
    status: task.status,
    progress: task.progress,
  }
}

/** The task with the last status that was received, unless the task was read at a later revision; `readAt` is the revision of the read. */
export function withStatus(task: Task, status: TaskStatusChanged | null, readAt: number): Task {
  if (status === null || status.version <= readAt) return task
  return { ...task, status: statusOf(status.status), progress: status.progress }
}

/** A task's document, made from the fields that the API shows. All other fields have their initial values. */
function documentOf({
  project: _project,
  images: _images,
  currentBranch: _currentBranch,
  ...shown
}: Task): TaskDocument {
  return {
    ...shown,
    order: sortKey(shown.position),
    executions: shown.execution?.turn ?? 0,
    statusBefore: 'pending',
    workspace: 'none',
    toolCalls: 0,
    recorded: null,
    pullRequestWords: null,
    autoUpdate: false,
    images: [],
  }
}
