/** Check runs and commit statuses: what programs report about a commit. */
import type { GitHubState } from '../state.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { botOf, type Account } from '../../../../services/codehost/state/accounts.ts'
import { mayPush } from '../../../../services/codehost/state/permissions.ts'
import { invalid, notFound, Refusal } from '../../../../services/codehost/httpError.ts'
import type { Repository } from '../../../../services/codehost/state/stateSchema.ts'
import type { Store } from '../../../../services/codehost/state/store.ts'
import type { GitHubEvent } from '../events.ts'
import type { Logs } from './logs.ts'
import { actionsAppId, mostReports, type CheckRun, type CommitStatus } from './records.ts'
import { latestRuns } from './rollup.ts'

/** A report about a check; a conclusion completes the check. */
export interface Report {
  readonly name?: string | undefined
  readonly status?: CheckRun['status'] | undefined
  readonly conclusion?: CheckRun['conclusion'] | undefined
  readonly externalId?: string | undefined
  readonly detailsUrl?: string | null | undefined
  readonly startedAt?: string | undefined
  readonly completedAt?: string | undefined
  readonly title?: string | null | undefined
  readonly summary?: string | null | undefined
  readonly text?: string | null | undefined
  /** Annotations that are added to the existing ones. */
  readonly annotations?: CheckRun['annotations'] | undefined
}

export type NewStatus = Pick<CommitStatus, 'state' | 'context' | 'description' | 'targetUrl'>

/** An App, and the account that acts for it. */
export interface Reporter {
  readonly appId: number
  readonly account: Account
}

/** GitHub's own App for checks. */
export const actionsReporter: Reporter = { appId: actionsAppId, account: botOf('github-actions') }

export interface Checks {
  /** The check runs of a commit, oldest first. */
  of(repository: Repository, sha: string): readonly CheckRun[]
  /** A check run by its id. Throws Refusal 404. */
  get(repository: Repository, id: number): CheckRun
  suite(repository: Repository, suiteId: number): readonly CheckRun[]
  /** Reports a new run; `log` is the content to which `GET /actions/jobs/{id}/logs` leads. */
  report(
    repository: Repository,
    by: Reporter,
    report: Report & { readonly name: string; readonly headSha: string; readonly log?: string | undefined },
  ): Promise<CheckRun>
  /** Changes a run. Throws Refusal 403 to another App, and 404. */
  change(repository: Repository, id: number, by: Reporter, report: Report): Promise<CheckRun>
  statuses(repository: Repository, sha: string): readonly CommitStatus[]
  /** Sets a commit status. Throws Refusal 403 to people who may not push. */
  setStatus(repository: Repository, sha: string, by: Account, status: NewStatus): Promise<CommitStatus>
  readonly logs: Logs
}

interface Parts {
  readonly store: Store<GitHubState>
  readonly clock: Clock
  readonly logs: Logs
  readonly tell: (event: GitHubEvent) => void
}

export function createChecks(parts: Parts): Checks {
  const runs = () => parts.store.current().checkRuns
  return {
    logs: parts.logs,
    of: (repository, sha) =>
      runs().filter((one) => one.repositoryId === repository.id && one.headSha === sha),
    get: (repository, id) => runOf(parts.store.current(), repository, id),
    suite: (repository, suiteId) =>
      runs().filter((one) => one.repositoryId === repository.id && one.suiteId === suiteId),
    report: (repository, by, report) => reportRun(parts, repository, by, report),
    change: (repository, id, by, report) => changeRun(parts, repository, id, by, report),
    statuses: (repository, sha) =>
      parts.store.current().statuses.filter((one) => one.repositoryId === repository.id && one.sha === sha),
    setStatus: (repository, sha, by, status) => setStatus(parts, repository, sha, by, status),
  }
}

function runOf(state: GitHubState, repository: Repository, id: number): CheckRun {
  const found = state.checkRuns.find((one) => one.repositoryId === repository.id && one.id === id)
  if (!found) throw notFound()
  return found
}

