/** A pull request from its job to its outcome: committed and pushed by us, outside the box, looked up before it is made. */
import { randomUUID } from 'node:crypto'
import { Fault, faults } from '#domain/kernel/errors.ts'
import { taskStream, userStream } from '#domain/kernel/ids.ts'
import type { PullRequestOutcome } from '#domain/task/commands.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import { titleOf } from '#domain/api/tasks.ts'
import { chatView } from '#domain/views/chat.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { usersView, type UserDocument } from '#domain/views/users.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { Redaction } from '../output/redaction.ts'
import type { RunnerDeps } from '../deps.ts'
import type { Sandbox } from '../sandbox/port.ts'
import { readChanges } from '../workspace/changes/changes.ts'
import type { Git } from '../workspace/git/git.ts'
import { commitAndPush, type PublishResult } from '../workspace/publish/publish.ts'
import type { StagedTree } from '../workspace/changes/stage.ts'
import { removeWorkspace, type Workspace } from '../workspace/workspace.ts'
import { applyPatch } from '../workspace/publish/applyPatch.ts'
import { changesEvent, toldOf } from './recording/changesReport.ts'
import { identityOf, prepare } from './prepareWorkspace.ts'
import { bringBack } from './recording/savedWork.ts'
import type { Stopping } from './stopping.ts'
import { ownSecrets, settingsOf, valuesOf } from './projectSecrets.ts'

interface Wanted {
  readonly requestId: string
  readonly title: string
  readonly body: string
  readonly draft: boolean
  /** Asked for by the end of a turn: nobody waits for the outcome. */
  readonly automatic: boolean
  readonly rewrites: boolean
  /** The tree that was recorded when it was asked for. */
  readonly tree: string | null
}

const actor = { kind: 'system', service: 'runner' } as const
const coAuthors = {
  claude: 'claude <noreply@anthropic.com>',
  cursor: 'cursor <cursoragent@cursor.com>',
} as const

const lostWork =
  "This task's workspace is gone, and work that was not pushed could not be restored. Let the agent continue, then try again."

export async function makePullRequest(
  deps: RunnerDeps,
  { taskId, requestId }: { readonly taskId: string; readonly requestId: string },
  { signal, pushSignal }: Pick<Stopping, 'signal' | 'pushSignal'>,
): Promise<void> {
  const stream = taskStream(taskId)
  const { state, head } = await deps.commands.load(decider, stream)
  if (state.kind !== 'task' || state.pullRequestRequest !== requestId) return
  const [task, user, wanted] = await Promise.all([
    deps.documents.asOf(tasksView, stream, taskId, head),
    deps.documents.asOf(
      usersView,
      userStream(state.ownerId),
      state.ownerId,
      await deps.log.headOf(userStream(state.ownerId)),
    ),
    wantedOf(deps, taskId, requestId),
  ])
  if (!task || !user || !wanted) return
  const outcome = await alone(deps, { taskId, signal }, (state) =>
    publish(deps, { state, task, user, wanted, signal, pushSignal }),
  ).catch((fault: unknown) => outcomeOfFault(deps, fault))
  const command = {
    type: 'SettlePullRequest',
    requestId,
    outcome: wanted.automatic ? told(outcome) : outcome,
    nextRequestId: randomUUID(),
  } as const
  await deps.commands
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
  readonly pushSignal: AbortSignal
}

/** Where nobody waits for the outcome, the chat tells what went wrong; what is only put off is told when it is done. */
function told(outcome: PullRequestOutcome): PullRequestOutcome {
  return outcome.kind === 'failed' && outcome.code !== 'task_running'
    ? { ...outcome, messageId: randomUUID() }
    : outcome
}

const isRunning: PullRequestOutcome = {
  kind: 'failed',
  code: 'task_running',
  reason: faults.task_running.sentence,
}

/** How often it is looked whether a turn has begun, where the bus was silent. */
const lookMs = 1_000

/**
 * Publishes while nobody else has the workspace: a turn that is asked for meanwhile begins afterwards. One that began before is not waited
 * for, since what it makes of the files was seen by nobody.
 */
