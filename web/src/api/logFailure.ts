/** Failures that a page goes on with are logged, for who looks for the reason later; nobody is interrupted by them. */

/** For `onQueryStarted`: logs the reason when the call fails. One that nobody waits for any more is no failure. */
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

/** Logs the reason in what a call was rejected with, or in its fault. */
export function logReason(thrown: unknown): void {
  const fault = isObject(thrown) && 'error' in thrown ? thrown.error : thrown
  if (!isObject(fault) || !('message' in fault) || ('code' in fault && fault.code === 'aborted')) return
  console.warn(String(fault.message))
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
