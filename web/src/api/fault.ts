/** A failed call, in words for a person. */

export interface ApiFault {
  /** The HTTP status; `null` when there was no answer. */
  readonly status: number | null
  /** The server's code, or the reason for no answer. */
  readonly code: string
  readonly message: string
  /** The input at fault. */
  readonly field: string | null
  /** When to retry, in ms since the epoch, if the server says so. */
  readonly retryAt?: number
}

/** The reason in an error of any kind: the message of an `ApiFault` or an `Error`. */
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

/** When to retry after this error, in ms since the epoch; `null` when there is nothing to wait for. */
export function retryAtOf(error: unknown): number | null {
  const isTold = typeof error === 'object' && error !== null && 'retryAt' in error
  return isTold && typeof error.retryAt === 'number' ? error.retryAt : null
}

/** Whether it is a fault with this code. */
export function isFault(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code
}
