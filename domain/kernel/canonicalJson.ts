/** Canonical JSON, for hashing: each value has exactly one text. */

/**
 * The value as JSON according to RFC 8785: keys are sorted by UTF-16 code units, and there is no white space. Members that are `undefined` are left
 * out, and such items of arrays become null. Throws for anything else but strings, finite numbers, booleans, null, arrays and plain objects.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError('Only finite numbers have a canonical form.')
    return JSON.stringify(value)
  }
  // `Array.from` also visits holes. Holes and `undefined` both become null.
  if (Array.isArray(value)) return `[${Array.from(value, (item) => canonicalJson(item ?? null)).join(',')}]`
  if (typeof value === 'object' && isPlain(value)) {
    let members = ''
    for (const key of sorted(Object.keys(value))) {
      const member = value[key]
      if (member === undefined) continue
      members += `${members === '' ? '' : ','}${quoted(key)}:${canonicalJson(member)}`
    }
    return `{${members}}`
  }
  throw new TypeError(
    `A ${typeof value === 'object' ? value.constructor.name : typeof value} has no canonical form.`,
  )
}

/** Sorts in place. For few, nearly sorted keys, the usual case, this is several times faster than `sort`. */
function sorted(keys: string[]): readonly string[] {
  if (keys.length > fewKeys) return keys.sort()
  for (let end = 1; end < keys.length; end += 1) {
    const key = keys[end] ?? ''
    let at = end
    for (; at > 0 && (keys[at - 1] ?? '') > key; at -= 1) keys[at] = keys[at - 1] ?? ''
    keys[at] = key
  }
  return keys
}
const fewKeys = 12

/** Most strings need no escapes, and are quoted several times faster without `JSON.stringify`. */
function quoted(text: string): string {
  return /^[ !#-[\]-~]*$/.test(text) ? `"${text}"` : JSON.stringify(text)
}

/** False for dates and maps, among others, which would all become `{}` and have the same hash. */
function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(value)
  // Plain objects of another realm, such as a frame, have an `Object.prototype` of their own, so only the length of the prototype chain is checked.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
