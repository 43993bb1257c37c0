import { expect, test } from 'vitest'
import { keysOf } from '#domain/task/codeHost/feedbackState.ts'
import { feedbackLimits, isInFull } from '#domain/task/codeHost/feedbackRule.ts'
import type { HostFeedback } from '#platform/ports/codeHostFeedback.ts'
import { piecesOf } from './feedbackParts.ts'

const about = { number: 7, headCommit: 'c'.repeat(40) }
const words = {
  author: { id: '9', login: 'grace', isBot: false },
  writtenAt: '2026-01-31T00:00:00Z',
  url: 'https://code.example/pull/7',
}

/** A review with this number of comments on lines. */
function reviewed(comments: number, body = 'Please.'): HostFeedback {
  const lines = Array.from({ length: comments }, (_, n) => ({
    ...words,
    id: `${200 + n}`,
    body: `comment ${n}`,
    reviewId: '1',
    threadId: `${200 + n}`,
    path: 'a.ts',
    line: 3,
    startLine: null,
    isOutdated: false,
    hunk: '+x',
  }))
  return {
    reviews: [{ ...words, id: '1', body, state: 'commented', commit: null }],
    lines,
    comments: [],
  }
}
const idsOf = (pieces: ReturnType<typeof piecesOf>) =>
  pieces.map(({ content }) => content.comments.map(({ id }) => id))
const upTo = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `${200 + from + n}`)

test('a review of very many comments is one piece, which has the first in full and of the others where they stand', () => {
  const most = feedbackLimits.comments
  const pieces = piecesOf(reviewed(2 * most + 1), about, new Set())
  expect(idsOf(pieces)).toEqual([upTo(0, 2 * most + 1)])
  const comments = pieces.flatMap(({ content }) => content.comments)
  expect(comments.filter(isInFull)).toHaveLength(most)
  expect(comments.findIndex((one) => !isInFull(one))).toBe(most)
  expect(comments.at(-1)).toMatchObject({ path: 'a.ts', line: 3, body: '', hunk: '' })
  // Every comment counts as known afterwards, also those without text.
  const known = new Set(pieces.flatMap(({ content }) => keysOf(content)))
  const [again] = piecesOf(reviewed(2 * most + 1), about, known)
  expect(again?.content.comments).toEqual([])
})

test('what is known of a review makes room for what is not', () => {
  const most = feedbackLimits.comments
  const [first] = piecesOf(reviewed(most), about, new Set())
  const known = new Set(first ? keysOf(first.content) : [])
  expect(idsOf(piecesOf(reviewed(most + 2), about, known))).toEqual([upTo(most, most + 2)])
})

test('a review of words alone is one piece, and one that says nothing is none', () => {
  expect(idsOf(piecesOf(reviewed(0), about, new Set()))).toEqual([[]])
  expect(piecesOf(reviewed(0, ' '), about, new Set())).toEqual([])
})
