/** Calls to EventStoreDB: each ends in time, is made again while its outcome is unknown, and fails with a fault of ours. */
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

/** Makes an attempt, and again while its outcome is unknown. The attempt ends by itself after `limitMs` without a sign. */
export type Ask = <T>(attempt: (limitMs: number) => Promise<T>) => Promise<T>

const attempts = 3

/**
 * Calls that take `callMs` at most with all their attempts when nothing is heard. They fail with `EngineUnavailable`, with
 * `TooLarge`, and with the library's own fault when the server has decided something that is a defect of ours.
 */
export function callsTo(engine: string, callMs: number): Ask {
  return async (attempt) => {
    const end = performance.now() + callMs
    for (let count = 1; ; count += 1) {
      try {
        // Two attempts fit: an append that the server dropped is sent once more.
        return await attempt(Math.min(callMs / 2, end - performance.now()))
      } catch (fault) {
        // The library replaces a broken connection within this turn; a call in the midst of it would meet the closed one.
        await nextTurn()
        if (isTooLarge(fault)) throw tooLarge(engine, fault)
        if (isDecided(fault)) throw fault
        const pauseMs = 50 * 4 ** (count - 1)
        // The last moments are too short for an answer, and a call in them would only hide why the others failed.
        const isLast = count === attempts || performance.now() + pauseMs > end - callMs / 10
        if (isLast || isDenied(fault)) throw new EngineUnavailable(engine, fault)
        await pause(pauseMs)
      }
    }
  }
}

/** The answer, or `NoAnswer` after `limitMs`: the library waits for some answers without end. */
export function answered<T>(limitMs: number, answer: Promise<T>): Promise<T> {
  return within(limitMs, answer, () => new NoAnswer(limitMs))
}

/**
 * Gives each item to `take` until it has enough or there are no more; a stream that is not there has none. Fails when nothing
 * comes for `limitMs`.
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
      // What is only left stays open on the server.
      stream.cancel().catch(() => {})
      settle()
    }
    const timer = setTimeout(() => end(() => reject(new NoAnswer(limitMs))), limitMs)
    // This listener stays: a fault that nobody listens to ends the process.
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

/** The server will not have this user. Only other settings help. */
export function isDenied(fault: unknown): boolean {
  const code = codeOf(fault)
  return fault instanceof AccessDeniedError || code === permissionDenied || code === unauthenticated
}

/** Why a call failed, in a line. */
export function reasonOf(fault: unknown): string {
  if (fault instanceof EngineUnavailable && fault.cause !== undefined) return reasonOf(fault.cause)
  if (!(fault instanceof Error)) return String(fault)
  // The messages of the library's own faults are empty at times.
  return fault.message === '' ? fault.constructor.name : fault.message
}

class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  constructor(limitMs: number) {
    super(`no answer within ${Math.ceil(limitMs)} ms`)
  }
}

// https://grpc.github.io/grpc/core/md_doc_statuscodes.html
const invalidArgument = 3
const permissionDenied = 7
const resourceExhausted = 8
const failedPrecondition = 9
const unimplemented = 12
const unauthenticated = 16

/** The server has understood and said no: the same call would be answered in the same way. */
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
  // Newer servers bound single events too, which the library has no fault for.
  if (/Maximum Append (Event )?Size/i.test(fault.message)) return true
  // The same code says that a server is short of something for now, as of memory or places in a queue: that passes.
  return codeOf(fault) === resourceExhausted && aboutTheMessage.test(fault.message)
}

/** How the libraries of gRPC on both sides say that a message is too large. */
const aboutTheMessage = /larger than (max|\d)|exceeds (the )?max/i

function tooLarge(engine: string, fault: unknown): TooLarge {
  const most =
    fault instanceof MaxAppendSizeExceededError ? `more than ${fault.maxAppendSize} bytes` : 'that much'
  return new TooLarge(`${engine} does not take ${most} at once. Nothing of it was written.`, { cause: fault })
}

function codeOf(fault: unknown): unknown {
  return fault instanceof Error && 'code' in fault ? fault.code : undefined
}
