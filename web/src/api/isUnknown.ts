/** Kept apart from the other faults, because the pages that everybody loads first do not need it. */

/** Whether the task or project does not exist: its id is unknown or malformed. */
export function isUnknown(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('status' in error)) return false
  if (error.status === 404) return true
  return error.status === 400 && 'field' in error && (error.field === 'taskId' || error.field === 'projectId')
}
