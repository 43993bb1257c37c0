import { expect, test } from 'vitest'
import { feedbackDocumentId, feedbackView } from '#domain/views/feedback.ts'
import type { Find } from '#platform/ports/readStore.ts'
import { id, published, receivedOf, review } from '../../../tests/domain/feedbackHistories.ts'
import { foldView } from '../../../tests/domain/fold.ts'
import { historyOf } from '../../../tests/domain/given.ts'
import type { QueryServices } from '../services.ts'
import { latestFeedback } from './pullRequestFeedback.ts'

const history = historyOf([...published, receivedOf(review())])
const one = foldView(feedbackView, new Map(), history).get(feedbackDocumentId('test', id(1)))

/** The answer about a task with so many pieces of feedback, the newest with the highest number. */
async function answerFor(count: number) {
  const newestFirst = Array.from({ length: count }, (_, n) => ({ ...one, feedbackId: `f${count - n}` }))
  const find = async (_view: unknown, { limit }: Find) => newestFirst.slice(0, limit)
  const services = { documents: { find } } as unknown as QueryServices
  return latestFeedback(services, { id: 'test', version: 9 })
}

test('the latest 100 pieces of feedback are listed, and it is said that there are more', async () => {
  const all = await answerFor(100)
  expect(all.feedback).toHaveLength(100)
  expect(all).not.toHaveProperty('more')
  const some = await answerFor(101)
  expect(some.more).toBe(true)
  expect(some.feedback.map((piece) => piece.id).slice(0, 1)).toEqual(['f2'])
  expect(some.feedback.at(-1)?.id).toBe('f101')
})
