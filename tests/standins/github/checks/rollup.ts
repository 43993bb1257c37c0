/** Combines all checks of a commit into one result. */
import type { GitHubState } from '../state.ts'
import type { CheckRun, CommitStatus } from './records.ts'

/** GraphQL's `StatusState`. */
export type Rollup = 'ERROR' | 'FAILURE' | 'PENDING' | 'SUCCESS'

const red: readonly string[] = ['failure', 'timed_out', 'action_required', 'cancelled']

/** The latest run for each name and App, newest first. */
export function latestRuns(runs: readonly CheckRun[]): readonly CheckRun[] {
  const byName = new Map(runs.map((run) => [`${run.appId} ${run.name}`, run]))
  return [...byName.values()].toReversed()
}

/** The latest status of each context, newest first. */
export function latestStatuses(statuses: readonly CommitStatus[]): readonly CommitStatus[] {
  const byContext = new Map(statuses.map((one) => [one.context, one]))
  return [...byContext.values()].toReversed()
}

/** The reports about a commit that count. */
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

/** The combined state; `null` without any report. */
export function rollupOf({ runs, statuses }: ReturnType<typeof reportsOf>): Rollup | null {
  if (runs.length + statuses.length === 0) return null
  if (runs.some(({ conclusion }) => conclusion !== null && red.includes(conclusion))) return 'FAILURE'
  if (statuses.some(({ state }) => state === 'failure')) return 'FAILURE'
  if (statuses.some(({ state }) => state === 'error')) return 'ERROR'
  const waits =
    runs.some(({ status }) => status !== 'completed') || statuses.some(({ state }) => state === 'pending')
  return waits ? 'PENDING' : 'SUCCESS'
}

/** The state of a combined status; REST has no value for errors. */
export function combinedState(statuses: readonly CommitStatus[]): 'failure' | 'pending' | 'success' {
  if (statuses.some(({ state }) => state === 'failure' || state === 'error')) return 'failure'
  return statuses.length === 0 || statuses.some(({ state }) => state === 'pending') ? 'pending' : 'success'
}

/** The combined conclusion of a suite's runs. */
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
