/** A way to the dashboard that is gone to write a task: the description has the focus then. */

/** What such a way carries; another each time, so that going there twice is heard twice. */
export const newTaskState = () => ({ newTaskState: true })

export function isNewTask(state: unknown): boolean {
  return typeof state === 'object' && state !== null && 'newTaskState' in state
}
