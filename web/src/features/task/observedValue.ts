/** A changing value outside of the store, in the form that `useSyncExternalStore` reads. */
export interface Observed<Value> {
  /** The current value; the same object until it changes. */
  read(): Value
  /** Calls `listener` after each change. Returns the unsubscribe function. */
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
