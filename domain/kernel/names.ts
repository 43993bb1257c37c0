/** Which names of branches and models are valid. */

/** The prefix of the branches that Flightdeck creates. */
export const ourBranches = 'flightdeck'

/** Whether Flightdeck created the branch: below the prefix, or next to it if a branch named like the prefix is in the way. */
export function isOurBranch(name: string): boolean {
  return name.startsWith(`${ourBranches}/`) || name.startsWith(`${ourBranches}-`)
}

/** Whether git accepts the name as a branch and nothing else: the rules of git-check-ref-format(1), and never an option. */
export function isBranchName(name: string): boolean {
  if (name.startsWith('-') || name === 'HEAD' || name.endsWith('.')) return false
  if (name.includes('..') || name.includes('@{')) return false
  const isAllowed = (character: string) => character > ' ' && !'\x7f~^:?*[\\'.includes(character)
  if (![...name].every(isAllowed)) return false
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
}

/** What clients send when the person chose no model: the agent then uses its default. */
export const defaultModel = 'o4-mini'

/** In characters. */
export const longestModelName = 200

/** Whether the name is safe as a program argument, never an option: printable, without spaces. */
export function isModelName(name: string): boolean {
  return name.length <= longestModelName && /^(?!-)[\x21-\x7e]+$/.test(name)
}
