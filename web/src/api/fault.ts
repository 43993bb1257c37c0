/** A failed call, in words for a person. */
import { memberOf, textOf } from './memberOf.ts'

export interface ApiFault {
  /** The HTTP status; `null` when there was no answer. */
  readonly status: number | null
  /** The server's error code, or one of the client's own, such as `offline`, `timeout` or `unreadable`. */
  readonly code: string
  readonly message: string
  /** The name of the input at fault; `null` when the fault is not about one input. */
  readonly field: string | null
  /** When to retry, in milliseconds since 1970, if the server says so. */
  readonly retryAt?: number
}

/** The message of an `ApiFault` or an `Error`; `fallback` when there is none or it is empty. */
export function reasonOf(error: unknown, fallback: string): string {
  return textOf(error, 'message') || fallback
}

/** When the server says to retry, in milliseconds since 1970; `null` if the error contains no such time. */
export function retryAtOf(error: unknown): number | null {
  const retryAt = memberOf(error, 'retryAt')
  return typeof retryAt === 'number' ? retryAt : null
}

/** The error's message if the error is about the input named `field`; otherwise `undefined`. */
export function messageFor(error: unknown, field: string): string | undefined {
  return textOf(error, 'field') === field ? textOf(error, 'message') : undefined
}

/** Whether the error is an `ApiFault` with this code. */
export function isFault(error: unknown, code: string): boolean {
  return textOf(error, 'code') === code
}
