/** Canonical JSON, for hashing: one form for each value. */

/**
 * The value as text: keys sorted by UTF-16 code units, no white space, members that are `undefined` left out (RFC 8785 for the values we keep:
 * strings, finite numbers, booleans, null, arrays, plain objects). Throws on anything else.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError('Only finite numbers have a canonical form.')
    return JSON.stringify(value)
  }
  // `Array.from` also visits holes, which become null as `undefined` does.
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

/** Rejects dates, maps and bytes: they would all become `{}` and have the same hash. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  // Objects from other realms have another `Object.prototype`, which also ends their prototype chain: they count as plain.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
