/** What all checks of a commit say together. */
import type { GitHubState } from '../state.ts'
import type { CheckRun, CommitStatus } from './records.ts'

/** GraphQL's `StatusState`. */
export type Rollup = 'ERROR' | 'FAILURE' | 'PENDING' | 'SUCCESS'

const red: readonly string[] = ['failure', 'timed_out', 'action_required', 'cancelled']

/** The last run of each name and App, newest first. */
export function latestRuns(runs: readonly CheckRun[]): readonly CheckRun[] {
  const byName = new Map(runs.map((run) => [`${run.appId} ${run.name}`, run]))
  return [...byName.values()].toReversed()
}

/** The last status of each context, newest first. */
export function latestStatuses(statuses: readonly CommitStatus[]): readonly CommitStatus[] {
  const byContext = new Map(statuses.map((one) => [one.context, one]))
  return [...byContext.values()].toReversed()
}

/** What was reported of a commit, as far as it counts. */
export function reportsOf(
  state: Pick<GitHubState, 'checkRuns' | 'statuses'>,
  repositoryId: number,
  sha: string,
): { readonly runs: readonly CheckRun[]; readonly statuses: readonly CommitStatus[] } {
  const isHere = (one: { repositoryId: number }) => one.repositoryId === repositoryId
  return {
    runs: latestRuns(state.checkRuns.filter((one) => isHere(one) && one.headSha === sha)),
    statuses: latestStatuses(state.statuses.filter((one) => isHere(one) && one.sha === sha)),
  }
}

/** `null` where nothing was reported. */
export function rollupOf({ runs, statuses }: ReturnType<typeof reportsOf>): Rollup | null {
  if (runs.length + statuses.length === 0) return null
  if (runs.some(({ conclusion }) => conclusion !== null && red.includes(conclusion))) return 'FAILURE'
  if (statuses.some(({ state }) => state === 'failure')) return 'FAILURE'
  if (statuses.some(({ state }) => state === 'error')) return 'ERROR'
  const waits =
    runs.some(({ status }) => status !== 'completed') || statuses.some(({ state }) => state === 'pending')
  return waits ? 'PENDING' : 'SUCCESS'
}

/** The state of a combined status: REST has no word for errors. */
export function combinedState(statuses: readonly CommitStatus[]): 'failure' | 'pending' | 'success' {
  if (statuses.some(({ state }) => state === 'failure' || state === 'error')) return 'failure'
  return statuses.length === 0 || statuses.some(({ state }) => state === 'pending') ? 'pending' : 'success'
}

/** What the runs of a suite say together. */
export function suiteConclusion(runs: readonly CheckRun[]): CheckRun['conclusion'] {
  if (runs.some(({ status }) => status !== 'completed')) return null
  const order = [
    'failure',
    'timed_out',
    'action_required',
    'cancelled',
    'success',
    'neutral',
    'skipped',
  ] as const
  return order.find((wanted) => runs.some(({ conclusion }) => conclusion === wanted)) ?? null
}
