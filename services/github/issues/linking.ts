/**
 * Comments on an issue about the task that was made of it, and on the pull request of any other task whose agent works on what was written there.
 * There is one comment, by the App where there is one, otherwise by the task's owner, and it is kept up to date as the task goes on. The log
 * records that it is due. It is looked up at the code host by its marker before it is written, so that a crash in between leads to no second one.
 */
import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { Fault, type FaultCode } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { CommandOf } from '#domain/task/commands.ts'
import { task } from '#domain/task/task.ts'
import { answers, markerOf } from '#domain/task/visibleText.ts'
import type { AnsweredFeedback } from '#domain/task/codeHost/commitMessage.ts'
import { issueComment } from '#domain/task/codeHost/issue.ts'
import { chatView } from '#domain/views/chat.ts'
import { feedbackView } from '#domain/views/feedback.ts'
import { issueLinksView, toldToIssues, type IssueLinkDocument } from '#domain/views/issueLinks.ts'
import { projectsView } from '#domain/views/projects.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { nameAtCodeHost, usersView } from '#domain/views/users.ts'
import { rounds } from '#platform/async/rounds.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import type { Installations } from '#platform/credentials/installations.ts'
import type { Logger } from '#platform/log.ts'
import { CodeHostFault, writeOrFind, type CodeHost } from '#platform/ports/codeHost.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import { EngineUnavailable, NotFolded } from '#platform/ports/faults.ts'
import type { Held } from '#platform/ports/leases.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { Projected } from '#platform/reads/projected.ts'

export interface LinkingEngines {
  readonly eventStore: Pick<EventStore, 'subscribe' | 'head'>
  readonly projected: Pick<Projected, 'waitFor'>
  readonly documents: Pick<Documents, 'find' | 'get'>
  readonly commands: Pick<Commands, 'execute'>
  readonly access: Pick<HostAccess, 'tokenOf'>
  readonly installations: Pick<Installations, 'tokenFor'>
  readonly codeHost: Pick<CodeHost, 'repositoryById' | 'issueComments' | 'writeComment' | 'editComment'>
  readonly logger: Logger
  /** Where people reach the product; `null` where readers of the code host can't follow it. */
  readonly publicAddress: string | null
}

const actor = { kind: 'system', service: 'issues' } as const
const batch = 100
const foldedWithinMs = 5_000
/** How many owners who have to wait are remembered, and how long they wait if the code host does not say. */
const mostResting = 2_000
const restMs = 60_000
/** Changes of a task, or of its to-do list, within this time go into one update. */
const gatherMs = { state: 2_000, todos: 15_000 }
/** How far the code host's clock may be behind ours. */
const graceMs = 60_000

/** Writes what is due, at once, and tries again every `everyMs` what could not be written, until it is stopped. */
export async function startLinking(engines: LinkingEngines, everyMs: number): Promise<Held> {
  const { eventStore, projected, logger } = engines
  const resting: Resting = new LRUCache({ max: mostResting })
  const run = { isStopped: false }
  const inRounds = rounds(async () => {
    try {
      for (const comment of ['due', 'stale'] as const)
        await linkAll(engines, resting, comment, () => run.isStopped)
    } catch (fault) {
      if (!(fault instanceof NotFolded || fault instanceof EngineUnavailable))
        logger.error({ err: fault }, 'failed to tell issues of their tasks')
    } finally {
      inRounds.within(everyMs)
    }
  })
  const subscription = eventStore.subscribe(
    await eventStore.head(),
    batch,
    async (events, upTo) => {
      await projected.waitFor(upTo, foldedWithinMs)
      const isNew = events.some(({ type }) => type === 'TaskCreatedFromIssue')
      const isState = events.some(({ type }) => type !== 'ToolStarted')
      inRounds.within(isNew ? 0 : isState ? gatherMs.state : gatherMs.todos)
    },
    { streams: ['task-'], types: ['TaskCreatedFromIssue', ...toldToIssues] },
  )
  inRounds.within(0)
  return {
    async stop() {
      run.isStopped = true
      await subscription.stop()
      await inRounds.stop()
    },
  }
}

/** By owner: until when the code host takes nothing, in ms of the monotonic clock. */
type Resting = LRUCache<string, number>

/** Page by page, so that those that have to wait hold up no others. */
async function linkAll(
  engines: LinkingEngines,
  resting: Resting,
  comment: 'due' | 'stale',
  isOver: () => boolean,
): Promise<void> {
  for (let after: { value: string; id: string } | undefined; ;) {
    const due = await engines.documents.find(issueLinksView, {
      where: { comment },
      sort: { field: 'order', direction: 'ascending' },
      limit: batch,
      ...(after ? { after } : {}),
    })
    for (const link of due) {
      if (isOver()) return
      await linkOne(engines, resting, link).catch((fault: unknown) => {
        if (fault instanceof NotFolded || fault instanceof EngineUnavailable) throw fault
        // A history or a secret that cannot be read, for example: it must not hold up the others.
        engines.logger.warn({ err: fault, taskId: link.id }, 'failed to tell an issue of its task')
      })
    }
    const last = due.at(-1)
    if (!last || due.length < batch) return
    after = { value: last.order, id: last.id }
  }
}

type Outcome = CommandOf<'SettleIssueComment'>['outcome']
const failed = (code: string, reason: string): Outcome => ({ kind: 'failed', code, reason })

