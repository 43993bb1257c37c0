/** A pull request from its job to its outcome: committed and pushed by us, outside the box, looked up before it is made. */
import { randomUUID } from 'node:crypto'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream, userStream } from '#domain/kernel/ids.ts'
import type { PullRequestOutcome } from '#domain/task/commands.ts'
import { task as decider } from '#domain/task/task.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { usersView, type UserDocument } from '#domain/views/users.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { RunnerParts } from '../parts.ts'
import { commitAndPush, type PublishResult } from '../workspace/publish.ts'
import { identityOf, prepare } from './prepare.ts'

interface Wanted {
  readonly requestId: string
  readonly title: string
  readonly body: string
  readonly draft: boolean
}

const actor = { kind: 'system', service: 'runner' } as const
const coAuthors = {
  claude: 'claude <noreply@anthropic.com>',
  cursor: 'cursor <cursoragent@cursor.com>',
} as const

export async function makePullRequest(
  parts: RunnerParts,
  { taskId, requestId }: { readonly taskId: string; readonly requestId: string },
  signal: AbortSignal,
): Promise<void> {
  const stream = taskStream(taskId)
  const { state, head } = await parts.commands.load(decider, stream)
  if (state.kind !== 'task' || state.pullRequestRequest !== requestId) return
  const [task, user, wanted] = await Promise.all([
    parts.documents.asOf(tasksView, stream, taskId, head),
    parts.documents.asOf(
      usersView,
      userStream(state.ownerId),
      state.ownerId,
      await parts.log.headOf(userStream(state.ownerId)),
    ),
    wantedOf(parts, taskId, requestId),
  ])
  if (!task || !user || !wanted) return
  const outcome = await publish(parts, { task, user, wanted, signal }).catch((fault: unknown) =>
    outcomeOfFault(parts, fault),
  )
  const command = { type: 'SettlePullRequest', requestId, outcome } as const
  await parts.commands
    .execute(decider, stream, command, { actor, commandId: randomUUID() })
    .catch((fault: unknown) => {
      if (!(fault instanceof Fault)) throw fault
    })
}

async function publish(
  parts: RunnerParts,
  {
    task,
    user,
    wanted,
    signal,
  }: { task: TaskDocument; user: UserDocument; wanted: Wanted; signal: AbortSignal },
): Promise<PullRequestOutcome> {
  const prepared = await prepare(parts, { task, user, executionId: '', reporter: null, output: null, signal })
  if (prepared.kind === 'failed') return prepared
  const { workspace, repository, access } = prepared
  const { sandbox } = parts
  const pushed = await commitAndPush({
    git: parts.git,
    treeGit: 'missing' in sandbox ? parts.git : sandbox.gitFor(workspace),
    workspace,
    message: wanted.title,
    author: identityOf(user),
    coAuthor: coAuthors[task.agent],
    url: access.url,
    authorization: access.authorization,
    signal,
  })
  if (pushed.kind !== 'published') return refused(pushed)
  if (workspace.branch === workspace.baseBranch) {
    const reason = `The repository was empty: the work was pushed to ${workspace.branch}, and there is nothing to compare it with.`
    return { kind: 'failed', code: 'no_changes', reason }
  }
  const { accessToken } = access
  const between = { head: workspace.branch, base: workspace.baseBranch }
  const settled = { headCommit: pushed.headSha, messageId: randomUUID() }
  const existing = await parts.codeHost.findPullRequest(accessToken, repository, between)
  if (existing) return { kind: 'updated', number: existing.number, url: existing.htmlUrl, ...settled }
  const { title, body, draft } = wanted
  const opened = await parts.codeHost.openPullRequest(accessToken, repository, {
    ...between,
    title,
    body,
    draft,
  })
  return { kind: 'opened', number: opened.number, url: opened.htmlUrl, ...settled }
}

async function wantedOf(parts: RunnerParts, taskId: string, requestId: string): Promise<Wanted | undefined> {
  // The request is among the last things that happened: it is looked for from the end.
  for (let from: number | 'end' = 'end'; ;) {
    const events = await parts.log.readBackwards(taskStream(taskId), from, 200)
    for (const event of events) {
      if (event.type !== 'PullRequestRequested' || event.data.requestId !== requestId) continue
      const { draft } = event.data
      return { requestId, draft, title: event.content?.title ?? '', body: event.content?.body ?? '' }
    }
    const last = events.at(-1)
    if (!last || last.revision === 0) return undefined
    from = last.revision - 1
  }
}

function refused(pushed: Exclude<PublishResult, { kind: 'published' }>): PullRequestOutcome {
  return pushed.kind === 'nothing_to_publish'
    ? { kind: 'failed', code: 'no_changes', reason: 'There are no changes to open a pull request with.' }
    : { kind: 'failed', code: 'code_host_refused', reason: pushed.message }
}

function outcomeOfFault(parts: RunnerParts, fault: unknown): PullRequestOutcome {
  if (fault instanceof Fault) return { kind: 'failed', code: fault.code, reason: fault.message }
  if (fault instanceof CodeHostFault) {
    const code = fault.kind === 'unavailable' ? 'code_host_unavailable' : 'code_host_refused'
    return { kind: 'failed', code, reason: fault.message }
  }
  parts.logger.error({ err: fault }, 'pull request failed')
  return { kind: 'failed', code: 'internal', reason: 'Something went wrong while the pull request was made.' }
}
