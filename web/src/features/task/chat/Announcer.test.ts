import { describe, expect, test } from 'vitest'
import { messageId } from '../../../../../tests/domain/ids.ts'
import { messageDocumentId } from '#domain/views/chat.ts'
import { messageOf } from '../../../../../tests/client/samples.ts'
import { announcement } from './Announcer.tsx'
import type { ChatEntry, MessageEntry, TurnEntry } from './chatTimeline.ts'
import { cameAfter, endOf } from './useUnread.ts'

function documentOf(n: number, message: string) {
  const {
    project: _project,
    owner: _owner,
    images: _images,
    attachments: _attachments,
    ...shown
  } = messageOf(n)
  const id = messageDocumentId(shown.task, shown.id)
  return { ...shown, id, messageId: messageId(n), images: [], order: String(n), message }
}
const said = (n: number): MessageEntry => ({
  kind: 'message',
  key: String(n),
  at: '',
  message: documentOf(n, `message ${n}`),
  grouped: false,
})
const turn = (...words: readonly [number, string][]): TurnEntry => ({
  kind: 'turn',
  key: 't',
  at: '',
  agent: 'claude',
  status: 'completed',
  live: false,
  partial: false,
  parts: words.map(([n, text]) => ({
    kind: 'text',
    key: String(n),
    order: String(n),
    message: documentOf(n, text),
  })),
})

describe('who listens is told', () => {
  const entries: readonly ChatEntry[] = [said(1), turn([2, 'I did it.'])]
  test.each([
    ['running', 'completed', 'The agent has finished'],
    ['running', 'cancelled', 'The turn was stopped'],
    // The note about it is an alert.
    ['running', 'failed', ''],
    ['pending', 'queued', ''],
    ['queued', 'running', ''],
    // It had ended before the page was opened.
    ['completed', 'completed', ''],
  ] as const)('when a task that is %s becomes %s: %j', (before, now, words) =>
    expect(announcement(before, now, entries)).toBe(words),
  )

  test('what the agent asks', () =>
    expect(announcement('running', 'completed', [turn([2, 'It is done.\n\nShall I go on?'])])).toBe(
      'The agent asks: Shall I go on?',
    ))
})

describe('messages that came since the end was left', () => {
  test('are counted, of people and of agents', () => {
    const left = endOf([said(1), turn([2, 'a'])])
    expect(cameAfter([said(1), turn([2, 'a'], [3, 'b']), said(4)], left)).toBe(2)
  })

  test('are not the earlier ones that were read meanwhile', () => {
    const left = endOf([said(3)])
    expect(cameAfter([said(1), said(2), said(3)], left)).toBe(0)
  })
})
