/** A value outside of the store that changes, in the form that `useSyncExternalStore` reads. */
export interface Observed<Value> {
  /** The same value until it changes. */
  read(): Value
  /** Returns the unsubscribe function. */
  subscribe(listener: () => void): () => void
}

export function createObserved<Value>(
  first: Value,
): Observed<Value> & { readonly set: (next: Value) => void } {
  let value = first
  const listeners = new Set<() => void>()
  return {
    read: () => value,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    set(next) {
      value = next
      for (const listener of listeners) listener()
    },
  }
}
