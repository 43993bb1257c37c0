/** JSON that every parser reads alike. */

/**
 * The value; `undefined` when the text is not JSON, or when an object in it has a name twice: which of the two counts differs from parser to
 * parser, so that people could be shown something else than what was checked.
 */
export function unambiguousJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return namesIn(text) === membersIn(value) ? value : undefined
}

/** Strings before a colon. A pattern would need a stack for long strings. */
function namesIn(json: string): number {
  let count = 0
  for (let at = json.indexOf('"'); at >= 0; at = json.indexOf('"', at + 1)) {
    at += 1
    while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1
    let next = at + 1
    while (json[next] === ' ' || json[next] === '\t' || json[next] === '\r' || json[next] === '\n') next += 1
    if (json[next] === ':') count += 1
  }
  return count
}

/** Of all objects in it. Without recursion: what comes from outside may be nested as deeply as it likes. */
function membersIn(value: unknown): number {
  let count = 0
  const open: unknown[] = [value]
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (typeof each !== 'object' || each === null) continue
    const members: readonly unknown[] = Object.values(each)
    if (!Array.isArray(each)) count += members.length
    for (const member of members) if (typeof member === 'object' && member !== null) open.push(member)
  }
  return count
}
