import { expect, test } from 'vitest'
import { FeedbackDismissed } from '#domain/task/codeHost/feedbackEvents.ts'
import { MessageWithdrawn, type TaskEvent } from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import { feedbackDocumentId, feedbackView } from '#domain/views/feedback.ts'
import { id, published, receivedOf, review, sentOf } from '../../../tests/domain/feedbackHistories.ts'
import { historyOf, stateAfter } from '../../../tests/domain/given.ts'
import { messageId } from '../../../tests/domain/ids.ts'
import * as past from '../../../tests/domain/taskHistories.ts'
import { shownFeedback } from './feedback.ts'
import { foldView } from '../../../tests/domain/fold.ts'

const sent = [...published, receivedOf(review()), sentOf(1, true)]
const working = [...sent, past.waits(2), past.requested(2), past.started(2), past.delivered(2)]

/** The feedback in the form of the API after these events. With `isReadable` false, it is made without the task's state. */
function shownAfter(events: readonly TaskEvent[], isReadable = true) {
  const document = foldView(feedbackView, new Map(), historyOf(events)).get(feedbackDocumentId('test', id(1)))
  if (!document) throw new Error('There is feedback.')
  return shownFeedback(document, {}, isReadable ? stateAfter(task, events) : null)
}

const withAgent = { status: 'sent', messageId: messageId(2), isAutomatic: true, canBeSent: false }
const open = {
  status: 'open',
  messageId: null,
  isAutomatic: false,
  canBeSent: true,
}

test.each([
  ['withdrawn', [...sent, past.waits(2), MessageWithdrawn.of({ messageId: messageId(2) })]],
  ['cancelled', [...working, past.stopped(2)]],
  ['failed', [...working, past.broke(2)]],
])('feedback whose message was %s is open, and can be sent', (_, events) =>
  expect(shownAfter(events)).toMatchObject(open),
)

test('feedback that is under way, done or retried is with the agent', () => {
  expect(shownAfter(working)).toMatchObject(withAgent)
  expect(shownAfter([...working, past.succeeded(2)])).toMatchObject(withAgent)
  const retried = [...working, past.broke(2), past.requested(3, 'retry', { message: 2 })]
  expect(shownAfter(retried)).toMatchObject(withAgent)
})

test('feedback that came to nothing and was dismissed names no message', () => {
  const dismissed = [...working, past.stopped(2), FeedbackDismissed.of({ feedbackId: id(1) })]
  expect(shownAfter(dismissed)).toMatchObject({ status: 'dismissed', messageId: null })
})

test('without the state of its task it is shown as it was sent', () =>
  expect(shownAfter([...working, past.stopped(2)], false)).toMatchObject(withAgent))
