/**
 * Answers on the pull request what its feedback led to, in the name of the person whose task it is. That an answer is due is in the log; it is
 * looked up at the code host by its marker before it is written, so that a crash in between leads to no second one.
 */
import { randomUUID } from 'node:crypto'
import { Fault } from '#domain/kernel/errors.ts'
import { projectStream, taskStream } from '#domain/kernel/streams.ts'
import { project } from '#domain/project/project.ts'
import type { CommandOf } from '#domain/task/commands.ts'
import { task } from '#domain/task/task.ts'
import { answers, markerOf, visibleText } from '#domain/task/visibleText.ts'
import { chatView } from '#domain/views/chat.ts'
import { feedbackView, type FeedbackDocument } from '#domain/views/feedback.ts'
import { projectsView } from '#domain/views/projects.ts'
import { pullRequestsView } from '#domain/views/pullRequests.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import type { Logger } from '#platform/log.ts'
import { CodeHostFault, type CodeHost } from '#platform/ports/codeHost.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import { EngineUnavailable, NotFolded } from '#platform/ports/faults.ts'
import type { Held } from '#platform/ports/leases.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { Projected } from '#platform/reads/projected.ts'

export interface AnsweringEngines {
  readonly eventStore: Pick<EventStore, 'subscribe' | 'head'>
  readonly projected: Pick<Projected, 'waitFor'>
  readonly documents: Pick<Documents, 'find' | 'get'>
  readonly commands: Pick<Commands, 'execute' | 'load'>
  readonly access: Pick<HostAccess, 'tokenOf'>
  readonly codeHost: Pick<CodeHost, 'pullRequestFeedback' | 'writeComment' | 'resolveThreads'>
  readonly logger: Logger
}

const actor = { kind: 'system', service: 'answering' } as const
const batch = 100
const foldedWithinMs = 5_000
const longestWords = 1_500

/** Answers what is due, at once and then every `everyMs` what could not be answered, until it is stopped. */
export async function startAnswering(engines: AnsweringEngines, everyMs: number): Promise<Held> {
  const { eventStore, projected, logger } = engines
  const run = { isStopped: false, isAskedAgain: false }
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> | undefined
  /** One round at a time: an answer that is under way is not looked up by another. */
  function wake(): void {
    if (run.isStopped) return
    run.isAskedAgain = true
    working ??= rounds().finally(() => {
      working = undefined
    })
  }
  async function rounds(): Promise<void> {
    clearTimeout(timer)
    while (run.isAskedAgain && !run.isStopped) {
      run.isAskedAgain = false
      await answerAll(engines, () => run.isStopped).catch((fault: unknown) => {
        if (!(fault instanceof NotFolded || fault instanceof EngineUnavailable))
          logger.error({ err: fault }, 'failed to answer on pull requests')
      })
    }
    if (!run.isStopped) timer = setTimeout(wake, everyMs)
  }
  const subscription = eventStore.subscribe(
    await eventStore.head(),
    batch,
    async (_events, upTo) => {
      await projected.waitFor(upTo, foldedWithinMs)
      wake()
    },
    { streams: ['task-'], types: ['FeedbackAnswerDue'] },
  )
  wake()
  return {
    async stop() {
      run.isStopped = true
      clearTimeout(timer)
      await subscription.stop()
      await working
    },
  }
}

/** Page by page, so that those that have to wait hold up no others. */
async function answerAll(engines: AnsweringEngines, isOver: () => boolean): Promise<void> {
  for (let after: { value: string; id: string } | undefined; ;) {
    const due = await engines.documents.find(feedbackView, {
      where: { answer: 'due' },
      sort: { field: 'order', direction: 'ascending' },
      limit: batch,
      ...(after ? { after } : {}),
    })
    for (const feedback of due) {
      if (isOver()) return
      await answerOne(engines, feedback)
    }
    const last = due.at(-1)
    if (!last || due.length < batch) return
    after = { value: last.order, id: last.id }
  }
}

async function answerOne(engines: AnsweringEngines, feedback: FeedbackDocument): Promise<void> {
  const { task: taskId, feedbackId } = feedback
  const outcome = await answer(engines, feedback).catch((fault: unknown) =>
    refusalOf(engines, feedback, fault),
  )
  if (outcome !== null) await settle(engines, taskId, { type: 'SettleFeedback', feedbackId, outcome })
}

