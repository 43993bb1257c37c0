/**
 * The artifacts of a task, which are the files that its agent left for people: as the API lists them, and as the text of a pull request names them.
 */
import { artifactLimits } from '#domain/api/artifacts.ts'
import type { listArtifacts } from '#domain/api/artifacts.schema.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { artifactSection } from '#domain/task/codeHost/pullRequestArtifacts.ts'
import { logEntryOf, logView } from '#domain/views/commandLog.ts'
import type { AddressOf } from '#domain/views/images.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import type { Documents } from './documents.ts'

/** All artifacts of a task, oldest turn first. */
export async function artifactsOf(
  documents: Documents,
  taskId: string,
  addressOf: AddressOf,
): Promise<AnswerOf<typeof listArtifacts>['artifacts']> {
  const turns = await documents.find(logView, {
    where: { task: taskId, kind: 'artifact' },
    sort: { field: 'order', direction: 'ascending' },
    limit: artifactLimits.perTask,
  })
  return turns.flatMap((turn) => {
    const { artifacts = [], executionId, timestamp } = logEntryOf(turn, addressOf)
    return artifacts.map((artifact) => ({ ...artifact, executionId: executionId ?? '', keptAt: timestamp }))
  })
}

/** The text that names the artifacts of turns that were not undone, each name once; `undefined` when there are none. */
export async function artifactsForPullRequest(
  documents: Documents,
  { id: taskId, undone = [] }: Pick<TaskDocument, 'id' | 'undone'>,
  publicAddress: string | null,
): Promise<{ readonly count: number; readonly text: string } | undefined> {
  const artifacts = await artifactsOf(documents, taskId, () => '')
  const counting = artifacts.filter(({ executionId }) => !undone.includes(executionId))
  const names = [...new Set(counting.flatMap(({ name }) => name ?? []))]
  if (names.length === 0) return undefined
  const address = publicAddress === null ? null : `${publicAddress.replace(/\/+$/, '')}/tasks/${taskId}`
  return { count: names.length, text: artifactSection(names, address) }
}
