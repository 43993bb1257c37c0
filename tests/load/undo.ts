/** Steps to undo when something has ended, however it ended; the last one first. */

export interface Undo {
  readonly steps: number
  add(step: () => Promise<unknown>): void
  /** Undoes the steps beyond the first `above`. A step that fails is reported, and the others are still undone. */
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
