/** Publishes a task's work: committed and pushed outside the sandbox; the pull request is looked up before it is opened. */
import { agents } from '../agents/registry.ts'
import { randomUUID } from 'node:crypto'
import { Fault, faults } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { PullRequestOutcome } from '#domain/task/commands.ts'
import { firstCommitMessage, followUpMessage } from '#domain/task/codeHost/commitMessage.ts'
import { doneFeedback } from '#domain/task/codeHost/feedbackState.ts'
import { withClosing } from '#domain/task/codeHost/issue.ts'
import { endOf, hasNoChanges, noLongerOpen } from '#domain/task/codeHost/pullRequest.ts'
import { belowTemplateMark, withTemplate } from '#domain/task/codeHost/template.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import { chatView } from '#domain/views/chat.ts'
import { feedbackDocumentId, feedbackView } from '#domain/views/feedback.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import type { UserDocument } from '#domain/views/users.ts'
import {
  CodeHostFault,
  writeOrFind,
  type CodeHost,
  type HostPullRequest,
  type RepositoryName,
} from '#platform/ports/codeHost.ts'
import { proposalFor } from '#platform/reads/proposal.ts'
import type { Installation } from '#platform/ports/codeHostApp.ts'
import type { AgentDeps, RecordingDeps, WorkspaceDeps } from '../deps.ts'
import { failed, type Failed } from '../execution/failure.ts'
import { identityOf, prepare, type ReadyWorkspace } from '../execution/prepareWorkspace.ts'
import { ownSecrets, settingsOf, valuesOf } from '../execution/projectSecrets.ts'
import { changesEvent, redactChanges } from '../execution/recording/changesReport.ts'
import { goesOnAsEvicted, restoreSavedWork } from '../execution/recording/savedWork.ts'
import type { KnownSecret } from '#platform/redaction/secretForms.ts'
import { readChanges } from '../workspace/changes/changes.ts'
import type { StagedTree } from '../workspace/changes/stage.ts'
import { commitOf, type Git, lastWords } from '../workspace/git/git.ts'
import { commitAndPush, type PublishResult } from '../workspace/publish/publish.ts'
import { namedOf } from '../workspace/names.ts'
import { madeWhole, removeIncomplete } from '../workspace/incomplete.ts'
import { completeWorkspace, type Workspace } from '../workspace/workspace.ts'
import { publishOrigins } from './publishOrigins.ts'
import { addressOfTask, withRecord } from './taskRecord.ts'
import { templateOf } from './template.ts'
import { agentLimits } from '../execution/runLimits.ts'
import type { Sandbox } from '../sandbox/port.ts'

export interface RequestedPullRequest {
  readonly requestId: string
  readonly title: string
  readonly body: string
  readonly draft: boolean
  /** Requested by the end of a turn: nobody waits for the outcome. */
  readonly automatic: boolean
  readonly rewrites: boolean
  /** The tree that was recorded when it was requested. */
  readonly tree: string | null
}

interface Publication {
  readonly state: LiveTask
  readonly task: TaskDocument
  readonly user: UserDocument
  readonly requested: RequestedPullRequest
  readonly signal: AbortSignal
  readonly pushSignal: AbortSignal
}

type Deps = RecordingDeps & WorkspaceDeps & AgentDeps

const actor = { kind: 'system', service: 'runner' } as const

/** Messages of one turn that are looked through. */
const messagesOfTurn = 200

const lostWork =
  "This task's workspace is gone, and work that was not pushed could not be restored. Let the agent continue, then try again."

