/** Apart from the other faults, since the pages that everybody loads first do not need it. */

/** Whether there is no such task or project: its id is unknown, or none at all. */
export function isUnknown(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('status' in error)) return false
  if (error.status === 404) return true
  return error.status === 400 && 'field' in error && (error.field === 'taskId' || error.field === 'projectId')
}
