/** Logs failures that the page survives, for debugging; nobody is interrupted by them. */

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

/** Logs the reason in a rejection, or in its fault. */
export function logReason(thrown: unknown): void {
  const fault = isObject(thrown) && 'error' in thrown ? thrown.error : thrown
  if (!isObject(fault) || !('message' in fault) || ('code' in fault && fault.code === 'aborted')) return
  console.warn(String(fault.message))
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
