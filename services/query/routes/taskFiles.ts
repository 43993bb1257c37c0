/** The route that reads a task's files, for which it asks a runner. */
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { findTaskFiles, type TaskFile } from '#domain/api/taskFiles.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { BlobRef } from '#domain/kernel/ids.schema.ts'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import { task as decider } from '#domain/task/task.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import { unlessDamaged } from '#platform/eventlog/sealedBlobs.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import type { RpcRequest } from '#platform/ports/rpc.ts'
import { ifAny, ownTask, route, type QueryServices } from '../services.ts'

/** How long to wait for a runner, which may have to fetch the repository first. */
const runnerTimeoutMs = 15_000

const notReadable =
  "The files can't be read right now: no runner has this task's repository available, or reading it took too long."

export const taskFileRoutes: readonly Route<QueryServices>[] = [
  route(findTaskFiles, signedIn, fresh, ownTask, async ({ task, query }, services) => {
    const { search, path, download } = query
    if (path === undefined) {
      const found = await ask(task, { kind: 'search', search }, services)
      return { files: found?.kind === 'found' ? [...found.files] : [] }
    }
    return atPath(task, { kind: 'path', path, download: download === 'true' }, services)
  }),
]

type Read = RpcRequest<'taskFiles'>['read']

/** The answer of a runner about the task's files; `undefined` without an answer. Throws UnreadableEvent when the task's stream is damaged. */
async function ask(task: TaskDocument, read: Read, { rpc, commands }: QueryServices) {
  const { id: taskId, projectId, owner: ownerId, branch, workingBranch } = task
  const { state } = await commands.load(decider, taskStream(taskId))
  const saved = state.kind === 'task' ? (state.saved?.bundle ?? null) : null
  return ifAny(
    rpc.call(
      'taskFiles',
      { taskId, projectId, ownerId, branch, workingBranch, saved, read },
      runnerTimeoutMs,
    ),
  )
}

async function atPath(
  task: TaskDocument,
  read: Extract<Read, { kind: 'path' }>,
  services: QueryServices,
): Promise<AnswerOf<typeof findTaskFiles>> {
  const answer = await ask(task, read, services)
  switch (answer?.kind) {
    case undefined:
    case 'found':
      throw new Fault('not_initialized', notReadable)
    case 'missing':
      throw new Fault('not_found', 'There is no such file in this task.', 'path')
    case 'folder':
      return { entries: [...answer.entries], leftOut: answer.leftOut, from: answer.from }
    case 'file': {
      const { file, content, from } = answer
      const isText = file.kind === 'text' && !read.download
      const filled = content && (await contentOf(task, content, isText ? 'utf8' : 'base64', services))
      return { file: filled === null ? file : { ...file, content: filled }, from }
    }
  }
}

/** Reads and removes the blob that the runner made only for this answer. If the blob cannot be removed, the sweep removes it later. */
async function contentOf(
  task: TaskDocument,
  blob: BlobRef,
  encoding: 'utf8' | 'base64',
  { blobs }: QueryServices,
): Promise<NonNullable<TaskFile['content']>> {
  const bytes = await unlessDamaged(blobs.get(scopeOfStream(taskStream(task.id)), blob))
  await blobs.remove(blob).catch(() => undefined)
  if (!bytes) throw new Fault('not_initialized', notReadable)
  return Buffer.from(bytes).toString(encoding)
}
