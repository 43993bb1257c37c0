/** The names of branches, models and levels of effort: checks and defaults. */

/** The prefix of the branches that Flightdeck creates. */
export const ourBranches = 'flightdeck'

/**
 * Whether Flightdeck created the branch, judged by its name. Its branches are named `flightdeck/…`, or `flightdeck-…` if the repository has a branch
 * `flightdeck`, which makes the first form impossible.
 */
export function isOurBranch(name: string): boolean {
  return name.startsWith(`${ourBranches}/`) || name.startsWith(`${ourBranches}-`)
}

/** Whether the name is a valid branch by the rules of git-check-ref-format(1), and cannot be taken for an option. */
export function isBranchName(name: string): boolean {
  if (name.startsWith('-') || name === 'HEAD' || name.endsWith('.')) return false
  if (name.includes('..') || name.includes('@{')) return false
  const isAllowed = (character: string) => character > ' ' && !'\x7f~^:?*[\\'.includes(character)
  if (![...name].every(isAllowed)) return false
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
}

/** The model that our client sends when the person chose none. Agents without it use their default. */
export const noChosenModel = 'o4-mini'

/** The maximum length of a model's name, in characters. */
export const longestModelName = 200

/** Whether `name` can be the name of a level of effort. */
export const isEffortName = (name: string): boolean => /^[a-z][a-z0-9_-]{0,23}$/.test(name)

/** Whether the name is safe as a program argument: printable, without spaces, and not an option. */
export function isModelName(name: string): boolean {
  return name.length <= longestModelName && /^(?!-)[\x21-\x7e]+$/.test(name)
}
