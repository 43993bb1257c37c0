/** Decides about feedback on a task's pull request: whether it is recorded, whether it is sent to the agent, and whether it gets a reply. */
import type { Decision } from '../../kernel/decider.ts'
import { refuse } from '../../kernel/errors.ts'
import type { CommandOf, PullRequestOutcome, TaskCommand } from '../commands.ts'
import type { TaskEvent } from '../events.ts'
import {
  FeedbackAnswerDue,
  FeedbackAnswered,
  FeedbackAnswerFailed,
  FeedbackDismissed,
  FeedbackReceived,
  FeedbackRestored,
  FeedbackSent,
  FeedbackThreadsResolved,
} from './feedbackEvents.ts'
import { feedbackLimits } from './feedbackRule.ts'
import { isByOutsider, keysOf, type FeedbackWords } from './feedbackState.ts'
import { followUpOf } from './feedbackMessage.ts'
import type { LiveTask } from '../state.ts'

type Send = (command: CommandOf<'SendMessage'>) => Decision<TaskEvent>
type FeedbackCommand = Extract<TaskCommand, { type: `${string}Feedback` }>

export function isOnFeedback<Command extends TaskCommand>(
  command: Command,
): command is Extract<Command, FeedbackCommand> {
  return command.type.endsWith('Feedback')
}

/** Decides a command about feedback. `send` decides whether a message with the feedback can be sent to the agent. */
export function onFeedback(state: LiveTask, command: FeedbackCommand, send: Send): Decision<TaskEvent> {
  switch (command.type) {
    case 'ReceiveFeedback':
      return receiveFeedback(state, command, send)
    case 'SendFeedback':
      return sendFeedback(state, command, send)
    case 'DismissFeedback':
      return dismissFeedback(state, command)
    case 'RestoreFeedback':
      return restoreFeedback(state, command)
    case 'SettleFeedback':
      return settleFeedback(state, command)
    case 'AnswerFeedback':
      return answerFeedback(state, command)
  }
}

/**
 * Records new feedback, and sends it to the agent at once if the project's rule and the limits allow this. Recording and sending are one decision, so
 * that no crash can come between them.
 */
function receiveFeedback(
  state: LiveTask,
  command: CommandOf<'ReceiveFeedback'>,
  send: Send,
): Decision<TaskEvent> {
  const { feedbackId, data, content, automatic } = command
  const { known } = state.feedback
  if (state.pullRequest?.number !== content.number || isFull(state, data)) return []
  const comments = content.comments.filter(({ id }) => !known.has(`line ${id}`))
  // For a review that is already known, only new comments are recorded.
  const isAdded = content.reviewId !== null && known.has(`review ${content.reviewId}`)
  const fresh = { ...content, comments, body: isAdded ? '' : content.body }
  if (keysOf(fresh).every((key) => known.has(key))) return []
  const received = FeedbackReceived.of({ feedbackId, ...data }, fresh)
  if (automatic === null || !mayStart(state, command)) return [received]
  const message = send(messageOf(state, { ...automatic, message: followUpOf({ ...data, ...fresh }) }))
  // If the message is refused, for example because the queue is full, the feedback waits for a person.
  if ('refused' in message) return [received]
  const sent = FeedbackSent.of(
    { feedbackId, messageId: automatic.messageId, automatic: true, right: data.right },
    { author: content.author, hostIds: [...keysOf(fresh)], text: textOf(fresh) },
  )
  return [received, sent, ...message]
}

/**
 * Whether the task already has as much feedback as the limits allow. The limit for people without write access is lower, so that they cannot keep out
 * the feedback of others.
 */
function isFull({ feedback: { items } }: LiveTask, data: CommandOf<'ReceiveFeedback'>['data']): boolean {
  if (items.size >= feedbackLimits.items) return true
  if (!isByOutsider(data)) return false
  const byOutsiders = [...items.values()].filter((item) => item.isByOutsider)
  return byOutsiders.length >= feedbackLimits.itemsByOutsiders
}

/** Whether the rule may send the feedback without a person. This depends on the pull request, the author or commit, and recent automatic turns. */
function mayStart(state: LiveTask, { data, content, automatic }: CommandOf<'ReceiveFeedback'>): boolean {
  const { pullRequest } = state
  if (automatic === null || pullRequest === null || !automatic.isSameRepository) return false
  if (pullRequest.observed !== null && pullRequest.observed.state !== 'open') return false
  const now = Date.parse(automatic.now)
  const sent = [...state.feedback.items.values()].filter(({ automaticAt }) => automaticAt !== null)
  const within = (ms: number) =>
    sent.filter(({ automaticAt }) => automaticAt !== null && Date.parse(automaticAt) > now - ms)
  if (within(hourMs).length >= feedbackLimits.automaticAnHour) return false
  if (data.kind !== 'check')
    return data.isKnown && (data.right === 'admin' || data.right === 'write') && data.verdict !== 'approved'
  const head = pullRequest.observed?.headCommit ?? pullRequest.headCommit
  const tries = sent.filter(({ kind }) => kind === 'check')
  const ofCommit = tries.filter(({ headCommit }) => headCommit === content.headCommit)
  const ofDay = within(24 * hourMs).filter(({ kind }) => kind === 'check')
  return (
    content.headCommit === head &&
    ofCommit.length < Math.min(automatic.triesPerCommit, feedbackLimits.triesPerCommit) &&
    ofDay.length < Math.min(automatic.triesPerDay, feedbackLimits.triesPerDay)
  )
}

