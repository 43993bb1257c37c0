/**
 * Writes one comment about a task and keeps it up to date: on the issue that the task was made from or else, while the agent works on feedback, on
 * the task's pull request. The App writes it if it may comment in the repository, otherwise the task's owner. A marker in the comment prevents a
 * second comment after a crash.
 */
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { CommandOf } from '#domain/task/commands.ts'
import { task } from '#domain/task/task.ts'
import { hasMarkerOf, markerOf } from '#domain/task/visibleText.ts'
import { taskCommentsView, toldToIssues, type TaskCommentDocument } from '#domain/views/taskComments.ts'
import { projectsView } from '#domain/views/projects.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { bySystem } from '#platform/commands/causation.ts'
import type { Engines } from '#platform/compose.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import type { Installations } from '#platform/credentials/installations.ts'
import { CodeHostFault, writeOrFind, type CodeHost } from '#platform/ports/codeHost.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { pagesOf } from '#platform/reads/documentPages.ts'
import { isHostUnavailable } from '../faults.ts'
import { restingOwners, startWriting, type RestingOwners, type WritingEngines } from '../refresh/dueWrites.ts'
import { taskCommentText, type CommentTextDeps } from './taskCommentText.ts'

export type TaskCommentEngines = WritingEngines &
  CommentTextDeps &
  Pick<Engines, 'documents' | 'logger'> & {
    readonly commands: Pick<Engines['commands'], 'execute'>
    readonly access: Pick<HostAccess, 'tokenOf'>
    readonly installations: Pick<Installations, 'tokenFor'>
    readonly codeHost: Pick<CodeHost, 'repositoryById' | 'issueComments' | 'writeComment' | 'editComment'>
  }

type TaskCommentDeps = TaskCommentEngines & { readonly resting: RestingOwners }

const batch = 100
/** Changes of a task, or of its to-do list, that happen within this time cause a single update. */
const gatherMs = { state: 2_000, todos: 15_000 }
/** How far the code host's clock may be behind ours. */
const graceMs = 60_000

/** Writes comments a moment after the events that concern them, and retries postponed ones every `intervalMs`, until it is stopped. */
export function startTaskComments(engines: TaskCommentEngines, intervalMs: number): Promise<RunningWork> {
  const deps: TaskCommentDeps = { ...engines, resting: restingOwners() }
  return startWriting(engines, {
    filter: { streams: ['task-'], types: ['TaskCreatedFromIssue', ...toldToIssues] },
    delayMs(events) {
      if (events.some(({ type }) => type === 'TaskCreatedFromIssue')) return 0
      return events.some(({ type }) => type !== 'ToolStarted') ? gatherMs.state : gatherMs.todos
    },
    intervalMs,
    async round(isStopped) {
      for (const comment of ['due', 'stale'] as const) await settleAll(deps, comment, isStopped)
    },
    failed: 'failed to tell issues of their tasks',
  })
}

/** Writes all comments that are `due` or `stale`. Reads every page of them, because comments that have to wait could fill the first page. */
async function settleAll(
  deps: TaskCommentDeps,
  comment: 'due' | 'stale',
  isOver: () => boolean,
): Promise<void> {
  const due = pagesOf(deps.documents, taskCommentsView, { where: { comment }, limit: batch })
  for await (const page of due)
    for (const document of page) {
      if (isOver()) return
      await settleOne(deps, document).catch((fault: unknown) => {
        if (fault instanceof EngineUnavailable) throw fault
        // A fault of one comment, such as a history or a secret that cannot be read, must not stop the other comments.
        deps.logger.warn({ err: fault, taskId: document.id }, 'failed to tell an issue of its task')
      })
    }
}

type Outcome = CommandOf<'SettleIssueComment'>['outcome']
const failed = (code: string, reason: string): Outcome => ({ kind: 'failed', code, reason })

