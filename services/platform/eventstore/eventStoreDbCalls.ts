/** Calls to EventStoreDB: each has a time limit, is retried while its outcome is unknown, and fails with one of our faults. */
import { within } from '../async/timeLimit.ts'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import {
  AccessDeniedError,
  InvalidArgumentError,
  MaxAppendSizeExceededError,
  StreamNotFoundError,
  type StreamingRead,
} from '@eventstore/db-client'
import { EngineUnavailable, RemovedStream, TooLarge } from '../ports/faults.ts'

/** Makes an attempt, and retries while its outcome is unknown. An attempt ends by itself after `limitMs` without a response. */
export type Ask = <T>(attempt: (limitMs: number) => Promise<T>) => Promise<T>

const attempts = 3

/**
 * Makes a function that sends calls, each in several attempts if the server does not respond. While it does not, a call takes at most `callMs`.
 * A call fails with `EngineUnavailable`, with `TooLarge`, or, when the server's answer shows a mistake of ours, with the library's own fault.
 */
export function callsTo(engine: string, callMs: number): Ask {
  return async (attempt) => {
    const end = performance.now() + callMs
    for (let count = 1; ; count += 1) {
      try {
        // Leaves time for two attempts, so that an append which the server dropped is sent again.
        return await attempt(Math.min(callMs / 2, end - performance.now()))
      } catch (fault) {
        // The library replaces a broken connection before the next turn of the event loop. An earlier attempt would use the closed connection.
        await nextTurn()
        if (isTooLarge(fault)) throw tooLarge(engine, fault)
        if (isDecided(fault)) throw fault
        const pauseMs = 50 * 4 ** (count - 1)
        // If the remaining time is too short for an answer, stops, because another timeout would hide why the earlier attempts failed.
        const isLast = count === attempts || performance.now() + pauseMs > end - callMs / 10
        if (isLast || isDenied(fault)) throw new EngineUnavailable(engine, fault)
        await pause(pauseMs)
      }
    }
  }
}

/** The answer; throws `NoAnswer` after `limitMs`, since the library waits for some answers without limit. */
export function answered<T>(limitMs: number, answer: Promise<T>): Promise<T> {
  return within(limitMs, answer, () => new NoAnswer(limitMs))
}

/**
 * Calls `take` with each item until it returns `enough` or there are no more items. A missing stream has no items. Fails when nothing arrives for
 * `limitMs`.
 */
export function readEach<T>(
  stream: StreamingRead<T>,
  limitMs: number,
  take: (item: T) => 'more' | 'enough',
): Promise<void> {
  return new Promise((resolve, reject) => {
    let isDone = false
    const end = (settle: () => void) => {
      if (isDone) return
      isDone = true
      clearTimeout(timer)
      // A stream that is not cancelled stays open on the server.
      stream.cancel().catch(() => {})
      settle()
    }
    const timer = setTimeout(() => end(() => reject(new NoAnswer(limitMs))), limitMs)
    // This listener must stay, because a fault without a listener ends the process.
    stream.on('error', (fault) =>
      end(() => (fault instanceof StreamNotFoundError ? resolve() : reject(fault))),
    )
    stream.on('end', () => end(resolve))
    stream.on('data', (item) => {
      timer.refresh()
      if (!isDone && take(item) === 'enough') end(resolve)
    })
  })
}

/** Whether the server refuses this user, so that only other credentials help. */
export function isDenied(fault: unknown): boolean {
  const code = codeOf(fault)
  return fault instanceof AccessDeniedError || code === permissionDenied || code === unauthenticated
}

export function reasonOf(fault: unknown): string {
  if (fault instanceof EngineUnavailable && fault.cause !== undefined) return reasonOf(fault.cause)
  if (!(fault instanceof Error)) return String(fault)
  // The library's own faults sometimes have an empty message.
  return fault.message === '' ? fault.constructor.name : fault.message
}

class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  constructor(limitMs: number) {
    super(`no answer within ${Math.ceil(limitMs)} ms`)
  }
}

// The status codes are from https://grpc.github.io/grpc/core/md_doc_statuscodes.html.
const invalidArgument = 3
const permissionDenied = 7
const resourceExhausted = 8
const failedPrecondition = 9
const unimplemented = 12
const unauthenticated = 16

function isDecided(fault: unknown): boolean {
  const code = codeOf(fault)
  return (
    fault instanceof InvalidArgumentError ||
    fault instanceof RemovedStream ||
    code === invalidArgument ||
    code === failedPrecondition ||
    code === unimplemented
  )
}

function isTooLarge(fault: unknown): boolean {
  if (fault instanceof MaxAppendSizeExceededError) return true
  if (!(fault instanceof Error)) return false
  // Newer servers also limit the size of single events; the library has no fault class for that.
  if (/Maximum Append (Event )?Size/i.test(fault.message)) return true
  // The code alone is not enough: the server also uses `resourceExhausted` for a temporary shortage, for example of memory or queue space.
  return codeOf(fault) === resourceExhausted && aboutTheMessage.test(fault.message)
}

/** The texts with which the gRPC libraries on both sides report that a message is too large. */
const aboutTheMessage = /larger than (max|\d)|exceeds (the )?max/i

function tooLarge(engine: string, fault: unknown): TooLarge {
  const most =
    fault instanceof MaxAppendSizeExceededError ? `more than ${fault.maxAppendSize} bytes` : 'that much'
  return new TooLarge(`${engine} does not take ${most} at once. Nothing of it was written.`, { cause: fault })
}

function codeOf(fault: unknown): unknown {
  return fault instanceof Error && 'code' in fault ? fault.code : undefined
}
