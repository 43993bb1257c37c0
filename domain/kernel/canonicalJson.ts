/** Canonical JSON, for hashing: each value has exactly one text. */

/**
 * The value as JSON according to RFC 8785: keys are sorted by UTF-16 code units, and there is no white space. Members that are `undefined` are left
 * out. Throws for anything but strings, finite numbers, booleans, null, arrays and plain objects.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError('Only finite numbers have a canonical form.')
    return JSON.stringify(value)
  }
  // `Array.from` also visits holes. Holes and `undefined` both become null.
  if (Array.isArray(value)) return `[${Array.from(value, (item) => canonicalJson(item ?? null)).join(',')}]`
  if (typeof value === 'object' && isPlain(value)) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`)
    return `{${members.join(',')}}`
  }
  throw new TypeError(
    `A ${typeof value === 'object' ? value.constructor.name : typeof value} has no canonical form.`,
  )
}

/** False for dates and maps, among others, which would all become `{}` and have the same hash. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  // Plain objects of another realm, such as a frame, have an `Object.prototype` of their own, so only the length of the prototype chain is checked.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
