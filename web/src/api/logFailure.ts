/** Logs failures that need no message on the page. */
import { memberOf, textOf } from './memberOf.ts'

/** For `onQueryStarted`: logs the reason when the call fails, except when it was aborted. */
export async function logFailure(
  _arg: unknown,
  { queryFulfilled }: { readonly queryFulfilled: PromiseLike<unknown> },
): Promise<void> {
  try {
    await queryFulfilled
  } catch (thrown) {
    logReason(thrown)
  }
}

/** Logs the message of a thrown error, or of the fault in its member `error`. An aborted call is not logged. */
export function logReason(thrown: unknown): void {
  const fault = memberOf(thrown, 'error') ?? thrown
  const message = memberOf(fault, 'message')
  if (message !== undefined && textOf(fault, 'code') !== 'aborted') console.warn(String(message))
}
