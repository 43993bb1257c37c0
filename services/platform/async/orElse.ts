/** For `catch`: this value instead of a fault of one kind; any other is thrown again. */
export const orElse =
  <Value>(kind: abstract new (...args: never[]) => Error, value: Value) =>
  (fault: unknown): Value => {
    if (fault instanceof kind) return value
    throw fault
  }
