/** Issues and their labels. Everybody who can read the repository may open an issue; setting labels needs the triage permission. */
import type { Clock } from '#platform/ports/clock.ts'
import { sameName } from '../state/accounts.ts'
import { mayTriage } from '../state/permissions.ts'
import type { Actor } from '../state/actors.ts'
import { invalid, notFound, Refusal } from '../httpError.ts'
import type { PullRequest, Repository, State } from '../state/stateSchema.ts'
import type { Store } from '../state/store.ts'
import type { HostEvent } from '../state/events.ts'
import { closedBy, nextNumber } from './numbers.ts'
import {
  mostEvents,
  mostIssues,
  mostLabels,
  mostLabelsOfAll,
  type Issue,
  type IssueEvent,
  type Label,
} from '../state/issueRecords.ts'

export interface NewIssue {
  readonly title: string
  readonly body: string | null
  readonly labels: readonly string[]
}

export interface IssueEdit {
  readonly title?: string | undefined
  readonly body?: string | null | undefined
  readonly state?: 'open' | 'closed' | undefined
  readonly reason?: 'completed' | 'not_planned' | undefined
  readonly labels?: readonly string[] | undefined
}

export interface Issues {
  of(repository: Repository): readonly Issue[]
  /** Returns an issue. Throws Refusal 404. */
  get(repository: Repository, number: number): Issue
  labels(repository: Repository): readonly Label[]
  events(repository: Repository, number: number): readonly IssueEvent[]
  /**
   * Opens an issue. As on GitHub, labels are ignored unless the author has the triage permission. Throws Refusal 422 when there are too many issues
   * or labels.
   */
  open(repository: Repository, by: Actor, request: NewIssue): Promise<Issue>
  /** Changes an issue. Throws Refusal 403, 404 and 422. */
  edit(repository: Repository, number: number, by: Actor, edit: IssueEdit): Promise<Issue>
  /** The names of the labels on an issue or a pull request. Throws Refusal 404. */
  labelsOn(repository: Repository, number: number): readonly string[]
  /** Adds labels to an issue or pull request, and returns all its labels. Throws Refusal 403, 404 and 422. */
  addLabels(
    repository: Repository,
    number: number,
    by: Actor,
    names: readonly string[],
  ): Promise<readonly string[]>
  /** Removes a label and returns the others. Throws Refusal 403, and 404 also when the label is not set. */
  removeLabel(repository: Repository, number: number, by: Actor, name: string): Promise<readonly string[]>
  /** Closes the issues that the text of a merged pull request says it closes, if the pull request was merged into the default branch. */
  closeMentioned(repository: Repository, pull: PullRequest, by: Actor): Promise<void>
}

interface Parts {
  readonly store: Store
  readonly clock: Clock
  readonly tell: (event: HostEvent) => void
}

export function createIssues(parts: Parts): Issues {
  const state = () => parts.store.current()
  return {
    of: (repository) => state().issues.filter(({ repositoryId }) => repositoryId === repository.id),
    get: (repository, number) => issueOf(state(), repository, number),
    labels: (repository) => state().labels.filter(({ repositoryId }) => repositoryId === repository.id),
    events: (repository, number) =>
      state().issueEvents.filter((one) => one.repositoryId === repository.id && one.number === number),
    open: (repository, by, request) => open(parts, repository, by, request),
    edit: (repository, number, by, edit) => editIssue(parts, repository, number, by, edit),
    labelsOn: (repository, number) =>
      (pullOf(state(), repository, number) ?? issueOf(state(), repository, number)).labels,
    addLabels: (repository, number, by, names) =>
      changeLabels(parts, repository, number, by, (labels) => [...labels, ...names]),
    removeLabel: (repository, number, by, name) =>
      changeLabels(parts, repository, number, by, (labels) => {
        if (!labels.some((one) => sameName(one, name))) throw new Refusal(404, 'Label does not exist')
        return labels.filter((one) => !sameName(one, name))
      }),
    closeMentioned: async (repository, pull, by) => {
      if (pull.base !== repository.defaultBranch) return
      for (const number of closedBy(`${pull.title}\n${pull.body ?? ''}`)) {
        const found = state().issues.find(
          (one) => one.repositoryId === repository.id && one.number === number && one.closed === null,
        )
        if (found) await change(parts, repository, number, by, () => ({ state: 'closed' }))
      }
    },
  }
}

