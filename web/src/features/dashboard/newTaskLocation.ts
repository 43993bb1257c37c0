/** The state of a navigation to the dashboard in order to write a task: the description then gets the focus. */
import { memberOf } from '../../api/memberOf.ts'

/** Returns a new object each time, so that a second navigation moves the focus too. */
export const newTaskState = () => ({ newTaskState: true })

export function isNewTask(state: unknown): boolean {
  return memberOf(state, 'newTaskState') === true
}
