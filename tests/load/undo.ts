/** What is to be undone when something has ended, however it ended; the last comes first. */

export interface Undo {
  readonly steps: number
  add(step: () => Promise<unknown>): void
  /** Undoes what was added after there were `above` steps. A step that fails is told, and the others are still taken. */
  downTo(above: number): Promise<void>
}

export function openUndo(): Undo {
  const steps: (() => Promise<unknown>)[] = []
  return {
    get steps() {
      return steps.length
    },
    add: (step) => void steps.push(step),
    async downTo(above) {
      while (steps.length > above) {
        try {
          await steps.pop()?.()
        } catch (fault) {
          console.error(fault)
        }
      }
    },
  }
}
