/** A way to the dashboard that is gone to write a task: the description has the focus then. */

/** What such a way carries; another each time, so that going there twice is heard twice. */
export const toWrite = () => ({ toWrite: true })

export function wantsToWrite(state: unknown): boolean {
  return typeof state === 'object' && state !== null && 'toWrite' in state
}
