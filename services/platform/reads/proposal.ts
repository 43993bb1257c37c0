/** The proposal for a task's pull request, of what is recorded. */
import { z } from 'zod'
import { ChangedFile } from '#domain/api/tasks.schema.ts'
import type { BlobRef } from '#domain/kernel/ids.schema.ts'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import { proposePullRequest, type Proposal } from '#domain/task/codeHost/proposal.ts'
import { chatView } from '#domain/views/chat.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import type { Documents } from './documents.ts'
import { unlessDamaged, type SealedBlobs } from '../eventlog/sealedBlobs.ts'

interface Recorded {
  readonly documents: Documents
  readonly blobs: SealedBlobs
}

/** Messages that are looked through for what was asked and answered. */
const latestMessages = 200

/** Reads the diff and the chat, and makes the proposal; what was erased is left out. */
export async function proposalFor(services: Recorded, task: TaskDocument): Promise<Proposal> {
  const [messages, files] = await Promise.all([
    services.documents.find(chatView, {
      where: { task: task.id },
      sort: { field: 'order', direction: 'descending' },
      limit: latestMessages,
    }),
    changedFilesOf(services, task.id, task.recorded?.blob ?? null),
  ])
  const answered = messages.find(({ messageType }) => messageType === 'response')
  const asked = messages.flatMap(({ messageType, status, message }) =>
    messageType === 'user' && status !== 'queued' && message !== null ? [message] : [],
  )
  const { files: count = 0, additions = 0, deletions = 0 } = task.changes ?? {}
  return proposePullRequest({
    title: task.title,
    // That of a task that was made of an issue is a quotation for the agent: the pull request leads to the issue.
    description: task.issue ? '' : task.description,
    // The first message of all is the description.
    asked: asked.toReversed().filter((message) => message !== task.description),
    answered: answered?.message ?? null,
    files,
    totals: { files: count, additions, deletions },
  })
}

/** The files of a recorded diff; none when it is gone or damaged. */
export async function changedFilesOf(
  services: Pick<Recorded, 'blobs'>,
  taskId: string,
  blob: BlobRef | null,
): Promise<ChangedFile[]> {
  return (await recordedFilesOf(services, taskId, blob)) ?? []
}

/** The files of a recorded diff, which has none without a blob; `undefined` when the blob is gone or damaged. */
export async function recordedFilesOf(
  { blobs }: Pick<Recorded, 'blobs'>,
  taskId: string,
  blob: BlobRef | null,
): Promise<ChangedFile[] | undefined> {
  if (!blob) return []
  const bytes = await unlessDamaged(blobs.get(scopeOfStream(taskStream(taskId)), blob))
  return bytes && z.array(ChangedFile).parse(JSON.parse(Buffer.from(bytes).toString('utf8')))
}
