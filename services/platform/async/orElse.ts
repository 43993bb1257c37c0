/** Makes a handler for `catch` that returns `value` for faults of the class `kind`, and throws all other faults again. */
export const orElse =
  <Value>(kind: abstract new (...args: never[]) => Error, value: Value) =>
  (fault: unknown): Value => {
    if (fault instanceof kind) return value
    throw fault
  }
