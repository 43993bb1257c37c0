/** Answers of GitHub's REST API about checks, jobs and statuses, in the form of its OpenAPI description. */
import { accountOf } from '../../../../services/codehost/state/accounts.ts'
import { suiteConclusion } from '../checks/rollup.ts'
import type { CheckRun, CommitStatus } from '../checks/records.ts'
import type { Commit } from '../../../../services/codehost/git/bareRepository.ts'
import { nodeId, simpleUser, time } from '../../../../services/codehost/rest/responses.ts'
import { viaAppAnswer, type About } from '../../../../services/codehost/rest/reviewResponses.ts'

/** The schema `pull-request-minimal` for each open pull request with this head. */
function pullsWith({ state, repository, answer }: About, sha: string) {
  const repo = { id: repository.id, url: answer.url, name: repository.name }
  return state.pullRequests
    .filter((pull) => pull.repositoryId === repository.id && pull.headSha === sha && pull.closedAt === null)
    .map((pull) => ({
      url: `${answer.url}/pulls/${pull.number}`,
      id: pull.id,
      number: pull.number,
      head: { ref: pull.head, sha: pull.headSha, repo },
      base: { ref: pull.base, sha: pull.baseSha, repo },
    }))
}

/** The schema `check-run`. */
export function checkRunAnswer(about: About, run: CheckRun) {
  const { answer } = about
  const url = `${answer.url}/check-runs/${run.id}`
  const page = `${answer.html_url}/runs/${run.id}`
  return {
    id: run.id,
    node_id: nodeId('CheckRun', run.id),
    head_sha: run.headSha,
    external_id: run.externalId,
    url,
    html_url: page,
    details_url: run.detailsUrl ?? page,
    status: run.status,
    conclusion: run.conclusion,
    started_at: time(run.startedAt),
    completed_at: run.completedAt === null ? null : time(run.completedAt),
    output: {
      title: run.title,
      summary: run.summary,
      text: run.text,
      annotations_count: run.annotations.length,
      annotations_url: `${url}/annotations`,
    },
    name: run.name,
    check_suite: { id: run.suiteId },
    app: viaAppAnswer(about, run.appId),
    pull_requests: pullsWith(about, run.headSha),
  }
}

/** The schema `check-annotation`. */
export const annotationAnswer = ({ answer }: About, run: CheckRun, one: CheckRun['annotations'][number]) => ({
  path: one.path,
  blob_href: `${answer.html_url}/blob/${run.headSha}/${encodeURI(one.path)}`,
  start_line: one.startLine,
  end_line: one.endLine,
  start_column: null,
  end_column: null,
  annotation_level: one.level,
  title: one.title,
  message: one.message,
  raw_details: one.rawDetails,
})

/** The members that a suite has in every answer; `runs` are its latest runs, at least one. */
export function suiteBase(about: About, first: CheckRun, runs: readonly CheckRun[]) {
  const pulls = pullsWith(about, first.headSha)
  const isDone = runs.every(({ status }) => status === 'completed')
  return {
    id: first.suiteId,
    node_id: nodeId('CheckSuite', first.suiteId),
    head_branch: pulls[0]?.head.ref ?? null,
    head_sha: first.headSha,
    status: isDone ? 'completed' : 'in_progress',
    conclusion: suiteConclusion(runs),
    url: `${about.answer.url}/check-suites/${first.suiteId}`,
    before: pulls[0]?.base.sha ?? null,
    after: first.headSha,
    pull_requests: pulls,
    app: viaAppAnswer(about, first.appId),
    created_at: time(first.createdAt),
    updated_at: time(
      runs.reduce((last, run) => (run.createdAt > last ? run.createdAt : last), first.createdAt),
    ),
  }
}

/** The schema `check-suite`. */
export const suiteAnswer = (about: About, first: CheckRun, runs: readonly CheckRun[], head: Commit) => ({
  ...suiteBase(about, first, runs),
  head_commit: {
    id: head.sha,
    tree_id: head.tree,
    message: head.message,
    timestamp: time(head.committer.date),
    author: { name: head.author.name, email: head.author.email },
    committer: { name: head.committer.name, email: head.committer.email },
  },
  repository: about.answer,
  latest_check_runs_count: runs.length,
  check_runs_url: `${about.answer.url}/check-suites/${first.suiteId}/check-runs`,
})

/** The schema `job`: a check run of Actions under another name. */
export function jobAnswer({ answer, state, repository }: About, run: CheckRun) {
  const pull = state.pullRequests.find(
    (one) => one.repositoryId === repository.id && one.headSha === run.headSha,
  )
  return {
    id: run.id,
    run_id: run.suiteId,
    run_url: `${answer.url}/actions/runs/${run.suiteId}`,
    run_attempt: 1,
    node_id: nodeId('CheckRun', run.id),
    head_sha: run.headSha,
    head_branch: pull?.head ?? null,
    url: `${answer.url}/actions/jobs/${run.id}`,
    html_url: `${answer.html_url}/actions/runs/${run.suiteId}/job/${run.id}`,
    status: run.status,
    conclusion: run.conclusion,
    created_at: time(run.createdAt),
    started_at: time(run.startedAt),
    completed_at: run.completedAt === null ? null : time(run.completedAt),
    name: run.name,
    steps: [
      {
        name: run.name,
        status: run.status,
        conclusion: run.conclusion,
        number: 1,
        started_at: time(run.startedAt),
        completed_at: run.completedAt === null ? null : time(run.completedAt),
      },
    ],
    check_run_url: `${answer.url}/check-runs/${run.id}`,
    labels: ['local'],
    runner_id: 1,
    runner_name: 'local',
    runner_group_id: 1,
    runner_group_name: 'local',
    workflow_name: 'Checks',
  }
}

/** The schema `status`, and without `creator` the schema `simple-commit-status`. */
export function statusAnswer({ origin, answer }: About, one: CommitStatus) {
  const creator = accountOf(one.creator)
  return {
    url: `${answer.url}/statuses/${one.sha}`,
    avatar_url: `${origin}/avatars/${one.creator}`,
    id: one.id,
    node_id: nodeId('StatusContext', one.id),
    state: one.state,
    description: one.description,
    target_url: one.targetUrl,
    context: one.context,
    created_at: time(one.createdAt),
    updated_at: time(one.createdAt),
    creator: creator ? simpleUser(origin, creator) : null,
  }
}
