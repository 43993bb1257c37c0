/** The proposed text for a task's pull request, and the files of its recorded diff. */
import { z } from 'zod'
import { ChangedFile } from '#domain/api/tasks.schema.ts'
import type { BlobRef } from '#domain/kernel/ids.schema.ts'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import { proposePullRequest, type Proposal } from '#domain/task/codeHost/pullRequestProposal.ts'
import { chatView } from '#domain/views/chat.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import type { Documents } from './documents.ts'
import { unlessDamaged, type SealedBlobs } from '../eventlog/sealedBlobs.ts'

const latestMessages = 200

/** Proposes the title and the text of the task's pull request from its recorded chat. Erased content is left out. */
export async function proposalFor(
  { documents }: { readonly documents: Documents },
  task: TaskDocument,
): Promise<Proposal> {
  const messages = await documents.find(chatView, {
    where: { task: task.id },
    sort: { field: 'order', direction: 'descending' },
    limit: latestMessages,
  })
  const answered = messages.find(({ messageType }) => messageType === 'response')
  const requests = messages.flatMap(({ messageType, status, message }) =>
    messageType === 'user' && status !== 'queued' && message !== null ? [message] : [],
  )
  return proposePullRequest({
    title: task.title,
    // The description of a task from an issue is a quotation for the agent, so it is left out: the pull request links to the issue.
    description: task.issue ? '' : task.description,
    // The first message is the description and is not repeated.
    asked: requests.toReversed().filter((message) => message !== task.description),
    answered: answered?.message ?? null,
    issue: task.issue?.number ?? null,
  })
}

interface Recorded {
  readonly blobs: SealedBlobs
}

/** The files of a recorded diff; empty when the diff is missing, erased or damaged. */
export async function changedFilesOf(
  services: Recorded,
  taskId: string,
  blob: BlobRef | null,
): Promise<ChangedFile[]> {
  return (await recordedFilesOf(services, taskId, blob)) ?? []
}

/** The files of a recorded diff: none for a diff without a blob, and `undefined` when the blob is missing, erased or damaged. */
export async function recordedFilesOf(
  { blobs }: Recorded,
  taskId: string,
  blob: BlobRef | null,
): Promise<ChangedFile[] | undefined> {
  if (!blob) return []
  const bytes = await unlessDamaged(blobs.get(scopeOfStream(taskStream(taskId)), blob))
  return bytes && z.array(ChangedFile).parse(JSON.parse(Buffer.from(bytes).toString('utf8')))
}
