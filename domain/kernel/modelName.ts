/** Names of models. Pure. */

/** What a client sends whose person chose no model (section 9): the agent chooses then. */
export const defaultModel = 'o4-mini'

/** Characters of a name. */
export const longestModelName = 200

/** A name that can be an argument of a program and is no option of it: printable, without blanks. */
export function isModelName(name: string): boolean {
  return name.length <= longestModelName && /^(?!-)[\x21-\x7e]+$/.test(name)
}
