/** The navigation state that opens the dashboard for writing a task: the description gets the focus. */
import { memberOf } from '../../api/memberOf.ts'

/** Returns a new object each time, so that a second navigation moves the focus too. */
export const newTaskState = () => ({ newTaskState: true })

export function isNewTask(state: unknown): boolean {
  return memberOf(state, 'newTaskState') === true
}
