/** Numbers of pull requests and issues: one sequence in each repository. */
import type { Repository, State } from '../state/stateSchema.ts'

/** The next number. Numbers are never reused. */
export function nextNumber(
  state: Pick<State, 'issues' | 'pullRequests'>,
  { id }: Pick<Repository, 'id'>,
): number {
  const numbers = [...state.pullRequests, ...state.issues]
    .filter(({ repositoryId }) => repositoryId === id)
    .map(({ number }) => number)
  return numbers.reduce((most, number) => Math.max(most, number), 0) + 1
}

/** The state with a later `updatedAt` for the issue or pull request with this number; `undefined` when there is none. */
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

/** The numbers of the issues that a text says it closes, by GitHub's keywords. */
export function closedBy(text: string): readonly number[] {
  const words = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):? +#(\d{1,9})\b/gi
  return [...new Set([...text.matchAll(words)].map(([, number]) => Number(number)))]
}
