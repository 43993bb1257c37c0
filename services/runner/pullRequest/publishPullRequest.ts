/** Publishes a task's work. Commits and pushes outside of the sandbox, and looks for an existing pull request before it opens one. */
import { randomUUID } from 'node:crypto'
import { faults } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { PullRequestOutcome } from '#domain/task/commands.ts'
import { withClosing } from '#domain/task/codeHost/issue.ts'
import { endOf, noLongerOpen } from '#domain/task/codeHost/pullRequest.ts'
import { belowTemplateMark, withTemplate } from '#domain/task/codeHost/pullRequestProposal.ts'
import { task as decider } from '#domain/task/task.ts'
import {
  CodeHostFault,
  writeOrFind,
  type CodeHost,
  type HostPullRequest,
  type RepositoryName,
} from '#platform/ports/codeHost.ts'
import type { ReadyWorkspace } from '../execution/prepareWorkspace.ts'
import { namedOf } from '../workspace/names.ts'
import type { PublishResult } from '../workspace/publish/publish.ts'
import { wordsOf } from './texts.ts'
import type { Publication, PublishingDeps } from './publication.ts'
import { publishOrigins } from './publishLineOrigins.ts'
import { pushAndRecord } from './pushWork.ts'
import { baseGone } from './recordChanges.ts'
import { withRecord } from './recordLink.ts'
import { templateOf } from './template.ts'
import { hasBase, workspaceToPublish } from './workspaceToPublish.ts'

const actor = { kind: 'system', service: 'runner' } as const

export async function publishPullRequest(
  deps: PublishingDeps,
  publication: Publication,
): Promise<PullRequestOutcome> {
  const ready = await workspaceToPublish(deps, publication)
  if (ready.kind === 'failed') return ready
  const { workspace, repository, access } = ready
  const branches = { head: workspace.branch, base: workspace.baseBranch }
  const { pullRequest } = publication.state
  const number = pullRequest && endOf(pullRequest) === null ? pullRequest.number : undefined
  const wanted = { ...branches, number }
  const existing = await deps.codeHost.findPullRequest(access.accessToken, repository, wanted)
  if (!existing) {
    const over = await endedAtHost(deps, publication, ready)
    if (over !== null) return over
    if (!(await hasBase(deps, workspace))) {
      const reason = `${baseGone(branches.base)} Nothing was pushed. Create it again at the code host, or go on in a new task on another branch.`
      return { kind: 'failed', code: 'code_host_refused', reason }
    }
  }
  const pushed = await pushAndRecord(deps, publication, { ready, isOpen: existing !== undefined })
  if (pushed.kind !== 'published') return refused(pushed)
  if (workspace.branch === workspace.baseBranch) {
    const reason = `The repository was empty, so the work was pushed to ${workspace.branch}. There is nothing to open a pull request against.`
    return { kind: 'failed', code: 'no_changes', reason }
  }
  const { headSha: headCommit } = pushed
  const [outcome, notesRefused] = await Promise.all([
    openOrUpdate(deps, publication, ready, { existing, headCommit }),
    publishOrigins(deps, publication, ready, headCommit),
  ])
  return 'number' in outcome ? { ...outcome, notesRefused } : outcome
}

type ExistingPullRequest = Awaited<ReturnType<PublishingDeps['codeHost']['findPullRequest']>>

async function openOrUpdate(
  deps: PublishingDeps,
  { state, task, requested }: Publication,
  { workspace, repository, access: { accessToken } }: ReadyWorkspace,
  { existing, headCommit }: { readonly existing: ExistingPullRequest; readonly headCommit: string },
): Promise<PullRequestOutcome> {
  const { codeHost } = deps
  const { draft, rewrites, automatic } = requested
  const isNews = !automatic || (state.pullRequest?.headCommit ?? null) !== headCommit
  const settled = { headCommit, messageId: isNews ? randomUUID() : null }
  const bodyOf = (text: string) => withRecord(deps, task.id, withClosing(state.issue, text))
  if (existing) {
    const { number, htmlUrl: url } = existing
    if (rewrites) {
      const body = withTemplate(await bodyOf(requested.body), belowTemplateMark(existing.body))
      await codeHost.updatePullRequest(accessToken, repository, number, { title: requested.title, body })
    }
    return { kind: 'updated', number, url, ...settled }
  }
  const branches = { head: workspace.branch, base: workspace.baseBranch }
  const words = await wordsOf(deps, { task, requested })
  const template = await templateOf(deps.git, { gitDir: workspace.mirrorDir, branch: workspace.baseBranch })
  const body = withTemplate(await bodyOf(words.body), template)
  const opened = await openOnce(codeHost, accessToken, repository, {
    ...branches,
    title: words.title,
    body,
    draft,
  })
  return { kind: 'opened', number: opened.number, url: opened.htmlUrl, ...settled }
}

