/** The numbers of issues and pull requests. Each repository numbers both in one sequence. */
import type { Repository, State } from '../state/stateSchema.ts'

/** The number for the next issue or pull request. */
export function nextNumber(
  state: Pick<State, 'issues' | 'pullRequests'>,
  { id }: Pick<Repository, 'id'>,
): number {
  const numbers = [...state.pullRequests, ...state.issues]
    .filter(({ repositoryId }) => repositoryId === id)
    .map(({ number }) => number)
  return numbers.reduce((most, number) => Math.max(most, number), 0) + 1
}

/** Sets `updatedAt` of the issue or pull request with this number to `now`, and returns the new state; `undefined` when none has this number. */
export function touchedNumber<Kept extends Pick<State, 'issues' | 'pullRequests'>>(
  state: Kept,
  repository: Pick<Repository, 'id'>,
  number: number,
  now: string,
): Kept | undefined {
  const isIt = (one: { repositoryId: number; number: number }) =>
    one.repositoryId === repository.id && one.number === number
  if (state.pullRequests.some(isIt))
    return {
      ...state,
      pullRequests: state.pullRequests.map((one) => (isIt(one) ? { ...one, updatedAt: now } : one)),
    }
  if (!state.issues.some(isIt)) return undefined
  return { ...state, issues: state.issues.map((one) => (isIt(one) ? { ...one, updatedAt: now } : one)) }
}

/** The numbers of the issues that a text closes with GitHub's keywords, such as `Fixes #12`. */
export function closedBy(text: string): readonly number[] {
  const words = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):? +#(\d{1,9})\b/gi
  return [...new Set([...text.matchAll(words)].map(([, number]) => Number(number)))]
}
