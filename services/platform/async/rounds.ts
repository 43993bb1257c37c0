/** Repeated work: with a pause in between, or in rounds that anybody may request. */
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Does the work at once, and again after the number of ms that `work` returns. `stop` ends the pause and resolves when the work has ended. The work
 * must not reject.
 */
export function repeat(work: (signal: AbortSignal) => Promise<number>): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const running = (async () => {
    while (!signal.aborted) {
      const pauseMs = await work(signal)
      await pause(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  })()
  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/** Work that can be requested at any time and is done in rounds, one at a time. However often it is requested, at most one more round waits. */
export interface Rounds {
  /** Starts a round within this many ms, or earlier if a round is already scheduled. During a round, schedules one more round after it. */
  within(ms: number): void
  /** Prevents further rounds, and resolves when the running round has ended. */
  stop(): Promise<void>
}

/** A timer of Node that is set to more fires at once. */
const longestTimerMs = 2 ** 31 - 1

/** Makes rounds of some work, which must not reject. */
export function rounds(work: () => Promise<void>): Rounds {
  let timer: NodeJS.Timeout | undefined
  let underWay: Promise<void> | undefined
  let isStopped = false
  /** When the next round is due, in ms of `performance.now`. */
  let dueAt = Number.POSITIVE_INFINITY

  function wait(): void {
    clearTimeout(timer)
    if (isStopped || dueAt === Number.POSITIVE_INFINITY) return
    const ms = Math.max(0, Math.ceil(dueAt - performance.now()))
    timer = ms > longestTimerMs ? setTimeout(wait, longestTimerMs) : setTimeout(begin, ms)
  }
  function begin(): void {
    dueAt = Number.POSITIVE_INFINITY
    underWay = work().finally(() => {
      underWay = undefined
      wait()
    })
  }
  return {
    within(ms) {
      const at = performance.now() + ms
      if (at >= dueAt) return
      dueAt = at
      if (underWay === undefined) wait()
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await underWay
    },
  }
}
