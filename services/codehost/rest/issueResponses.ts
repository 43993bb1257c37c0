/** Issues, labels and issue events in the form of GitHub's REST API, with the fields that the product reads. */
import { accountOf } from '../state/accounts.ts'
import type { Issue, IssueEvent } from '../state/issueRecords.ts'
import type { PullRequest } from '../state/stateSchema.ts'
import { labelAnswer, nodeId, simpleUser, time } from './responses.ts'
import { viaAppAnswer, type About } from './reviewResponses.ts'

const userOf = ({ origin }: About, login: string) => {
  const account = accountOf(login)
  return account ? simpleUser(origin, account) : null
}

/** The labels with these names, in the form of the REST API. */
export const labelsOf = (about: About, names: readonly string[]) =>
  about.state.labels
    .filter((one) => one.repositoryId === about.repository.id && names.includes(one.name))
    .map((one) => labelAnswer(about.answer, one))

/** The fields that issues and pull requests share in GitHub's schema `issue`. */
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
    number: one.number,
    title: one.title,
    user: userOf(about, one.author),
    comments: comments.length,
    created_at: time(one.createdAt),
    updated_at: time(one.updatedAt),
    body: one.body,
  }
}

/** An issue in GitHub's schema `issue`. */
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
    performed_via_github_app: viaAppAnswer(about, issue.viaApp),
  }
}

/** A pull request in GitHub's schema `issue`. */
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
    closed_at: pull.closedAt === null ? null : time(pull.closedAt),
    draft: pull.draft,
    pull_request: {
      url: `${answer.url}/pulls/${pull.number}`,
      html_url: page,
      merged_at: pull.merged ? time(pull.merged.at) : null,
    },
    performed_via_github_app: null,
  }
}

/** An issue event in GitHub's schema `issue-event`. */
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
    created_at: time(event.createdAt),
    ...(event.label === null ? {} : { label: { name: event.label, color: label?.color ?? 'ededed' } }),
  }
}
