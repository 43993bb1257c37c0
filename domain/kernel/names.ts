/** Checks the names of branches and models. */

/** The prefix of the branches that Flightdeck creates. */
export const ourBranches = 'flightdeck'

/** Whether Flightdeck created the branch: its name is below the prefix, or begins like it if another branch is named like the prefix. */
export function isOurBranch(name: string): boolean {
  return name.startsWith(`${ourBranches}/`) || name.startsWith(`${ourBranches}-`)
}

/** Whether git accepts the name as a branch and as nothing else, such as an option: the rules are in git-check-ref-format(1). */
export function isBranchName(name: string): boolean {
  if (name.startsWith('-') || name === 'HEAD' || name.endsWith('.')) return false
  if (name.includes('..') || name.includes('@{')) return false
  const isAllowed = (character: string) => character > ' ' && !'\x7f~^:?*[\\'.includes(character)
  if (![...name].every(isAllowed)) return false
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
}

/** The model that clients send when the person chose none: the agent then uses its default. */
export const defaultModel = 'o4-mini'

/** The maximum length of a model's name, in characters. */
export const longestModelName = 200

/** Whether the name is safe as an argument of a program: printable, without spaces, and never an option. */
export function isModelName(name: string): boolean {
  return name.length <= longestModelName && /^(?!-)[\x21-\x7e]+$/.test(name)
}