const hourMs = 3_600_000

function messageOf(
  { agent }: LiveTask,
  { messageId, executionId, message }: { messageId: string; executionId: string; message: string },
): CommandOf<'SendMessage'> {
  return { type: 'SendMessage', messageId, kind: 'turn', agent, message, images: [], executionId }
}

function textOf({ body, comments }: Pick<FeedbackWords, 'body' | 'comments'>): string {
  return [body, ...comments.map((comment) => comment.body)].filter((text) => text !== '').join('\n\n')
}

function sendFeedback(
  state: LiveTask,
  { feedbackId, messageId, executionId, message, content, right }: CommandOf<'SendFeedback'>,
  send: Send,
): Decision<TaskEvent> {
  const item = state.feedback.items.get(feedbackId)
  if (!item) return noSuchFeedback()
  if (item.status === 'sent') return refuse('already_exists', 'The agent already has this feedback.')
  const events = send(messageOf(state, { messageId, executionId, message }))
  if ('refused' in events) return events
  const asked = content && { author: content.author, hostIds: [...keysOf(content)], text: textOf(content) }
  return [
    FeedbackSent.of(
      { feedbackId, messageId, automatic: false, right },
      asked ?? { author: null, hostIds: [], text: '' },
    ),
    ...events,
  ]
}

function dismissFeedback(
  { feedback }: LiveTask,
  { feedbackId }: CommandOf<'DismissFeedback'>,
): Decision<TaskEvent> {
  const item = feedback.items.get(feedbackId)
  if (!item) return noSuchFeedback()
  if (item.status === 'sent') return refuse('already_exists', 'The agent already has this feedback.')
  return item.status === 'dismissed' ? [] : [FeedbackDismissed.of({ feedbackId })]
}

function restoreFeedback(
  { feedback }: LiveTask,
  { feedbackId }: CommandOf<'RestoreFeedback'>,
): Decision<TaskEvent> {
  const item = feedback.items.get(feedbackId)
  if (!item) return noSuchFeedback()
  return item.status === 'dismissed' ? [FeedbackRestored.of({ feedbackId })] : []
}

/** Records that the code host accepted or refused a reply, or that threads were resolved. An outcome that is already recorded is ignored. */
function settleFeedback(
  { feedback }: LiveTask,
  { feedbackId, outcome }: CommandOf<'SettleFeedback'>,
): Decision<TaskEvent> {
  const item = feedback.items.get(feedbackId)
  if (!item) return noSuchFeedback()
  switch (outcome.kind) {
    case 'answered':
      return item.answer === 'due'
        ? [FeedbackAnswered.of({ feedbackId }, { replyIds: [...outcome.replyIds] })]
        : []
    case 'failed':
      return item.answer === 'due'
        ? [FeedbackAnswerFailed.of({ feedbackId, code: outcome.code }, { reason: outcome.reason })]
        : []
    case 'resolved':
      return item.isResolved ? [] : [FeedbackThreadsResolved.of({ feedbackId, automatic: outcome.automatic })]
  }
}

function answerFeedback(
  { feedback }: LiveTask,
  { feedbackId, commit }: CommandOf<'AnswerFeedback'>,
): Decision<TaskEvent> {
  const item = feedback.items.get(feedbackId)
  if (!item) return noSuchFeedback()
  const { answer, executionId } = item
  if (answer === 'due') return []
  if (answer === 'settled') return refuse('already_exists', 'This feedback was answered.')
  if (answer === 'none' || executionId === null)
    return refuse('not_found', 'There is no answer to this feedback yet.')
  return [FeedbackAnswerDue.of({ feedbackId, executionId }, { commit })]
}

/**
 * The events for the replies that are due after a publication, or after one that found no changes: one for each review or comment on which a turn has
 * worked. If given, `covers` lists the feedback whose work was published. Work that was finished during the publication was not published.
 */
export function answersDue(
  { feedback, pullRequest }: LiveTask,
  outcome: PullRequestOutcome,
  covers?: readonly string[],
): readonly TaskEvent[] {
  const isPublished = 'number' in outcome
  const isUnchanged = outcome.kind === 'failed' && outcome.code === 'no_changes'
  if (!isPublished && !isUnchanged) return []
  const commit = isPublished && outcome.headCommit !== pullRequest?.headCommit ? outcome.headCommit : null
  return [...feedback.items].flatMap(([feedbackId, { kind, isDone, answer, executionId, hasChanged }]) =>
    isDone &&
    answer === 'none' &&
    executionId !== null &&
    kind !== 'check' &&
    (covers === undefined || covers.includes(feedbackId))
      ? [FeedbackAnswerDue.of({ feedbackId, executionId }, { commit: hasChanged ? commit : null })]
      : [],
  )
}

const noSuchFeedback = () => refuse('not_found', 'There is no such feedback in this task.')
