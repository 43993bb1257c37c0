/** Leases within a single process: the first caller holds the name until it stops, and then the next caller holds it. */
import { setTimeout as pause } from 'node:timers/promises'
import type { ReportFault } from '../ports/faults.ts'
import type { RunningWork, Leases } from '../ports/leases.ts'
import { holdings } from './heldLeases.ts'

const restartPauseMs = 500

export function openInProcessLeases({ onFault }: { onFault: ReportFault }): Leases {
  /** For each name, resolves when the last waiting caller has returned the lease. */
  const turns = new Map<string, Promise<void>>()

  /** Waits for the lease. Returns a function that gives the lease back; `undefined` when the caller was stopped before its turn. */
  async function turn(name: string, signal: AbortSignal): Promise<(() => void) | undefined> {
    const before = turns.get(name) ?? Promise.resolve()
    let giveBack = () => {}
    const held = new Promise<void>((resolve) => (giveBack = resolve))
    const mine = before.then(() => held)
    turns.set(name, mine)
    void mine.then(() => turns.get(name) === mine && turns.delete(name))
    await Promise.race([before, aborted(signal)])
    if (!signal.aborted) return giveBack
    giveBack()
    return undefined
  }

  async function hold(name: string, start: () => Promise<RunningWork>, signal: AbortSignal): Promise<void> {
    for (;;) {
      const giveBack = await turn(name, signal)
      if (!giveBack) return
      try {
        const work = await start()
        await aborted(signal)
        await work.stop()
      } catch (fault) {
        onFault(`What ${name} stands for did not start, or did not stop`, fault)
      }
      giveBack()
      // Lets other callers that wait for this lease start first.
      await pause(restartPauseMs, undefined, { signal }).catch(() => {})
    }
  }

  return { ...holdings(hold), ready: async () => {} }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
