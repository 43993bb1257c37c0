/** The leases of a single process: who asks first holds the name until it stops, and the next follows. */
import { setTimeout as pause } from 'node:timers/promises'
import type { ReportFault } from '../ports/faults.ts'
import type { Held, Leases } from '../ports/leases.ts'

const startAgainMs = 500

export function openInProcessLeases({ onFault }: { onFault: ReportFault }): Leases {
  const turns = new Map<string, Promise<void>>()
  const holdings = new Set<Held>()

  return {
    hold(name, start) {
      const stopping = new AbortController()
      const { signal } = stopping
      const before = turns.get(name) ?? Promise.resolve()
      const mine = before.then(() => hold(name, start, signal))
      turns.set(name, mine)
      const holding: Held = {
        stop: async () => {
          stopping.abort()
          holdings.delete(holding)
          await mine
        },
      }
      holdings.add(holding)
      return holding
    },
    ready: async () => {},
    close: async () => {
      await Promise.all([...holdings].map((holding) => holding.stop()))
    },
  }

  async function hold(name: string, start: () => Promise<Held>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const work = await start()
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
        await work.stop()
      } catch (fault) {
        onFault(`What ${name} stands for did not start, or did not stop`, fault)
        await pause(startAgainMs, undefined, { signal }).catch(() => {})
      }
    }
  }
}