type Outcome = CommandOf<'SettleFeedback'>['outcome']

async function settle(
  { commands, logger }: AnsweringEngines,
  taskId: string,
  command: CommandOf<'SettleFeedback'>,
): Promise<void> {
  try {
    await commands.execute(task, taskStream(taskId), command, { actor, commandId: randomUUID() })
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault
    logger.debug({ err: fault, taskId }, 'an answer was written for a task that is gone')
  }
}

/** `null` where it should be tried again later. Throws what is not the code host's. */
function refusalOf(
  { logger }: AnsweringEngines,
  { task: taskId }: FeedbackDocument,
  fault: unknown,
): Outcome | null {
  if (fault instanceof Fault) return { kind: 'failed', code: fault.code, reason: fault.message }
  if (!(fault instanceof CodeHostFault)) throw fault
  if (fault.kind === 'rate_limited' || fault.kind === 'unavailable') {
    logger.debug({ err: fault, taskId }, 'an answer on a pull request has to wait')
    return null
  }
  return { kind: 'failed', code: 'code_host_refused', reason: fault.message }
}

async function answer(engines: AnsweringEngines, feedback: FeedbackDocument): Promise<Outcome> {
  const { documents, codeHost, access } = engines
  const of = await documents.get(tasksView, feedback.task)
  const inProject = of && (await documents.get(projectsView, of.projectId))
  if (!of || !inProject || feedback.number === null)
    return { kind: 'failed', code: 'not_found', reason: 'The project of this task is gone.' }
  const repository = { owner: inProject.githubOwner, name: inProject.githubRepoName }
  const token = await access.tokenOf(of.owner)
  const written = await codeHost.pullRequestFeedback(token, repository, feedback.number)
  const all = [...written.lines, ...written.comments]
  const words = await wordsFor(engines, feedback)
  const replyIds: string[] = []
  for (const threadId of threadsOf(feedback)) {
    const id = `${feedback.feedbackId}-${threadId ?? 'all'}`
    const before = all.find(({ body }) => answers(body, id))
    const body = `${words}\n\n${markerOf(id)}`
    replyIds.push(
      before?.id ?? (await codeHost.writeComment(token, repository, feedback.number, { threadId, body })),
    )
  }
  await resolveWhereWanted(engines, feedback, of.projectId, token)
  return { kind: 'answered', replyIds }
}

/** One answer for each thread; one on the pull request as a whole where there is none. */
function threadsOf({ comments }: FeedbackDocument): readonly (string | null)[] {
  const threads = new Set(comments.map(({ threadId }) => threadId))
  return threads.size === 0 ? [null] : [...threads]
}

/** The commit with the work, or else how the agent closed its turn. */
async function wordsFor(
  { documents }: AnsweringEngines,
  { task: taskId, executionId, commit }: FeedbackDocument,
) {
  if (commit !== null) return `Done in ${commit}.`
  const said = await documents.find(chatView, {
    where: { task: taskId, executionId: executionId ?? '' },
    sort: { field: 'executionId', direction: 'ascending' },
    limit: batch,
  })
  const [last] = said
    .filter(({ messageType }) => messageType === 'response')
    .toSorted((a, b) => (a.order < b.order ? 1 : -1))
  const words = visibleText(last?.message ?? '')
  // Nobody is called by an agent.
  const quiet = words.replaceAll('@', '@\u200B')
  const short = quiet.length <= longestWords ? quiet : `${quiet.slice(0, longestWords)}…`
  return short === '' ? 'Nothing was changed for this.' : short
}

async function resolveWhereWanted(
  engines: AnsweringEngines,
  feedback: FeedbackDocument,
  projectId: string,
  token: string,
): Promise<void> {
  const { commands, documents, codeHost } = engines
  const threads = threadsOf(feedback).filter((id) => id !== null)
  const { state } = await commands.load(project, projectStream(projectId))
  const isWanted = state.kind === 'project' && state.feedback.resolves && feedback.commit !== null
  const pull = isWanted ? await documents.get(pullRequestsView, feedback.task) : undefined
  if (threads.length === 0 || !pull?.nodeId) return
  await codeHost.resolveThreads(token, pull.nodeId, threads)
  const { feedbackId, task: taskId } = feedback
  const outcome = { kind: 'resolved', automatic: true } as const
  await settle(engines, taskId, { type: 'SettleFeedback', feedbackId, outcome })
}
