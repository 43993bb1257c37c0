/** A call that did not work, in words for a person. */

export interface ApiFault {
  /** The HTTP status; `null` when no answer came. */
  readonly status: number | null
  /** The server's code, or why there was no answer. */
  readonly code: string
  readonly message: string
  /** The input at fault. */
  readonly field: string | null
  /** When to ask again, in ms since the epoch, where the server says so. */
  readonly retryAt?: number
}

/** The reason in an error of any making: an `ApiFault`'s or an `Error`'s own message. */
export function reasonOf(error: unknown, fallback: string): string {
  if (
    typeof error === 'object' &&
    error !== null &&
    'message' in error &&
    typeof error.message === 'string'
  ) {
    return error.message === '' ? fallback : error.message
  }
  return fallback
}

/** When to ask again for what failed so, in ms since the epoch; `null` where nothing is to be waited for. */
export function retryAtOf(error: unknown): number | null {
  const isTold = typeof error === 'object' && error !== null && 'retryAt' in error
  return isTold && typeof error.retryAt === 'number' ? error.retryAt : null
}

/** Whether it is a fault with this code. */
export function isFault(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code
}
