/** A pull request from its job to its outcome: committed and pushed by us, outside the box, looked up before it is made. */
import { randomUUID } from 'node:crypto'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream, userStream } from '#domain/kernel/ids.ts'
import type { PullRequestOutcome } from '#domain/task/commands.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import { titleOf } from '#domain/api/tasks.ts'
import { chatView } from '#domain/views/chat.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { usersView, type UserDocument } from '#domain/views/users.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { RunnerParts } from '../parts.ts'
import type { Sandbox } from '../sandbox/port.ts'
import { commitAndPush, type PublishResult } from '../workspace/publish.ts'
import { removeWorkspace } from '../workspace/workspace.ts'
import { bringIn } from './bringIn.ts'
import { identityOf, prepare } from './prepare.ts'
import { bringBack } from './savedWork.ts'
import { ownSecrets, settingsOf } from './secrets.ts'

interface Wanted {
  readonly requestId: string
  readonly title: string
  readonly body: string
  readonly draft: boolean
  /** Asked for by the end of a turn: nobody waits for the outcome. */
  readonly automatic: boolean
  readonly rewrites: boolean
}

const actor = { kind: 'system', service: 'runner' } as const
const coAuthors = {
  claude: 'claude <noreply@anthropic.com>',
  cursor: 'cursor <cursoragent@cursor.com>',
} as const

const lostWork =
  'The workspace of this task is gone, and what was not pushed could not be brought back. Let the agent go on, and ask again.'

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
  const outcome = await publish(parts, { state, task, user, wanted, signal }).catch((fault: unknown) =>
    outcomeOfFault(parts, fault),
  )
  const command = {
    type: 'SettlePullRequest',
    requestId,
    outcome: wanted.automatic ? told(outcome) : outcome,
    nextRequestId: randomUUID(),
  } as const
  await parts.commands
    .execute(decider, stream, command, { actor, commandId: randomUUID() })
    .catch((fault: unknown) => {
      if (!(fault instanceof Fault)) throw fault
    })
}

interface Publishing {
  readonly state: LiveTask
  readonly task: TaskDocument
  readonly user: UserDocument
  readonly wanted: Wanted
  readonly signal: AbortSignal
}

/** Where nobody waits for the outcome, the chat tells what went wrong. */
function told(outcome: PullRequestOutcome): PullRequestOutcome {
  return outcome.kind === 'failed' ? { ...outcome, messageId: randomUUID() } : outcome
}

async function publish(
  parts: RunnerParts,
  { state, task, user, wanted, signal }: Publishing,
): Promise<PullRequestOutcome> {
  const prepared = await prepare(parts, { task, user, executionId: '', reporter: null, output: null, signal })
  if (prepared.kind === 'failed') return prepared
  const { workspace, repository, access } = prepared
  if (prepared.isNew && (await bringBack(parts, state, workspace)).kind !== 'brought_back') {
    await removeWorkspace(parts.root, task.id, parts.path)
    return { kind: 'failed', code: 'no_changes', reason: lostWork }
  }
  /** The commit that the pull request had last. */
  const last = state.pullRequest?.headCommit ?? null
  const { accessToken } = access
  const between = { head: workspace.branch, base: workspace.baseBranch }
  const existing = await parts.codeHost.findPullRequest(accessToken, repository, between)
  if (!existing && wanted.automatic) return closed(task)
  const { sandbox } = parts
  const { secrets } = await settingsOf(parts, task.projectId)
  const pushed = await commitAndPush({
    git: parts.git,
    treeGit: 'missing' in sandbox ? parts.git : sandbox.gitFor(workspace),
    workspace,
    message: last === null ? wanted.title : await latestMessage(parts, task, wanted),
    author: identityOf(user),
    coAuthor: coAuthors[task.agent],
    secrets: [...secrets, ...ownSecrets(parts, access)],
    threads: parts.redactionThreads,
    url: access.url,
    authorization: access.authorization,
    signal,
    bringIn: async (patch) => (await whyNotNow(parts, task.id)) ?? bringIn(boxOf(parts), workspace, patch),
  })
  if (pushed.kind !== 'published') return refused(pushed)
  if (workspace.branch === workspace.baseBranch) {
    const reason = `The repository was empty: the work was pushed to ${workspace.branch}, and there is nothing to compare it with.`
    return { kind: 'failed', code: 'no_changes', reason }
  }
  const { title, body, draft, rewrites, automatic } = wanted
  const isNews = !automatic || last !== pushed.headSha
  const settled = { headCommit: pushed.headSha, messageId: isNews ? randomUUID() : null }
  if (existing) {
    const { number, htmlUrl: url } = existing
    if (rewrites) await parts.codeHost.updatePullRequest(accessToken, repository, number, { title, body })
    return { kind: 'updated', number, url, ...settled }
  }
  const opened = await parts.codeHost.openPullRequest(accessToken, repository, {
    ...between,
    title,
    body,
    draft,
  })
  return { kind: 'opened', number: opened.number, url: opened.htmlUrl, ...settled }
}

function closed({ prNumber }: TaskDocument): PullRequestOutcome {
  const reason = `Pull request #${prNumber} is open no more, so it is not updated by itself any longer. A new one takes up what was done since.`
  return { kind: 'closed', reason, messageId: randomUUID() }
}

/** What was asked for last says what an update is about. */
async function latestMessage(
  { documents }: RunnerParts,
  task: TaskDocument,
  wanted: Wanted,
): Promise<string> {
  const latest = await documents.find(chatView, {
    where: { task: task.id },
    sort: { field: 'order', direction: 'descending' },
    limit: 50,
  })
  const asked = latest.find(({ messageType, status }) => messageType === 'user' && status === 'completed')
  return titleOf(asked?.message ?? '') || wanted.title
}

/** Nobody's files change under their hands. */
async function whyNotNow({ commands }: RunnerParts, taskId: string): Promise<string | null> {
  const { state } = await commands.load(decider, taskStream(taskId))
  return state.kind === 'task' && 'execution' in state.phase
    ? 'the agent is at work in the files; ask again when it is done'
    : null
}

function boxOf({ sandbox }: RunnerParts): Sandbox {
  if ('missing' in sandbox) throw new Fault('code_host_refused', sandbox.missing)
  return sandbox
}

async function wantedOf(parts: RunnerParts, taskId: string, requestId: string): Promise<Wanted | undefined> {
  // The request is among the last things that happened: it is looked for from the end.
  for (let from: number | 'end' = 'end'; ;) {
    const events = await parts.log.readBackwards(taskStream(taskId), from, 200)
    for (const event of events) {
      if (event.type !== 'PullRequestRequested' || event.data.requestId !== requestId) continue
      const { title = '', body = '' } = event.content ?? {}
      return { ...event.data, title, body }
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
