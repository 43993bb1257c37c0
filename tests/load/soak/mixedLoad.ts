/** The load of a soak: titles of tasks, notes and reads of the list, first as many as can be answered, and then half as many. */
import { setTimeout as pause } from 'node:timers/promises'
import { chatRoutes } from '#domain/api/chat.ts'
import { taskRoutes } from '#domain/api/tasks.ts'
import { answerOf, type Ledger } from './ledger.ts'
import type { Person } from '../../product/person.ts'

export interface OwnedTask {
  readonly taskId: string
  readonly person: Person
}

export interface MixedLoad {
  /** How many requests a second are answered with this many in flight. */
  capacity(inFlight: number, ms: number): Promise<number>
  /** Makes this many requests a second until the signal; requests that would be too many at once are left out. */
  keepUp(rate: number, signal: AbortSignal): Promise<void>
  /** The times of the writes since the last call, in milliseconds, with all repetitions. */
  times(): readonly number[]
  readonly counts: { writes: number; reads: number; leftOut: number }
  /** What a request ended with that is not an answer of the contract. */
  readonly faults: string[]
}

const mostInFlight = 32
const everyMs = 50

export function mixedLoad(tasks: readonly OwnedTask[], ledger: Ledger): MixedLoad {
  const counts = { writes: 0, reads: 0, leftOut: 0 }
  const faults: string[] = []
  let times: number[] = []
  let asked = 0

  /** Of twenty requests, twelve change a title, two post a note and six read the list. */
  async function one(): Promise<void> {
    const number = asked
    asked += 1
    const task = tasks[number % tasks.length]
    if (task === undefined) return
    const { person, taskId } = task
    const kind = Math.floor(number / tasks.length + number) % 20
    const at = performance.now()
    if (kind < 6) {
      await answerOf(() => person.api('GET', '/tasks?limit=20'))
      counts.reads += 1
      return
    }
    const path = (route: { readonly path: string }) => route.path.replace(':taskId', taskId)
    const write = { person, taskId }
    if (kind < 8)
      await ledger.write({
        ...write,
        what: 'a note',
        method: 'POST',
        path: path(chatRoutes.sendMessage),
        bodyWith: (mark) => ({ message: `A note, ${mark}`, messageType: 'system' }),
      })
    else
      await ledger.write({
        ...write,
        what: 'a title',
        method: 'PUT',
        path: path(taskRoutes.updateTask),
        bodyWith: (mark) => ({ title: `A title, ${mark}` }),
      })
    counts.writes += 1
    times.push(performance.now() - at)
  }
  const noted = () => one().catch((fault: unknown) => void faults.push(String(fault)))

  return {
    counts,
    faults,
    times() {
      const taken = times
      times = []
      return taken
    },
    async capacity(inFlight, ms) {
      const begun = performance.now()
      const first = asked
      const worker = async () => {
        while (performance.now() - begun < ms) await noted()
      }
      await Promise.all(Array.from({ length: inFlight }, worker))
      return ((asked - first) * 1_000) / (performance.now() - begun)
    },
    async keepUp(rate, signal) {
      const running = new Set<Promise<void>>()
      let due = 0
      for (let last = performance.now(); !signal.aborted;) {
        await pause(everyMs)
        const now = performance.now()
        due += ((now - last) * rate) / 1_000
        last = now
        for (; due >= 1; due -= 1) {
          if (running.size >= mostInFlight) counts.leftOut += 1
          else {
            const request = noted().finally(() => running.delete(request))
            running.add(request)
          }
        }
      }
      await Promise.all(running)
    },
  }
}
