/** Names of branches. Pure. */

/** What the names of branches begin with that Flightdeck makes. */
export const ourBranches = 'flightdeck'

/** Whether Flightdeck gave the name: below a folder, or beside a branch that stands in that folder's way. */
export function isOurBranch(name: string): boolean {
  return name.startsWith(`${ourBranches}/`) || name.startsWith(`${ourBranches}-`)
}

/** A name that git takes for a branch and for nothing else: the rules of git-check-ref-format(1), and no option. */
export function isBranchName(name: string): boolean {
  if (name.startsWith('-') || name === 'HEAD' || name.endsWith('.')) return false
  if (name.includes('..') || name.includes('@{')) return false
  const isFit = (character: string) => character > ' ' && !'\x7f~^:?*[\\'.includes(character)
  if (![...name].every(isFit)) return false
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
}