async function linkOne(engines: LinkingEngines, resting: Resting, link: IssueLinkDocument): Promise<void> {
  const of = await engines.documents.get(tasksView, link.id)
  if (of && (resting.get(of.owner) ?? 0) > performance.now()) return
  const outcome = of ? await outcomeOf(engines, resting, link, of) : failed('not_found', 'The task is gone.')
  if (outcome === null) return
  try {
    const command = { type: 'SettleIssueComment', outcome } as const
    const cause = { actor, commandId: randomUUID() }
    await engines.commands.execute(task, taskStream(link.id), command, cause)
  } catch (fault) {
    if (!(fault instanceof Fault) || fault.code === 'conflict') throw fault
    engines.logger.debug({ err: fault, taskId: link.id }, 'an issue was told of a task that is gone')
  }
}

/** Temporary reasons why a comment cannot be written. */
const passing: ReadonlySet<FaultCode> = new Set(['code_host_unavailable', 'app_key_refused'])

/** What was written or why not; `null` if it should be tried again later. Throws faults that are not the code host's. */
async function outcomeOf(
  engines: LinkingEngines,
  resting: Resting,
  link: IssueLinkDocument,
  of: TaskDocument,
): Promise<Outcome | null> {
  try {
    return await write(engines, link, of)
  } catch (fault) {
    if (fault instanceof Fault && !passing.has(fault.code)) return failed(fault.code, fault.message)
    const isHost = fault instanceof CodeHostFault || fault instanceof Fault
    if (!isHost) throw fault
    if (fault instanceof CodeHostFault && fault.kind !== 'rate_limited' && fault.kind !== 'unavailable')
      return failed('code_host_refused', fault.message)
    const waitMs = fault instanceof CodeHostFault ? fault.retryAfterMs : undefined
    resting.set(of.owner, performance.now() + (waitMs ?? restMs))
    engines.logger.debug({ err: fault, taskId: link.id }, 'issues have to wait to be told of their tasks')
    return null
  }
}

async function write(engines: LinkingEngines, link: IssueLinkDocument, of: TaskDocument): Promise<Outcome> {
  const { documents, codeHost, access, installations } = engines
  const { id: taskId, number } = link
  const { owner, projectId, createdAt } = of
  const inProject = await documents.get(projectsView, projectId)
  const repositoryId = link.repositoryId ?? inProject?.githubRepoId
  if (!inProject || repositoryId === undefined || number === null)
    return failed('not_found', 'The project of this task is gone.')
  const installed = { id: repositoryId, owner: inProject.githubOwner }
  const found = await installations.tokenFor(installed, 'commenting')
  const token = found.kind === 'token' ? found.accessToken : await access.tokenOf(owner)
  // By its number: another repository may have the name by now.
  const read = await codeHost.repositoryById(token, repositoryId)
  if (read === 'unchanged') return failed('code_host_refused', 'GitHub does not show the repository.')
  const { owner: under, name } = read.repository
  const repository = { owner: under, name }
  const body = `${await wordsOf(engines, link, of)}\n\n${markerOf(taskId)}`
  // What the task's document does not have yet comes with the next round.
  const shows = Math.min(link.changedAt, of.version)
  if (link.commentId !== null) {
    await codeHost.editComment(token, repository, link.commentId, body)
    return { kind: 'written', commentId: link.commentId, shows }
  }
  const since = new Date(Date.parse(createdAt) - graceMs).toISOString()
  const look = async () => {
    const { comments, isCut } = await codeHost.issueComments(token, repository, number, since)
    return { isCut, written: comments.find(({ body: said }) => answers(said, taskId)) }
  }
  const { isCut, written } = await look()
  // Its text may be outdated.
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

async function wordsOf(
  { documents, publicAddress }: LinkingEngines,
  { isOnPull, todos }: IssueLinkDocument,
  { id, owner, agent, status, execution, prNumber }: TaskDocument,
): Promise<string> {
  const [person, worksOn] = await Promise.all([
    documents.get(usersView, owner),
    feedbackOf({ documents }, id, execution?.id),
  ])
  return issueComment({
    agent,
    person: nameAtCodeHost(person),
    where: publicAddress === null ? `task ${id}` : `${publicAddress}/tasks/${id}`,
    status,
    turn: execution?.turn ?? 1,
    pullRequest: isOnPull ? null : prNumber,
    worksOn,
    todos,
  })
}

/** Feedback and messages that are looked through for what a turn works on. */
const mostRead = 50

async function feedbackOf(
  { documents }: Pick<LinkingEngines, 'documents'>,
  taskId: string,
  executionId: string | undefined,
): Promise<readonly AnsweredFeedback[]> {
  if (executionId === undefined) return []
  const newest = { sort: { field: 'order', direction: 'descending' }, limit: mostRead } as const
  const [messages, feedback] = await Promise.all([
    documents.find(chatView, { ...newest, where: { task: taskId, executionId, messageType: 'user' } }),
    documents.find(feedbackView, { ...newest, where: { task: taskId } }),
  ])
  const delivered = new Set(messages.map(({ messageId }) => messageId))
  return feedback
    .filter(({ messageId }) => messageId !== null && delivered.has(messageId))
    .map(({ kind, author, check }) => ({ kind, author: author?.login ?? null, check: check?.name ?? null }))
}