export async function publishPullRequest(deps: Deps, publication: Publication): Promise<PullRequestOutcome> {
  const { task, signal } = publication
  const ready = await madeWhole(deps, { taskId: task.id, signal }, () =>
    workspaceToPublish(deps, publication),
  )
  if (ready.kind === 'failed') return ready
  const { workspace, repository, access } = ready
  const branches = { head: workspace.branch, base: workspace.baseBranch }
  const existing = await deps.codeHost.findPullRequest(access.accessToken, repository, branches)
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

/** Whether the code host has the branch that the work is to be merged into, by the mirror that was just refreshed. An empty repository has none. */
async function hasBase({ git }: Pick<Deps, 'git'>, workspace: Workspace): Promise<boolean> {
  const { branch, baseBranch, mirrorDir } = workspace
  return branch === baseBranch || (await commitOf(git, mirrorDir, `refs/heads/${baseBranch}`)) !== null
}

const baseGone = (branch: string): string => `The repository has no branch ${branch} any more.`

/** The task's workspace; one that is gone is recreated, with the work that was saved. */
async function workspaceToPublish(
  deps: Deps,
  { state, task, user, signal }: Publication,
): Promise<ReadyWorkspace | Failed> {
  const ready = await prepare(deps, {
    task: { ...task, lastBase: state.baseCommit },
    user,
    executionId: '',
    reporter: null,
    output: null,
    signal,
    needs: 'push',
    isToBeRestored: true,
  })
  if (ready.kind === 'failed' || !ready.isNew) return ready
  const isAsEvicted = await goesOnAsEvicted(deps, state, ready)
  if (!isAsEvicted && (await restoreSavedWork(deps, state, ready.workspace)).kind !== 'restored') {
    await removeIncomplete(deps.root, task.id, deps.path)
    return failed('no_changes', lostWork)
  }
  await completeWorkspace(deps.root, ready.workspace)
  return ready
}

/** Pushes the work, and records the changes as they were published. */
async function pushAndRecord(
  deps: Deps,
  { state, task, user, requested, signal, pushSignal }: Publication,
  { ready, isOpen }: { readonly ready: ReadyWorkspace; readonly isOpen: boolean },
): Promise<PublishResult> {
  const { workspace, access } = ready
  const { sandbox } = deps
  const lastCommit = state.pullRequest?.headCommit ?? null
  const { settings, secrets: ofProject } = await settingsOf(deps, task.projectId)
  const secrets = [...ofProject, ...ownSecrets(deps, access)]
  const treeGit = 'missing' in sandbox ? deps.git : sandbox.gitFor(workspace)
  const record = (from: 'tree' | StagedTree) =>
    recordChanges(deps, { task, requested, signal }, { workspace, treeGit, secrets, from })
  let published: StagedTree | undefined
  let isNothing = false
  let isPatched = false
  const pushed = await commitAndPush({
    git: deps.git,
    treeGit,
    workspace,
    // A person publishes the changes that they saw when they asked. An automatic update records what it publishes.
    mayPublish: async (staged) => {
      published = staged
      const recorded = staged.tree === state.changedTree ? state : await record(staged)
      // A person who saw no changes, since none were recorded, is told that there are none.
      isNothing = requested.tree === null && !isOpen && hasNoChanges(recorded)
      return requested.automatic || staged.tree === requested.tree
    },
    message: await messageOf(deps, { state, task, requested }),
    author: identityOf(user, deps),
    signer: deps.commitSigner,
    trailers: [
      `Flightdeck-Task: ${addressOfTask(deps, task.id)}`,
      `Flightdeck-Turn: ${task.execution?.turn ?? 0}`,
      `Co-Authored-By: ${agents[task.agent].author}`,
    ],
    secrets,
    allowedFilters: settings.allowedFilters,
    threads: deps.textThreads,
    url: access.url,
    authorization: access.authorization,
    ...(access.accessOf !== undefined && { accessOf: access.accessOf }),
    renewed: async () => (await access.renewed?.())?.authorization,
    forWorkflows: (files) => forWorkflows(deps, ready, files),
    signal,
    pushSignal,
    applyPatch: (patch) => {
      isPatched = true
      if ('missing' in sandbox) throw new Fault('code_host_refused', sandbox.missing)
      return applyPatch(sandbox, workspace, patch)
    },
  })
  if (pushed.kind === 'moved' && isNothing) return { kind: 'nothing_to_publish', leftOut: [] }
  if (pushed.kind === 'limited') throw deps.codeHost.recordGitRateLimit(access.gitToken)
  // The files now contain what others had pushed before.
  if (isPatched) await record('tree')
  // New files are committed now and no longer `untracked`, and the branch is ahead.
  else if (pushed.kind === 'published' && published !== undefined && lastCommit !== pushed.headSha)
    await record(published)
  return pushed
}

/**
 * What git authenticates with to change workflow files, or why that must not be tried. A person's token is bound by the App's rights too. If those
 * are not known, the push is tried and the host decides.
 */
async function forWorkflows(
  { codeHost, installations }: Pick<Deps, 'codeHost' | 'installations'>,
  { repository, access, installed }: ReadyWorkspace,
  files: readonly string[],
): Promise<{ readonly authorization: string } | { readonly refused: string }> {
  const found = await installations.tokenFor(installed, 'git with workflows')
  // Where the person's own token pushes, it pushes these files too.
  if (found.kind === 'token' && access.gitToken === access.accessToken)
    return { authorization: access.authorization }
  if (found.kind === 'token') return codeHost.gitAccess(found.accessToken, repository)
  const { installation } = found
  if (found.why !== 'not_granted' || !installation) return { authorization: access.authorization }
  return { refused: workflowsRefused(files, installation) }
}

function workflowsRefused(files: readonly string[], { account, htmlUrl }: Installation): string {
  return `This work changes ${namedOf(files, 5)}, and Flightdeck's App may not change workflow files of ${account.login}. Nothing was pushed, and the work is kept. An owner can grant "Workflows" at ${htmlUrl}, or take these changes back, and ask again.`
}

type ExistingPullRequest = Awaited<ReturnType<Deps['codeHost']['findPullRequest']>>

async function openOrUpdate(
  deps: Deps,
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

/** Opens it, and tries once more if the host failed and it is not there: for one branch the host takes only one. */
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
 * The outcome if the task's pull request, which was to be updated, is no longer open: records what the host says of it, and only a person opens a
 * new one. `null` if one is to be opened, or the host does not say.
 */
async function endedAtHost(
  { codeHost, commands }: Pick<Deps, 'codeHost' | 'commands'>,
  { state, task, requested: { automatic } }: Publication,
  { access, repository }: ReadyWorkspace,
): Promise<PullRequestOutcome | null> {
  const { pullRequest } = state
  const isUpdate = pullRequest !== null && endOf(pullRequest) === null
  if (isUpdate) {
    const asked = [{ repository, number: pullRequest.number }]
    const [reading] = await codeHost.pullRequestStates(access.accessToken, asked).catch(() => [])
    if (reading?.kind === 'read') {
      const command = { type: 'ObservePullRequest', observed: reading.pullRequest } as const
      const observed = await commands.execute(decider, taskStream(task.id), command, {
        actor,
        commandId: randomUUID(),
      })
      const now = observed.state.kind === 'task' ? observed.state.pullRequest : null
      const over = now && endOf(now)
      if (over && !automatic) return { kind: 'failed', code: over.code, reason: over.sentence }
    }
  }
  if (!automatic || pullRequest === null) return null
  return { kind: 'closed', reason: noLongerOpen(task.prNumber), messageId: randomUUID() }
}

/**
 * Records the changes that are published, or because of which the request is refused, and gives the task as it is then. Throws if the task has
 * moved on.
 */
async function recordChanges(
  deps: Deps,
  { task, requested: { requestId }, signal }: Pick<Publication, 'task' | 'requested' | 'signal'>,
  {
    workspace,
    treeGit,
    secrets,
    from,
  }: Pick<ReadyWorkspace, 'workspace'> & {
    readonly treeGit: Git
    readonly secrets: readonly KnownSecret[]
    readonly from: 'tree' | StagedTree
  },
): Promise<LiveTask> {
  const { baseBranch } = workspace
  const changes = await readChanges({ git: deps.git, treeGit, workspace, baseBranch, from, signal })
  if (changes.kind === 'base_not_found') throw new Fault('code_host_refused', baseGone(baseBranch))
  if (!task.execution) throw new Fault('not_initialized')
  const of = { taskId: task.id, executionId: task.execution.id }
  const redacted = await redactChanges(changes, deps.redaction(valuesOf(secrets)))
  const command = {
    type: 'RecordChanges',
    requestId,
    changes: await changesEvent(deps.blobs, of, redacted),
  } as const
  const cause = { actor, commandId: randomUUID() }
  const { state } = await deps.commands.execute(decider, taskStream(task.id), command, cause)
  if (state.kind !== 'task') throw new Fault('not_found')
  return state
}

/** What nobody wrote is proposed as it would be to a person. */
const wordsOf = (
  deps: Pick<Deps, 'documents'>,
  { task, requested }: Pick<Publication, 'task' | 'requested'>,
): Promise<{ readonly title: string; readonly body: string }> =>
  requested.automatic ? proposalFor(deps, task) : Promise.resolve(requested)

async function messageOf(
  deps: Pick<Deps, 'documents'>,
  { state, ...asked }: Pick<Publication, 'state' | 'task' | 'requested'>,
): Promise<string> {
  if ((state.pullRequest?.headCommit ?? null) !== null) return messageOfFollowUp(deps, state, asked.task)
  return firstCommitMessage((await wordsOf(deps, asked)).title, state.issue?.number ?? null)
}

/** The commit message of an update: what the agent says that it did in the latest turn, and what that turn was asked for. */
async function messageOfFollowUp(
  { documents }: Pick<Deps, 'documents'>,
  state: LiveTask,
  { id, execution, prNumber }: TaskDocument,
): Promise<string> {
  const done = doneFeedback(state).map((feedbackId) => feedbackDocumentId(id, feedbackId))
  const [messages, feedback] = await Promise.all([
    documents.find(chatView, {
      where: { task: id, executionId: execution?.id ?? '' },
      sort: { field: 'executionId', direction: 'ascending' },
      limit: messagesOfTurn,
    }),
    documents.getMany(feedbackView, done),
  ])
  const worked = [...feedback.values()]
  const latest = messages.toSorted((one, other) => (one.order < other.order ? 1 : -1))
  const asked = latest.find(({ messageType }) => messageType === 'user')
  const isOfFeedback = worked.some(({ messageId }) => messageId === asked?.messageId)
  return followUpMessage({
    number: prNumber ?? 0,
    said: latest.find(({ messageType }) => messageType === 'response')?.message ?? null,
    asked: isOfFeedback ? null : (asked?.message ?? null),
    feedback: worked.map(({ kind, author, check }) => ({
      kind,
      author: author?.login ?? null,
      check: check?.name ?? null,
    })),
  })
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

/** Changes a task's tree by a patch, from inside the sandbox: whatever an agent made of the tree, nothing outside it is written. */
const withinMs = 120_000

/** Applies the patch as a whole, or changes nothing and gives the reason, worded to follow a colon. */
async function applyPatch(sandbox: Sandbox, workspace: Workspace, patch: Buffer): Promise<string | null> {
  const child = sandbox.run({
    command: ['git', 'apply', '--whitespace=nowarn', '-'],
    // Without a repository: the settings of the agent's repository must not count.
    env: { GIT_DIR: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    workspace,
    readOnly: [],
    sockets: [],
    stdin: 'pipe',
    limits: { ...agentLimits, wallMs: withinMs },
  })
  const stderr: Buffer[] = []
  child.stdout.resume()
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  // A process that ended early does not read all of it.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(patch)
  const { code, signal, reason } = await child.exited
  if (code === 0) return null
  const endedBy = reason === 'time_limit' ? 'time_limit' : 'itself'
  return lastWords({ code, signal, endedBy, stdout: Buffer.alloc(0), stderr: Buffer.concat(stderr) })
}
