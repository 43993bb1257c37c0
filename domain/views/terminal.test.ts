/** The terminal's items are the same when they are read and when they are sent. */
import { describe, expect, test } from 'vitest'
import { MessageDelta, TerminalOutput } from '../api/chat.schema.ts'
import { executionId, messageId, taskId } from '../../tests/domain/ids.ts'
import { erased, moment, recorded } from '../../tests/domain/recorded.ts'
import { terminalStream } from '../kernel/streams.ts'
import { MessageTextRecorded, TerminalOutputRecorded } from '../task/terminalEvents.ts'
import { messageDeltaOf, terminalOutputOf } from './terminal.ts'

const place = { stream: terminalStream(taskId(1)), revision: 4, position: '90' }
const output = recorded(
  TerminalOutputRecorded.of(
    { executionId: executionId(1), attempt: 2, kind: 'turn', channel: 'stderr' },
    { text: 'warning\n' },
  ),
  place,
)
const delta = recorded(
  MessageTextRecorded.of(
    { executionId: executionId(1), attempt: 2, messageId: messageId(1), offset: 7 },
    { text: 'lo', begunAt: '2026-01-01T00:00:00.000Z', chunks: [[2, 0]] },
  ),
  place,
)
const placed = { taskId: taskId(1), executionId: executionId(1), position: '90', version: 4 }

describe('output', () => {
  test('says where, when and by which channel it was printed', () => {
    const item = terminalOutputOf(output)
    expect(item).toStrictEqual({ ...placed, timestamp: moment, content: 'warning\n', type: 'stderr' })
    expect(TerminalOutput.parse(item)).toStrictEqual(item)
  })

  test('that was erased is empty', () =>
    expect(terminalOutputOf(erased(output))).toMatchObject({ content: '' }))
})

describe('a piece of a message', () => {
  test('says where it belongs', () => {
    const piece = messageDeltaOf(delta)
    expect(piece).toStrictEqual({ ...placed, messageId: messageId(1), offset: 7, text: 'lo' })
    expect(MessageDelta.parse(piece)).toStrictEqual(piece)
  })

  test('that was erased is empty', () => expect(messageDeltaOf(erased(delta))).toMatchObject({ text: '' }))
})