function issueOf(state: State, repository: Repository, number: number): Issue {
  const found = state.issues.find((one) => one.repositoryId === repository.id && one.number === number)
  if (!found) throw notFound()
  return found
}

async function open(parts: Parts, repository: Repository, by: Actor, request: NewIssue): Promise<Issue> {
  const now = parts.clock.now().toISOString()
  const issue = await parts.store.update((before) => {
    const labels = mayTriage(by.account, repository) ? distinct(request.labels) : []
    const state = withLabels(before, repository, labels)
    if (state.issues.filter(({ repositoryId }) => repositoryId === repository.id).length >= mostIssues)
      throw invalid({
        resource: 'Issue',
        code: 'custom',
        message: `There are ${mostIssues} issues, the most there may be.`,
      })
    const made: Issue = {
      id: state.nextTextId,
      repositoryId: repository.id,
      number: nextNumber(state, repository),
      title: request.title,
      body: request.body,
      author: by.account.login,
      viaApp: by.viaApp,
      labels: namesAsKnown(state, repository, labels),
      createdAt: now,
      updatedAt: now,
      editedAt: null,
      editedBy: null,
      closed: null,
    }
    const next = { ...state, nextTextId: state.nextTextId + 1, issues: [...state.issues, made] }
    return [
      noted(
        next,
        made,
        by,
        made.labels.map((label) => ({ kind: 'labeled', label })),
        now,
      ),
      made,
    ]
  })
  const about = { kind: 'issues', repository, issue, sender: by.account } as const
  parts.tell({ ...about, action: 'opened' })
  for (const label of issue.labels) parts.tell({ ...about, action: 'labeled', label })
  return issue
}

function editIssue(
  parts: Parts,
  repository: Repository,
  number: number,
  by: Actor,
  edit: IssueEdit,
): Promise<Issue> {
  const before = issueOf(parts.store.current(), repository, number)
  const mayEdit = mayTriage(by.account, repository) || sameName(before.author, by.account.login)
  if (!mayEdit) throw new Refusal(403, 'Must have admin rights to Repository.')
  const labels = mayTriage(by.account, repository) ? edit.labels : undefined
  return change(parts, repository, number, by, () => ({ ...edit, labels }))
}

const pullOf = (state: State, repository: Repository, number: number): PullRequest | undefined =>
  state.pullRequests.find((one) => one.repositoryId === repository.id && one.number === number)

async function changeLabels(
  parts: Parts,
  repository: Repository,
  number: number,
  by: Actor,
  next: (labels: readonly string[]) => readonly string[],
): Promise<readonly string[]> {
  if (!mayTriage(by.account, repository)) throw new Refusal(403, 'Must have admin rights to Repository.')
  if (pullOf(parts.store.current(), repository, number))
    return changePullLabels(parts, repository, number, by, next)
  const is = await change(parts, repository, number, by, (was) => ({ labels: next(was.labels) }))
  return is.labels
}

async function changePullLabels(
  { store, clock, tell }: Parts,
  repository: Repository,
  number: number,
  by: Actor,
  next: (labels: readonly string[]) => readonly string[],
): Promise<readonly string[]> {
  const now = clock.now().toISOString()
  const { pull, happened } = await store.update((known) => {
    const was = pullOf(known, repository, number)
    if (!was) throw notFound()
    const wanted = next(was.labels)
    const state = withLabels(known, repository, wanted)
    const is = { ...was, labels: namesAsKnown(state, repository, wanted), updatedAt: now }
    const events = labelsBetween(was.labels, is.labels)
    const pullRequests = state.pullRequests.map((one) => (one.id === is.id ? is : one))
    return [noted({ ...state, pullRequests }, is, by, events, now), { pull: is, happened: events }]
  })
  const about = { kind: 'pull_request', repository, pull, sender: by.account } as const
  for (const { kind, label } of happened) tell({ ...about, action: kind, label })
  return pull.labels
}

const labelsBetween = (was: readonly string[], is: readonly string[]) => [
  ...is.filter((label) => !was.includes(label)).map((label) => ({ kind: 'labeled', label }) as const),
  ...was.filter((label) => !is.includes(label)).map((label) => ({ kind: 'unlabeled', label }) as const),
]

type Happened = Pick<IssueEvent, 'kind' | 'label'>

