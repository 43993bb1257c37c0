/** Who has a task's workspace: one run, pull request, preparation or clean-up at a time. */

export interface WorkspaceLocks {
  /** Waits until nobody else has it, in the order of asking. Rejects when the signal aborts before; not afterwards. */
  hold<T>(taskId: string, use: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** The same where nobody has it now, nor waits for it; `undefined` otherwise. */
  holdIfFree<T>(taskId: string, use: () => Promise<T>): Promise<T | undefined>
}

/** Opens the locks of a runner, which alone has the workspaces below its root. */
export function openLocks(): WorkspaceLocks {
  /** When the last who asked is done. */
  const last = new Map<string, Promise<void>>()

  async function hold<T>(taskId: string, use: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = last.get(taskId)
    let release = (): void => undefined
    const done = new Promise<void>((resolve) => (release = resolve))
    // Who gives up waiting does not let the next one in earlier.
    const ended = async (): Promise<void> => {
      await before
      await done
      if (last.get(taskId) === mine) last.delete(taskId)
    }
    const mine: Promise<void> = ended()
    last.set(taskId, mine)
    try {
      if (before) await orAborted(before, signal)
      signal?.throwIfAborted()
      return await use()
    } finally {
      release()
    }
  }

  return {
    hold,
    async holdIfFree(taskId, use) {
      return last.has(taskId) ? undefined : hold(taskId, use)
    },
  }
}

async function orAborted(waiting: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return waiting
  let give = (): void => undefined
  const aborted = new Promise<void>((resolve) => (give = resolve))
  signal.addEventListener('abort', give, { once: true })
  if (signal.aborted) give()
  await Promise.race([waiting, aborted])
  signal.removeEventListener('abort', give)
}
