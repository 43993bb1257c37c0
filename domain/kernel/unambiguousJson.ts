/** JSON that every parser reads the same way. */

/**
 * Parses the text; `undefined` when it is not JSON, or when an object in it has the same name twice. Parsers differ in which of the two values they
 * take, so people could see a value that was never checked.
 */
export function unambiguousJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return hasRepeatedName(text, value) ? undefined : value
}

/** Whether an object in the text has the same name twice; `value` is the parsed text. */
export function hasRepeatedName(text: string, value: unknown): boolean {
  return namesIn(text) !== membersIn(value)
}

/** Counts the strings that are followed by a colon. A regular expression would overflow the stack on long strings. */
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

/** Counts the members of all objects. The function is not recursive, since untrusted input may be nested to any depth. */
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