/** The run after a report: members that the report does not name stay. */
function reported(run: CheckRun, report: Report, now: string): CheckRun {
  const conclusion = report.conclusion ?? (report.status === undefined ? run.conclusion : null)
  const status = conclusion === null ? (report.status ?? run.status) : 'completed'
  if (status === 'completed' && conclusion === null)
    throw invalid({ resource: 'CheckRun', field: 'conclusion', code: 'missing_field' })
  const kept = <Value>(next: Value | undefined, before: Value): Value => (next === undefined ? before : next)
  return {
    ...run,
    status,
    conclusion,
    name: kept(report.name, run.name),
    externalId: kept(report.externalId, run.externalId),
    detailsUrl: kept(report.detailsUrl, run.detailsUrl),
    title: kept(report.title, run.title),
    summary: kept(report.summary, run.summary),
    text: kept(report.text, run.text),
    annotations: [...run.annotations, ...(report.annotations ?? [])].slice(0, mostReports),
    startedAt: kept(report.startedAt, run.startedAt),
    completedAt: status === 'completed' ? (report.completedAt ?? run.completedAt ?? now) : null,
  }
}

async function reportRun(
  parts: Parts,
  repository: Repository,
  by: Reporter,
  report: Parameters<Checks['report']>[2],
): Promise<CheckRun> {
  const now = parts.clock.now().toISOString()
  const { headSha, name, log } = report
  const id = await parts.store.update((state) => [
    { ...state, nextReportId: state.nextReportId + 2 },
    state.nextReportId,
  ])
  // The log is written before the run that it belongs to is announced.
  if (log !== undefined) await parts.logs.write(id, log)
  const run = await parts.store.update((state) => {
    const here = state.checkRuns.filter(
      (one) => one.repositoryId === repository.id && one.headSha === headSha,
    )
    refuseMore(here.length)
    const suiteId = here.find(({ appId }) => appId === by.appId)?.suiteId ?? id + 1
    const fresh: CheckRun = {
      id,
      repositoryId: repository.id,
      suiteId,
      headSha,
      appId: by.appId,
      name,
      status: 'queued',
      conclusion: null,
      externalId: '',
      detailsUrl: null,
      title: null,
      summary: null,
      text: null,
      annotations: [],
      createdAt: now,
      startedAt: now,
      completedAt: null,
    }
    const made = reported(fresh, report, now)
    return [{ ...state, checkRuns: [...state.checkRuns, made] }, made]
  })
  tellRun(parts, repository, by, undefined, run)
  return run
}

function refuseMore(here: number): void {
  if (here < mostReports) return
  const message = `This commit has ${mostReports} reports, the most there may be.`
  throw invalid({ resource: 'CheckRun', code: 'custom', message })
}

async function changeRun(
  parts: Parts,
  repository: Repository,
  id: number,
  by: Reporter,
  report: Report,
): Promise<CheckRun> {
  const { before, run } = await parts.store.update((state) => {
    const found = runOf(state, repository, id)
    if (found.appId !== by.appId)
      throw new Refusal(
        403,
        `Invalid app_id \`${by.appId}\` - check run can only be modified by the GitHub App that created it.`,
      )
    const after = reported(found, report, parts.clock.now().toISOString())
    const checkRuns = state.checkRuns.map((one) => (one.id === id ? after : one))
    return [
      { ...state, checkRuns },
      { before: found, run: after },
    ]
  })
  tellRun(parts, repository, by, before, run)
  return run
}

/** Announces a run that ends and, when it was the last one, its suite. */
function tellRun(
  { store, tell }: Parts,
  repository: Repository,
  { account }: Reporter,
  before: CheckRun | undefined,
  run: CheckRun,
): void {
  const about = { repository, sender: account } as const
  const isDone = run.status === 'completed' && before?.status !== 'completed'
  if (!before) tell({ ...about, kind: 'check_run', action: 'created', run })
  if (!isDone) return
  tell({ ...about, kind: 'check_run', action: 'completed', run })
  const runs = latestRuns(store.current().checkRuns.filter(({ suiteId }) => suiteId === run.suiteId))
  if (runs.every(({ status }) => status === 'completed'))
    tell({ ...about, kind: 'check_suite', action: 'completed', runs })
}

async function setStatus(
  { store, clock, tell }: Parts,
  repository: Repository,
  sha: string,
  by: Account,
  status: NewStatus,
): Promise<CommitStatus> {
  if (!mayPush(by, repository)) throw notFound()
  const made = await store.update((state) => {
    const here = state.statuses.filter((one) => one.repositoryId === repository.id && one.sha === sha)
    refuseMore(here.length)
    const added: CommitStatus = {
      ...status,
      id: state.nextReportId,
      repositoryId: repository.id,
      sha,
      creator: by.login,
      createdAt: clock.now().toISOString(),
    }
    return [{ ...state, nextReportId: state.nextReportId + 1, statuses: [...state.statuses, added] }, added]
  })
  tell({ kind: 'status', repository, status: made, sender: by })
  return made
}
