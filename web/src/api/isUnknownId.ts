/** Recognizes errors about unknown ids. Separate from `fault.ts`, because the pages that everybody loads first do not need this file. */
import { memberOf, textOf } from './memberOf.ts'

/** Whether the task or project does not exist: its id is unknown or malformed. */
export function isUnknownId(error: unknown): boolean {
  const status = memberOf(error, 'status')
  return status === 404 || (status === 400 && ['taskId', 'projectId'].includes(textOf(error, 'field') ?? ''))
}