async function alone(
  deps: RunnerDeps,
  { taskId, signal }: { readonly taskId: string; readonly signal: AbortSignal },
  publish: (state: LiveTask) => Promise<PullRequestOutcome>,
): Promise<PullRequestOutcome> {
  const stream = taskStream(taskId)
  const stateNow = async (): Promise<LiveTask> => {
    const { state } = await deps.commands.load(decider, stream)
    if (state.kind !== 'task') throw new Fault('not_found', 'There is no such task.')
    return state
  }
  const begun = new AbortController()
  const look = async () => {
    if ((await stateNow()).phase.status === 'running') begun.abort()
  }
  const lookAgain = () => void look().catch(() => undefined)
  const unsubscribe = deps.bus.subscribe('appended', (event) => {
    if (event.stream === stream && event.type === 'ExecutionStarted') lookAgain()
  })
  const timer = setInterval(lookAgain, lookMs)
  const stopLooking = () => {
    unsubscribe()
    clearInterval(timer)
  }
  const use = async () => {
    stopLooking()
    const state = await stateNow()
    return state.phase.status === 'running' ? isRunning : publish(state)
  }
  try {
    await look()
    return await deps.locks.hold(taskId, use, AbortSignal.any([signal, begun.signal]))
  } catch (fault) {
    if (fault === begun.signal.reason) return isRunning
    throw fault
  } finally {
    stopLooking()
  }
}

async function publish(
  deps: RunnerDeps,
  { state, task, user, wanted, signal, pushSignal }: Publishing,
): Promise<PullRequestOutcome> {
  const prepared = await prepare(deps, { task, user, executionId: '', reporter: null, output: null, signal })
  if (prepared.kind === 'failed') return prepared
  const { workspace, repository, access } = prepared
  if (prepared.isNew && (await bringBack(deps, state, workspace)).kind !== 'brought_back') {
    await removeWorkspace(deps.root, task.id, deps.path)
    return { kind: 'failed', code: 'no_changes', reason: lostWork }
  }
  /** The commit that the pull request had last. */
  const last = state.pullRequest?.headCommit ?? null
  const { accessToken } = access
  const between = { head: workspace.branch, base: workspace.baseBranch }
  const existing = await deps.codeHost.findPullRequest(accessToken, repository, between)
  if (!existing && wanted.automatic) return closed(task)
  const { sandbox } = deps
  const { secrets: ofProject } = await settingsOf(deps, task.projectId)
  const secrets = [...ofProject, ...ownSecrets(deps, access)]
  const redaction = deps.redaction(valuesOf(secrets))
  const treeGit = 'missing' in sandbox ? deps.git : sandbox.gitFor(workspace)
  const record = (from: 'tree' | StagedTree) =>
    recordChanges(deps, { task, wanted, workspace, treeGit, redaction, from, signal })
  let published: StagedTree | undefined
  let isBroughtIn = false
  const pushed = await commitAndPush({
    git: deps.git,
    treeGit,
    workspace,
    // What was recorded when it was asked for could be seen; an update of its own accord records what it publishes.
    mayPublish: async (staged) => {
      published = staged
      if (staged.tree !== state.changedTree) await record(staged)
      return wanted.automatic || staged.tree === wanted.tree
    },
    message: last === null ? wanted.title : await latestMessage(deps, task, wanted),
    author: identityOf(user),
    coAuthor: coAuthors[task.agent],
    secrets,
    threads: deps.textThreads,
    url: access.url,
    authorization: access.authorization,
    signal,
    pushSignal,
    applyPatch: (patch) => {
      isBroughtIn = true
      return applyPatch(boxOf(deps), workspace, patch)
    },
  })
  // The files have now what others had published before.
  if (isBroughtIn) await record('tree')
  if (pushed.kind !== 'published') return refused(pushed)
  // What was committed now was `untracked` before, and the branch is ahead.
  if (!isBroughtIn && published !== undefined && last !== pushed.headSha) await record(published)
  if (workspace.branch === workspace.baseBranch) {
    const reason = `The repository was empty, so the work was pushed to ${workspace.branch}. There is nothing to open a pull request against.`
    return { kind: 'failed', code: 'no_changes', reason }
  }
  const { title, body, draft, rewrites, automatic } = wanted
  const isNews = !automatic || last !== pushed.headSha
  const settled = { headCommit: pushed.headSha, messageId: isNews ? randomUUID() : null }
  if (existing) {
    const { number, htmlUrl: url } = existing
    if (rewrites) await deps.codeHost.updatePullRequest(accessToken, repository, number, { title, body })
    return { kind: 'updated', number, url, ...settled }
  }
  const opened = await deps.codeHost.openPullRequest(accessToken, repository, {
    ...between,
    title,
    body,
    draft,
  })
  return { kind: 'opened', number: opened.number, url: opened.htmlUrl, ...settled }
}

