/** Whether an answer has the shape of a diff, as far as the screen relies on it. */
import type { GitDiff } from '#domain/api/tasks.schema.ts'

export function isGitDiff(value: unknown): value is GitDiff {
  if (!isRecord(value)) return false
  const { status, changedFiles, totalChanges, commitComparison } = value
  return (
    (status === 'ready' || status === 'pending_clone' || status === 'not_initialized') &&
    typeof totalChanges === 'number' &&
    isRecord(commitComparison) &&
    Array.isArray(changedFiles) &&
    changedFiles.every(
      (file) => isRecord(file) && typeof file['fileName'] === 'string' && typeof file['diff'] === 'string',
    )
  )
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