/**
 * Opens the pull request. Tries once more if the host failed and the pull request does not exist. This is safe, because a host accepts only one pull
 * request per branch.
 */
function openOnce(
  codeHost: Pick<CodeHost, 'openPullRequest' | 'findPullRequest'>,
  token: string,
  repository: RepositoryName,
  request: Parameters<CodeHost['openPullRequest']>[2],
): Promise<HostPullRequest> {
  const open = () => codeHost.openPullRequest(token, repository, request)
  const find = () => codeHost.findPullRequest(token, repository, request)
  return writeOrFind(open, find).catch(async (fault: unknown) => {
    if (!(fault instanceof CodeHostFault && fault.kind === 'unavailable')) throw fault
    return open().catch(async (again: unknown) => {
      const late = await find().catch(() => undefined)
      if (late === undefined) throw again
      return late
    })
  })
}

/**
 * Called when the host has no open pull request from the task's branch. Records the state that the earlier pull request now has at the host. Returns
 * `null` if a new one may be opened. Otherwise returns the outcome: a person's update fails because the pull request has ended, and an automatic
 * update never opens another. Throws CodeHostFault when the state cannot be read.
 */
async function endedAtHost(
  { codeHost, commands }: Pick<PublishingDeps, 'codeHost' | 'commands'>,
  { state, task, requested: { automatic } }: Publication,
  { access, repository }: ReadyWorkspace,
): Promise<PullRequestOutcome | null> {
  const { pullRequest } = state
  const isUpdate = pullRequest !== null && endOf(pullRequest) === null
  if (isUpdate) {
    const references = [{ repository, number: pullRequest.number }]
    const [reading] = await codeHost.pullRequestStates(access.accessToken, references)
    if (reading?.kind === 'read') {
      const command = { type: 'ObservePullRequest', observed: reading.pullRequest } as const
      const observed = await commands.execute(decider, taskStream(task.id), command, {
        actor,
        commandId: randomUUID(),
      })
      const now = observed.state.kind === 'task' ? observed.state.pullRequest : null
      const over = now && endOf(now)
      if (!over) {
        const reason = `GitHub says that pull request #${pullRequest.number} is open, and does not list it for this branch. Try again in a moment.`
        return { kind: 'failed', code: 'code_host_refused', reason }
      }
      if (!automatic) return { kind: 'failed', code: over.code, reason: over.sentence }
    }
  }
  if (!automatic || pullRequest === null) return null
  return { kind: 'closed', reason: noLongerOpen(task.prNumber), messageId: randomUUID() }
}

function refused(pushed: Exclude<PublishResult, { kind: 'published' }>): PullRequestOutcome {
  switch (pushed.kind) {
    case 'nothing_to_publish':
      return { kind: 'failed', code: 'no_changes', reason: nothingSentence(pushed.leftOut) }
    case 'moved':
      return { kind: 'failed', code: 'changes_moved', reason: pushed.message }
    case 'no_workflows':
      return { kind: 'failed', code: 'workflows_not_granted', reason: pushed.message }
    case 'branch_moved':
    case 'conflict':
    case 'refused':
    case 'unreachable':
    case 'limited':
    case 'not_committable':
      return { kind: 'failed', code: 'code_host_refused', reason: pushed.message }
  }
}

function nothingSentence(leftOut: readonly string[]): string {
  const { sentence } = faults.no_changes
  if (leftOut.length === 0) return sentence
  return `${sentence} What is new is a repository of its own: ${namedOf(leftOut, 5)}. Its files become part of the changes once its .git folder is removed: ${leftOut[0]}.git`
}