function closed({ prNumber }: TaskDocument): PullRequestOutcome {
  const reason = `Pull request #${prNumber} is no longer open, so automatic updates have stopped. Open a new one for work done since.`
  return { kind: 'closed', reason, messageId: randomUUID() }
}

/** Records the changes that are published, or for which the request is refused. Throws where the task has gone on without us. */
async function recordChanges(
  deps: RunnerDeps,
  {
    task,
    wanted: { requestId },
    workspace,
    treeGit,
    redaction,
    from,
    signal,
  }: Pick<Publishing, 'task' | 'wanted' | 'signal'> & {
    readonly workspace: Workspace
    readonly treeGit: Git
    readonly redaction: Redaction
    readonly from: 'tree' | StagedTree
  },
): Promise<void> {
  const { baseBranch } = workspace
  const changes = await readChanges({ git: deps.git, treeGit, workspace, baseBranch, from, signal })
  if (changes.kind === 'base_not_found')
    throw new Fault('code_host_refused', `The repository has no branch ${baseBranch} any more.`)
  if (!task.execution) throw new Fault('not_initialized')
  const of = { taskId: task.id, executionId: task.execution.id }
  const event = await changesEvent(deps.blobs, of, await toldOf(changes, redaction))
  const command = { type: 'RecordChanges', requestId, changes: event } as const
  await deps.commands.execute(decider, taskStream(task.id), command, { actor, commandId: randomUUID() })
}

/** What was asked for last says what an update is about. */
async function latestMessage({ documents }: RunnerDeps, task: TaskDocument, wanted: Wanted): Promise<string> {
  const latest = await documents.find(chatView, {
    where: { task: task.id },
    sort: { field: 'order', direction: 'descending' },
    limit: 50,
  })
  const asked = latest.find(({ messageType, status }) => messageType === 'user' && status === 'completed')
  return titleOf(asked?.message ?? '') || wanted.title
}

function boxOf({ sandbox }: RunnerDeps): Sandbox {
  if ('missing' in sandbox) throw new Fault('code_host_refused', sandbox.missing)
  return sandbox
}

async function wantedOf(deps: RunnerDeps, taskId: string, requestId: string): Promise<Wanted | undefined> {
  // The request is among the last things that happened: it is looked for from the end.
  for (let from: number | 'end' = 'end'; ;) {
    const events = await deps.log.readBackwards(taskStream(taskId), from, 200)
    for (const event of events) {
      if (event.type !== 'PullRequestRequested' || event.data.requestId !== requestId) continue
      const { title = '', body = '', tree = null } = event.content ?? {}
      return { ...event.data, title, body, tree }
    }
    const last = events.at(-1)
    if (!last || last.revision === 0) return undefined
    from = last.revision - 1
  }
}

function refused(pushed: Exclude<PublishResult, { kind: 'published' }>): PullRequestOutcome {
  switch (pushed.kind) {
    case 'nothing_to_publish':
      return { kind: 'failed', code: 'no_changes', reason: faults.no_changes.sentence }
    case 'moved':
      return { kind: 'failed', code: 'changes_moved', reason: pushed.message }
    case 'branch_moved':
    case 'conflict':
    case 'refused':
    case 'unreachable':
    case 'not_committable':
      return { kind: 'failed', code: 'code_host_refused', reason: pushed.message }
  }
}

function outcomeOfFault(deps: RunnerDeps, fault: unknown): PullRequestOutcome {
  if (fault instanceof Fault) return { kind: 'failed', code: fault.code, reason: fault.message }
  if (fault instanceof CodeHostFault) {
    const code = fault.kind === 'unavailable' ? 'code_host_unavailable' : 'code_host_refused'
    return { kind: 'failed', code, reason: fault.message }
  }
  deps.logger.error({ err: fault }, 'pull request failed')
  return { kind: 'failed', code: 'internal', reason: 'Something went wrong while creating the pull request.' }
}
