/** What GitHub's REST API says of issues, labels and what happened to them, in the shape of its OpenAPI description. */
import { accountOf } from '../accounts.ts'
import { associationOf } from '../actors.ts'
import type { Issue, IssueEvent } from '../issues/records.ts'
import type { PullRequest } from '../state.ts'
import { labelAnswer, nodeId, simpleUser, time } from './answers.ts'
import { reactionsOf, viaAppAnswer, type About } from './reviewAnswers.ts'

const userOf = ({ origin }: About, login: string) => {
  const account = accountOf(login)
  return account ? simpleUser(origin, account) : null
}

/** The labels of an issue. */
export const labelsOf = (about: About, names: readonly string[]) =>
  about.state.labels
    .filter((one) => one.repositoryId === about.repository.id && names.includes(one.name))
    .map((one) => labelAnswer(about.answer, one))

/** What issues and pull requests have in common as issues. */
function base(
  about: About,
  one: Pick<Issue, 'number' | 'title' | 'body' | 'author' | 'createdAt' | 'updatedAt'>,
) {
  const { state, repository, answer } = about
  const url = `${answer.url}/issues/${one.number}`
  const comments = state.issueComments.filter(
    (each) => each.repositoryId === repository.id && each.number === one.number,
  )
  return {
    url,
    repository_url: answer.url,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    timeline_url: `${url}/timeline`,
    number: one.number,
    title: one.title,
    user: userOf(about, one.author),
    locked: false,
    active_lock_reason: null,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: comments.length,
    created_at: time(one.createdAt),
    updated_at: time(one.updatedAt),
    author_association: associationOf(state, repository, one.author),
    body: one.body,
  }
}

/** `issue`. */
export function issueAnswer(about: About, issue: Issue) {
  const { closed } = issue
  const shared = base(about, issue)
  return {
    ...shared,
    id: issue.id,
    node_id: nodeId('Issue', issue.id),
    html_url: `${about.answer.html_url}/issues/${issue.number}`,
    labels: labelsOf(about, issue.labels),
    state: closed === null ? 'open' : 'closed',
    state_reason: closed?.reason ?? null,
    draft: false,
    closed_at: closed === null ? null : time(closed.at),
    closed_by: closed === null ? null : userOf(about, closed.by),
    reactions: reactionsOf(about, shared.url, { subject: 'issue', subjectId: issue.id }),
    performed_via_github_app: viaAppAnswer(about, issue.viaApp),
  }
}

/** `issue`, of a pull request. */
export function pullAsIssue(about: About, pull: PullRequest) {
  const { answer } = about
  const page = `${answer.html_url}/pull/${pull.number}`
  const shared = base(about, pull)
  return {
    ...shared,
    id: pull.id,
    node_id: nodeId('PullRequest', pull.id),
    html_url: page,
    labels: labelsOf(about, pull.labels),
    state: pull.closedAt === null ? 'open' : 'closed',
    state_reason: null,
    closed_at: pull.closedAt === null ? null : time(pull.closedAt),
    draft: pull.draft,
    pull_request: {
      url: `${answer.url}/pulls/${pull.number}`,
      html_url: page,
      diff_url: `${page}.diff`,
      patch_url: `${page}.patch`,
      merged_at: pull.merged ? time(pull.merged.at) : null,
    },
    reactions: reactionsOf(about, shared.url, undefined),
    performed_via_github_app: null,
  }
}

/** `issue-event`, as it stands in the list of one issue. */
export function issueEventAnswer(about: About, event: IssueEvent) {
  const label = about.state.labels.find(
    (one) => one.repositoryId === about.repository.id && one.name === event.label,
  )
  return {
    id: event.id,
    node_id: nodeId('IssueEvent', event.id),
    url: `${about.answer.url}/issues/events/${event.id}`,
    actor: userOf(about, event.actor),
    event: event.kind,
    commit_id: null,
    commit_url: null,
    created_at: time(event.createdAt),
    performed_via_github_app: null,
    ...(event.label === null ? {} : { label: { name: event.label, color: label?.color ?? 'ededed' } }),
  }
}
