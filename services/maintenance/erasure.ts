/**
 * Erases what was deleted: a task, a project with its tasks, or an account with everything it owns. A task's branches at the code host are deleted
 * before its key is destroyed, since that key encrypts their names. Then its blobs, its documents and the database pages that contained them are
 * removed. Each step may be repeated, and an interrupted job is delivered again.
 */
import type { Position, RecordedOf } from '#domain/kernel/event.ts'
import type { LogIdentity } from '#domain/log.ts'
import { imageStream, parseStream, projectStream, scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { BlobRef } from '#domain/kernel/ids.schema.ts'
import { TaskDeleted, type TaskEvent } from '#domain/task/events.ts'
import { ProjectDeleted } from '#domain/project/events.ts'
import { projectDecider } from '#domain/project/project.ts'
import { task } from '#domain/task/task.ts'
import { views } from '#domain/views/registry.ts'
import { imagesView } from '#domain/views/images.ts'
import { projectsView } from '#domain/views/projects.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { AnyRecorded, View, ViewDocument } from '#domain/views/view.ts'
import { orElse } from '#platform/async/orElse.ts'
import type { Engines } from '#platform/compose.ts'
import { eachAlone } from '#platform/async/eachAlone.ts'
import { commandsFrom } from '#platform/commands/causation.ts'
import { goneWith } from '#platform/reads/documents.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { pagesOf } from '#platform/reads/documentPages.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import { CodeHostFault, type CodeHost } from '#platform/ports/codeHost.ts'
import { intact, type EventFilter, type EventStore } from '#platform/ports/eventStore.ts'
import { deletions, erasureJob, isDeletion } from '#platform/commands/requestedJobs.ts'
import type { Jobs, Worker } from '#platform/ports/jobs.ts'
import { discardImage } from './imageSweep.ts'
import { madeInLog, type Made, type MadeInLog } from './madeInLog.ts'
import { deletePushedBranches } from './pushedBranches.ts'

type Erasing = ErasureEngines & { readonly made: MadeInLog }

export interface ErasureEngines extends Pick<
  Engines,
  | 'eventStore'
  | 'readStore'
  | 'vault'
  | 'blobs'
  | 'jobs'
  | 'log'
  | 'commands'
  | 'documents'
  | 'projected'
  | 'projectSecrets'
  | 'mcpHeaders'
  | 'ids'
  | 'logger'
> {
  readonly access: Pick<HostAccess, 'end' | 'tokenOf'>
  readonly codeHost: Pick<CodeHost, 'branch' | 'deleteBranch' | 'isInOpenPullRequest'>
}

const deletionsOf: EventFilter = { streams: ['task-', 'project-', 'user-'], types: deletions }

/**
 * Queues the erasure of everything that was ever deleted, once for each queue: a queue without the mark is new, or was lost with its jobs. Jobs that
 * the queue still has stay as they are, and erasing twice does no harm.
 */
export async function sweepErasures({
  eventStore,
  jobs,
  logIdentity: { logId, epoch },
}: {
  readonly eventStore: Pick<EventStore, 'readAll' | 'head'>
  readonly jobs: Pick<Jobs, 'put' | 'mark' | 'marked'>
  readonly logIdentity: LogIdentity
}): Promise<void> {
  const mark = `erasures-${logId}-${epoch}`
  if ((await jobs.marked(mark)) !== null) return
  // The dispatcher queues the deletions that are recorded after `head`.
  const head = await eventStore.head()
  if (head === null) return
  for (let after: Position | null = null; ;) {
    const found = await eventStore.readAll(after, readBatch, deletionsOf)
    for (const event of intact(found)) await jobs.put(erasureJob(event))
    after = found.at(-1)?.position ?? after
    if (found.length < readBatch) break
  }
  await jobs.mark(mark, head)
}

const leaseMs = 30_000
const renewMs = 10_000
const projectionTimeoutMs = 10_000
const readBatch = 1_000
const page = 100

/** Handles erasure jobs until it is stopped. */
export function startErasure(engines: ErasureEngines): Worker {
  const made = madeInLog(engines)
  return engines.jobs.work('erasure', { concurrency: 2, leaseMs }, async (delivery) => {
    const { stream = '', correlationId, causationId = null } = delivery.job.payload
    const origin = correlationId === undefined ? {} : { correlationId, causationId }
    const renewal = setInterval(() => {
      // If the lease is lost, another process repeats the erasure, which does no harm.
      delivery.working().catch(() => clearInterval(renewal))
    }, renewMs)
    try {
      await erase({ ...engines, made, commands: commandsFrom(engines.commands, origin) }, stream)
      engines.logger.info({ stream }, 'erased')
      await delivery.ack()
    } finally {
      clearInterval(renewal)
    }
  })
}

/** Erases everything that belongs to a stream whose last event is a deletion. */
async function erase(engines: Erasing, stream: string): Promise<void> {
  const [deletion] = await engines.log.readBackwards(stream, 'end', 1)
  if (!deletion || !isDeletion(deletion)) throw new Error(`${stream} was not deleted.`)
  const name = parseStream(stream)
  switch (name.kind) {
    case 'task':
      return eraseTask(engines, name.id, deletion)
    case 'project':
      return eraseProject(engines, name.id, deletion)
    case 'user':
      return eraseAccount(engines, name.id, deletion)
    default:
      throw new Error(`${stream} cannot be erased.`)
  }
}

async function eraseTask(engines: Erasing, taskId: string, deletion: AnyRecorded): Promise<void> {
  const { vault, log, blobs, readStore } = engines
  const stream = taskStream(taskId)
  await deletePushedBranches(engines, [taskId])
  await vault.destroy(scopeOfStream(stream))
  for await (const event of readableEvents(log, stream, deletion.revision)) {
    for (const ref of blobsOf(event)) await blobs.remove(ref)
    // The task had copies of uploaded images. The uploads are discarded too; otherwise they would be kept for a day in case another message uses
    // them.
    if (event.type === 'MessageQueued')
      await eachAlone(event.data.images, ({ imageId }) => discardImage(engines, imageId), {
        logger: engines.logger,
        what: 'failed to discard an image of a deleted task',
        name: ({ imageId }) => ({ stream: imageStream(imageId) }),
      })
  }
  await removeDocuments(engines, deletion)
  await readStore.scrub()
}

/** The events of a task up to its last revision, without unreadable ones. */
async function* readableEvents(
  log: Pick<EventLog, 'read'>,
  stream: string,
  last: number,
): AsyncGenerator<RecordedOf<TaskEvent>> {
  for (let from = 0, limit = readBatch; from <= last;) {
    const events = await log.read(stream, from, limit).catch(orElse(UnreadableEvent, undefined))
    // Reads one event at a time around a damaged record.
    if (events === undefined && limit > 1) {
      limit = 1
      continue
    }
    yield* (events ?? []) as readonly RecordedOf<TaskEvent>[]
    from += events?.length || 1
  }
}

function blobsOf(event: RecordedOf<TaskEvent>): readonly BlobRef[] {
  switch (event.type) {
    case 'MessageQueued':
      return event.data.images.map(({ blob }) => blob)
    case 'ToolImagesKept':
      return event.data.images.map(({ blob }) => blob)
    case 'ArtifactKept':
      return [event.data.blob]
    case 'WorkspaceChanged':
      return event.data.blob ? [event.data.blob] : []
    case 'WorkSaved':
    case 'WorkspaceSnapshotTaken':
    case 'TaskCreatedFromTurn':
      return [event.data.bundle, event.data.session?.blob ?? null].filter((blob) => blob !== null)
    default:
      return []
  }
}

async function eraseProject(engines: Erasing, projectId: string, deletion: AnyRecorded): Promise<void> {
  const { vault, projectSecrets, mcpHeaders, readStore } = engines
  await projectSecrets.destroy(projectId)
  await mcpHeaders.destroy(projectId)
  await removeDocuments(engines, deletion)
  await deleteEach(engines, deletion, tasksView, { projectId }, taskStream, (id, cause) =>
    engines.commands.execute(task, taskStream(id), { type: 'DeleteTask' }, cause),
  )
  // Lists the tasks from the log, because a task that was deleted earlier, or by an interrupted attempt, may not be erased yet.
  const made = (await engines.made()).filter((one) => one.kind === 'task' && one.projectId === projectId)
  await deletePushedBranches(engines, idsOf(made))
  await vault.destroy(scopeOfStream(deletion.stream))
  await readStore.scrub()
}

async function eraseAccount(engines: Erasing, userId: string, deletion: AnyRecorded): Promise<void> {
  const { vault, access, mcpHeaders, readStore, logger } = engines
  await mcpHeaders.destroy(userId)
  await removeDocuments(engines, deletion)
  await deleteEach(engines, deletion, projectsView, { owner: userId }, projectStream, (id, cause) =>
    engines.commands.execute(projectDecider, projectStream(id), { type: 'DeleteProject' }, cause),
  )
  await deleteEach(engines, deletion, tasksView, { owner: userId }, taskStream, (id, cause) =>
    engines.commands.execute(task, taskStream(id), { type: 'DeleteTask' }, cause),
  )
  const made = (await engines.made()).filter((one) => one.ownerId === userId)
  await deletePushedBranches(engines, idsOf(made))
  await access.end(userId).catch((fault: unknown) => {
    // The account's keys are destroyed below, so the access is lost in any case; at the code host it expires, or the person ends it.
    if (!(fault instanceof CodeHostFault)) throw fault
    logger.warn({ err: fault, userId }, 'failed to revoke the code host access of a deleted account')
  })
  await deleteEach(engines, deletion, imagesView, { owner: userId }, imageStream, (id) =>
    discardImage(engines, id),
  )
  for (const { kind, stream } of made) if (kind === 'request') await vault.destroy(scopeOfStream(stream))
  await vault.destroy(scopeOfStream(deletion.stream))
  await readStore.scrub()
}

function idsOf(made: readonly Made[]): readonly string[] {
  return made.flatMap((one) => (one.kind === 'task' ? [one.taskId] : []))
}

type Causing = Parameters<Commands['execute']>[3]

/**
 * Deletes each item that `view` lists for `where`, because of `deletion`. An item that somebody else has deleted in the meantime counts as done. A
 * damaged stream cannot record its deletion, but is erased all the same.
 */
async function deleteEach<D extends ViewDocument & { readonly order: string }>(
  engines: Erasing,
  deletion: AnyRecorded,
  view: View<D>,
  where: Readonly<Record<string, string>>,
  streamOf: (id: string) => string,
  remove: (id: string, cause: Causing) => Promise<unknown>,
): Promise<void> {
  for await (const found of pagesOf(engines.documents, view, { where, limit: page }))
    for (const { id, version } of found) {
      const cause = { actor: { kind: 'system', service: 'command' }, commandId: engines.ids.uuid() } as const
      await remove(id, cause).catch(async (fault: unknown) => {
        if (fault instanceof UnreadableEvent) {
          engines.logger.warn({ err: fault, stream: streamOf(id) }, 'erased what a damaged record holds')
          await eraseDamaged(engines, streamOf(id), version, deletion)
        } else if (!(fault instanceof Fault && fault.code === 'not_found')) throw fault
      })
    }
}

/** Erases a damaged stream as if its deletion were recorded after `revision`, together with the deletion of what the stream belongs to. */
async function eraseDamaged(
  engines: Erasing,
  stream: string,
  revision: number,
  { id, version, at, meta, position }: AnyRecorded,
): Promise<void> {
  // The documents may have been marked as damaged at any position up to the head.
  const head = (await engines.eventStore.head()) ?? position
  const place = { id, stream, revision, position: head, version, at, meta }
  const name = parseStream(stream)
  if (name.kind === 'task') await eraseTask(engines, name.id, { ...place, ...TaskDeleted.of({}) })
  else {
    // First, because a repeated erasure would not find a project without its document.
    await engines.vault.destroy(scopeOfStream(stream))
    if (name.kind === 'project') await eraseProject(engines, name.id, { ...place, ...ProjectDeleted.of({}) })
  }
}

/**
 * Removes the documents that end with the deletion, once the read models contain it, since they may lack documents before that. The projection
 * removes them itself, except those of a stream in quarantine, and of tasks that were deleted while an earlier version of Flightdeck ran. Throws
 * after `projectionTimeoutMs`.
 */
async function removeDocuments(
  { projected, documents, readStore }: Pick<ErasureEngines, 'projected' | 'documents' | 'readStore'>,
  deletion: AnyRecorded,
): Promise<void> {
  const { position } = deletion
  if (!(await projected.waitFor(position, projectionTimeoutMs)))
    throw new Error('The read models are not as far as the deletion yet.')
  for (const view of views) {
    const { collection } = view
    const touched = await documents.getMany(view, view.touches(deletion))
    const ended = [...touched].filter(([id, document]) => view.evolve(document, deletion, id) === undefined)
    const ids = [...(await goneWith(readStore, view, deletion)), ...ended.map(([id]) => id)]
    await readStore.apply(
      ids.map((id) => ({ kind: 'remove', collection, id, position })),
      { projection: 'erased documents', position },
    )
  }
}
