/** The options of an `LRUCache` that keeps at most `count` entries. Unlike its own option `max`, they reserve no memory before there are entries. */
export function atMost(count: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: count, sizeCalculation: () => 1 }
}
