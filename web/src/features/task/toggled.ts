/** The set with a key added, or without it if it was there. */
export function toggled<Key>(keys: ReadonlySet<Key>, key: Key): ReadonlySet<Key> {
  const next = new Set(keys)
  if (!next.delete(key)) next.add(key)
  return next
}
