/** The lines around a file's changes, as they were before, from the runner that has the workspace. */
import { mostFileLines } from '#domain/api/tasks.ts'
import type { getFileLines } from '#domain/api/tasks.schema.ts'
import type { AnswerOf, QueryOf } from '#domain/api/call.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import { changedFilesOf } from '#platform/reads/proposal.ts'
import type { QueryServices } from './services.ts'

const withinMs = 10_000

/**
 * Lines of a file that is among the recorded changes. What is read is content that git names in the recorded diff, never a
 * path: so the lines fit the diff however far the work has gone on, and no name and no link leads elsewhere.
 * Throws `Fault`: not_found for a file without changes or without an earlier content, not_initialized when nobody has the workspace.
 */
export async function fileLines(
  task: TaskDocument,
  { path, from, to }: QueryOf<typeof getFileLines>,
  services: Pick<QueryServices, 'blobs' | 'rpc'>,
): Promise<AnswerOf<typeof getFileLines>> {
  if (to < from) throw new Fault('invalid_input', 'The last line comes before the first.', 'to')
  const files = await changedFilesOf(services, task.id, task.recorded?.blob ?? null)
  const file = files.find(({ fileName }) => fileName === path)
  if (!file) throw new Fault('not_found', 'The task did not change a file with this name.', 'path')
  const blob = blobBefore(file.diff)
  if (blob === null) throw new Fault('not_found', 'There is no earlier version of this file.', 'path')
  const last = Math.min(to, from + mostFileLines - 1)
  const answer = await services.rpc.ask('lines', { taskId: task.id, blob, from, to: last }, withinMs)
  if (!answer)
    throw new Fault(
      'not_initialized',
      "The lines can't be read right now: no runner has this task's repository available.",
    )
  return { from, lines: [...answer.lines], total: answer.total }
}

/** Git's id of a file's earlier content; `null` for a new file, a binary one, and a diff that does not say. */
export function blobBefore(diff: string): string | null {
  // Only what is above the first lines of content is git's own word; a name with a line break in it is quoted there.
  const firstHunk = diff.indexOf('\n@@ ')
  if (firstHunk === -1) return null
  const name = /^index ([0-9a-f]{40,64})\.\./m.exec(diff.slice(0, firstHunk))?.[1]
  return name === undefined || /^0+$/.test(name) ? null : name
}
