/**
 * Tells an issue of the task that was made of it: one comment, by the App where there is one, otherwise by the task's owner. That it is due
 * is in the log; it is looked up at the code host by its marker before it is written, so that a crash in between leads to no second one.
 */
import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { CommandOf } from '#domain/task/commands.ts'
import { task } from '#domain/task/task.ts'
import { answers, markerOf } from '#domain/task/visibleText.ts'
import { issueLinksView, type IssueLinkDocument } from '#domain/views/issueLinks.ts'
import { projectsView } from '#domain/views/projects.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { rounds } from '#platform/async/rounds.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import type { Installations } from '#platform/credentials/installations.ts'
import type { Logger } from '#platform/log.ts'
import { CodeHostFault, type CodeHost } from '#platform/ports/codeHost.ts'
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
  readonly codeHost: Pick<CodeHost, 'repositoryById' | 'issueComments' | 'writeComment'>
  readonly logger: Logger
  /** Where people reach the product. */
  readonly publicAddress: string
}

const actor = { kind: 'system', service: 'issues' } as const
const batch = 100
const foldedWithinMs = 5_000
/** Owners who have to wait, and for how long where the code host does not say. */
const mostResting = 2_000
const restMs = 60_000
/** The code host's clock may be so far behind ours. */
const graceMs = 60_000

/** Writes what is due, at once and then every `everyMs` what could not be written, until it is stopped. */
export async function startLinking(engines: LinkingEngines, everyMs: number): Promise<Held> {
  const { eventStore, projected, logger } = engines
  const resting: Resting = new LRUCache({ max: mostResting })
  const run = { isStopped: false }
  const inRounds = rounds(async () => {
    try {
      await linkAll(engines, resting, () => run.isStopped)
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
    async (_events, upTo) => {
      await projected.waitFor(upTo, foldedWithinMs)
      inRounds.within(0)
    },
    { streams: ['task-'], types: ['TaskCreatedFromIssue'] },
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
async function linkAll(engines: LinkingEngines, resting: Resting, isOver: () => boolean): Promise<void> {
  for (let after: { value: string; id: string } | undefined; ;) {
    const due = await engines.documents.find(issueLinksView, {
      where: { comment: 'due' },
      sort: { field: 'order', direction: 'ascending' },
      limit: batch,
      ...(after ? { after } : {}),
    })
    for (const link of due) {
      if (isOver()) return
      await linkOne(engines, resting, link).catch((fault: unknown) => {
        if (fault instanceof NotFolded || fault instanceof EngineUnavailable) throw fault
        // A history or a secret that cannot be read, say: it holds up no other.
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

interface OfTask {
  readonly owner: string
  readonly projectId: string
  /** ISO 8601. */
  readonly createdAt: string
}

/** What was written or why not; `null` where it should be tried again later. Throws what is not the code host's. */
async function outcomeOf(
  engines: LinkingEngines,
  resting: Resting,
  link: IssueLinkDocument,
  of: OfTask,
): Promise<Outcome | null> {
  try {
    return await write(engines, link, of)
  } catch (fault) {
    if (fault instanceof Fault && fault.code !== 'code_host_unavailable')
      return failed(fault.code, fault.message)
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

async function write(
  { documents, codeHost, access, installations, publicAddress }: LinkingEngines,
  { id: taskId, repositoryId, number }: IssueLinkDocument,
  { owner, projectId, createdAt }: OfTask,
): Promise<Outcome> {
  const inProject = await documents.get(projectsView, projectId)
  if (!inProject || repositoryId === null || number === null)
    return failed('not_found', 'The project of this task is gone.')
  const installed = { id: repositoryId, owner: inProject.githubOwner }
  const found = await installations.tokenFor(installed, 'commenting')
  const token = found.kind === 'token' ? found.accessToken : await access.tokenOf(owner)
  // By its number: another repository may have the name by now.
  const read = await codeHost.repositoryById(token, repositoryId)
  if (read === 'unchanged') return failed('code_host_refused', 'GitHub does not show the repository.')
  const { owner: under, name } = read.repository
  const repository = { owner: under, name }
  const since = new Date(Date.parse(createdAt) - graceMs).toISOString()
  const { comments, isCut } = await codeHost.issueComments(token, repository, number, since)
  const written = comments.find(({ body }) => answers(body, taskId))
  if (written) return { kind: 'written', commentId: written.id }
  if (isCut) return failed('unsure', 'The issue has so many new comments that this one may be among them.')
  const body = `Flightdeck works on this: ${publicAddress.replace(/\/+$/, '')}/tasks/${taskId}\n\n${markerOf(taskId)}`
  return {
    kind: 'written',
    commentId: await codeHost.writeComment(token, repository, number, { threadId: null, body }),
  }
}
