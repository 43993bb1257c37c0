/** A handler for `catch` that returns this value for a fault of one kind, and throws any other fault again. */
export const orElse =
  <Value>(kind: abstract new (...args: never[]) => Error, value: Value) =>
  (fault: unknown): Value => {
    if (fault instanceof kind) return value
    throw fault
  }