async function settleOne(deps: TaskCommentDeps, document: TaskCommentDocument): Promise<void> {
  const { id } = document
  // The comment's document is written before the task's.
  const of =
    (await deps.documents.get(tasksView, id)) ?? (await deps.documents.now(tasksView, taskStream(id), id))
  if (of && deps.resting.has(of.owner)) return
  const outcome = of ? await outcomeOf(deps, document, of) : failed('not_found', 'The task is gone.')
  if (outcome === null) return
  try {
    const command = { type: 'SettleIssueComment', outcome } as const
    await deps.commands.execute(task, taskStream(document.id), command, bySystem('issues'))
  } catch (fault) {
    if (!(fault instanceof Fault) || fault.code === 'conflict') throw fault
    deps.logger.debug({ err: fault, taskId: document.id }, 'an issue was told of a task that is gone')
  }
}

/** The outcome of writing the comment; `null` if it must be tried again later. Throws neither `Fault` nor `CodeHostFault`. */
async function outcomeOf(
  deps: TaskCommentDeps,
  document: TaskCommentDocument,
  of: TaskDocument,
): Promise<Outcome | null> {
  try {
    return await write(deps, document, of)
  } catch (fault) {
    if (isHostUnavailable(fault) || (fault instanceof Fault && fault.code === 'app_key_refused')) {
      deps.resting.add(of.owner, fault instanceof CodeHostFault ? fault.retryAfterMs : undefined)
      deps.logger.debug({ err: fault, taskId: document.id }, 'issues have to wait to be told of their tasks')
      return null
    }
    if (fault instanceof Fault) return failed(fault.code, fault.message)
    if (fault instanceof CodeHostFault) return failed('code_host_refused', fault.message)
    throw fault
  }
}

async function write(
  engines: TaskCommentEngines,
  document: TaskCommentDocument,
  of: TaskDocument,
): Promise<Outcome> {
  const { documents, codeHost, access, installations } = engines
  const { id: taskId, number } = document
  const { owner, projectId, createdAt } = of
  const inProject = await documents.get(projectsView, projectId)
  const repositoryId = document.repositoryId ?? inProject?.githubRepoId
  if (!inProject || repositoryId === undefined || number === null)
    return failed('not_found', 'The project of this task is gone.')
  const installed = { id: repositoryId, owner: inProject.githubOwner }
  const found = await installations.tokenFor(installed, 'commenting')
  const token = found.kind === 'token' ? found.accessToken : await access.tokenOf(owner)
  // Reads by number, since another repository may have taken over the name.
  const read = await codeHost.repositoryById(token, repositoryId)
  if (read === 'unchanged') return failed('code_host_refused', 'GitHub does not show the repository.')
  const { owner: under, name } = read.repository
  const repository = { owner: under, name }
  const body = `${await taskCommentText(engines, document, of)}\n\n${markerOf(taskId)}`
  // Changes that the task's document does not contain yet are shown in the next round.
  const shows = Math.min(document.changedAt, of.version)
  if (document.commentId !== null) {
    await codeHost.editComment(token, repository, document.commentId, body)
    return { kind: 'written', commentId: document.commentId, shows }
  }
  const since = new Date(Date.parse(createdAt) - graceMs).toISOString()
  const look = async () => {
    const { comments, isCut } = await codeHost.issueComments(token, repository, number, since)
    return { isCut, written: comments.find(({ body: said }) => hasMarkerOf(said, taskId)) }
  }
  const { isCut, written } = await look()
  // An earlier attempt has written the comment, but its text may be outdated. The comment is recorded as showing revision 0, so that it is updated.
  if (written) return { kind: 'written', commentId: written.id, shows: 0 }
  if (isCut)
    return failed(
      'unsure',
      'The issue or pull request has so many new comments that this one may be among them.',
    )
  const commentId = await writeOrFind(
    () => codeHost.writeComment(token, repository, number, { threadId: null, body }),
    async () => (await look()).written?.id,
  )
  return { kind: 'written', commentId, shows }
}
