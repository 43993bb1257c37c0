/** The member of a value of unknown type; `undefined` when it has none. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** The member of a value of unknown type if the member is a text; `undefined` otherwise. */
export function textOf(value: unknown, name: string): string | undefined {
  const member = memberOf(value, name)
  return typeof member === 'string' ? member : undefined
}
