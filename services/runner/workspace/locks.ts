/** Locks on tasks' workspaces: only one run, pull request, preparation or cleanup uses a workspace at a time. */

export interface WorkspaceLocks {
  /** Waits for the lock, in the order of the calls. Rejects if the signal aborts before the lock is held, but not later. */
  hold<T>(taskId: string, use: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Holds the lock and calls `use` if nobody else holds the lock or waits for it; otherwise returns `undefined`. */
  holdIfFree<T>(taskId: string, use: () => Promise<T>): Promise<T | undefined>
}

/** Makes the locks of a runner. Only this process uses the workspaces below its root. */
export function openLocks(): WorkspaceLocks {
  /** For each task, resolves when everybody who holds the lock or waits for it is done. */
  const last = new Map<string, Promise<void>>()

  async function hold<T>(taskId: string, use: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = last.get(taskId)
    let release = (): void => undefined
    const done = new Promise<void>((resolve) => (release = resolve))
    // If a caller gives up waiting, the next caller must still wait for the present holder.
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
