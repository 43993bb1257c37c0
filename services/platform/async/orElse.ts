/** Makes a handler for `catch` that returns a value for faults of one class, and throws all others again. */
export const orElse =
  <Value>(kind: abstract new (...args: never[]) => Error, value: Value) =>
  (fault: unknown): Value => {
    if (fault instanceof kind) return value
    throw fault
  }