async function change(
  parts: Parts,
  repository: Repository,
  number: number,
  by: Actor,
  editOf: (was: Issue) => IssueEdit,
): Promise<Issue> {
  const now = parts.clock.now().toISOString()
  const { before, after, happened } = await parts.store.update((known) => {
    const was = issueOf(known, repository, number)
    const edit = editOf(was)
    const state = withLabels(known, repository, edit.labels ?? [])
    const labels = edit.labels === undefined ? was.labels : namesAsKnown(state, repository, edit.labels)
    const title = edit.title ?? was.title
    const body = edit.body === undefined ? was.body : edit.body
    const isEdited = title !== was.title || body !== was.body
    const is: Issue = {
      ...was,
      title,
      body,
      labels,
      closed: closedAfter(was, edit, by.account.login, now),
      editedAt: isEdited ? now : was.editedAt,
      editedBy: isEdited ? by.account.login : was.editedBy,
      updatedAt: now,
    }
    const events = happenedBetween(was, is)
    const issues = state.issues.map((one) => (one.id === is.id ? is : one))
    return [noted({ ...state, issues }, is, by, events, now), { before: was, after: is, happened: events }]
  })
  const about = { kind: 'issues', repository, issue: after, sender: by.account } as const
  if (before.title !== after.title || before.body !== after.body)
    parts.tell({ ...about, action: 'edited', before })
  for (const { kind, label } of happened)
    parts.tell({ ...about, action: kind, ...(label === null ? {} : { label }) })
  return after
}

function closedAfter(was: Issue, edit: IssueEdit, by: string, now: string): Issue['closed'] {
  if (edit.state === undefined) return was.closed
  if (edit.state === 'open') return null
  return was.closed ?? { at: now, by, reason: edit.reason ?? 'completed' }
}

function happenedBetween(was: Issue, is: Issue): readonly Happened[] {
  const isChanged = (was.closed === null) !== (is.closed === null)
  return [
    ...labelsBetween(was.labels, is.labels),
    ...(isChanged ? [{ kind: is.closed === null ? 'reopened' : 'closed', label: null } as const] : []),
  ]
}

/** The repository and number of an issue or pull request. */
type Numbered = Pick<Issue, 'repositoryId' | 'number'>

/** The state with new events about an issue or pull request. */
function noted(state: State, issue: Numbered, by: Actor, happened: readonly Happened[], now: string): State {
  const events = happened.map((one, index): IssueEvent => ({
    ...one,
    id: state.nextTextId + index,
    repositoryId: issue.repositoryId,
    number: issue.number,
    actor: by.account.login,
    createdAt: now,
  }))
  return {
    ...state,
    nextTextId: state.nextTextId + events.length,
    issueEvents: lastOf(state.issueEvents, issue, mostEvents - events.length).concat(events),
  }
}

/** Drops events of one issue, except its last `most` events. Keeps all events of other issues. */
function lastOf(all: readonly IssueEvent[], issue: Numbered, most: number): IssueEvent[] {
  const isOfIt = (one: IssueEvent) => one.repositoryId === issue.repositoryId && one.number === issue.number
  const kept = new Set(all.filter(isOfIt).slice(-most))
  return all.filter((one) => !isOfIt(one) || kept.has(one))
}

const distinct = (names: readonly string[]): readonly string[] =>
  names.filter((name, index) => names.findIndex((one) => sameName(one, name)) === index)

/** Creates the labels that do not exist yet, as GitHub does. */
function withLabels(state: State, repository: Repository, names: readonly string[]): State {
  if (names.length > mostLabels) throw invalid({ resource: 'Issue', field: 'labels', code: 'invalid' })
  const missing = distinct(names).filter((name) => !labelOf(state, repository, name))
  const made = missing.map((name, index): Label => ({
    id: state.nextTextId + index,
    repositoryId: repository.id,
    name,
    color: 'ededed',
    description: null,
  }))
  if (made.length === 0) return state
  const here = state.labels.filter(({ repositoryId }) => repositoryId === repository.id)
  if (here.length + made.length > mostLabelsOfAll)
    throw invalid({
      resource: 'Label',
      code: 'custom',
      message: `There are ${mostLabelsOfAll} labels, the most there may be.`,
    })
  return { ...state, nextTextId: state.nextTextId + made.length, labels: [...state.labels, ...made] }
}

export const labelOf = (state: State, repository: Repository, name: string): Label | undefined =>
  state.labels.find((one) => one.repositoryId === repository.id && sameName(one.name, name))

/** The names of labels without duplicates, each in the spelling of the existing label. */
const namesAsKnown = (state: State, repository: Repository, names: readonly string[]): readonly string[] =>
  distinct(names).map((name) => labelOf(state, repository, name)?.name ?? name)
