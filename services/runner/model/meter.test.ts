import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { messagesApi } from './messages/api.ts'
import { createMeter } from './meter.ts'

const events = [
  'event: message_start\r\n',
  'data: {"type":"message_start","message":{"type":"message","model":"claude-日本","usage":{"input_tokens":9,"output_tokens":1}}}\r\n\r\n',
  'data:{"type":"content_block_delta","delta":{"type":"text_delta","text":"usage 日本"}}\n\n',
  'data: {"type":"message_delta","usage":{"output_tokens":4,"cache_read_input_tokens":null}}\n\n',
  'data: {"type":"message_delta","usage":{"output_tokens":12,"cache_read_input_tokens":3}}\n\n',
].join('')
const expected = {
  model: 'claude-日本',
  inputTokens: 9,
  outputTokens: 12,
  cacheReadTokens: 3,
  cacheWriteTokens: 0,
}

test('a stream is counted however it is cut', () => {
  const bytes = Buffer.from(events)
  fc.assert(
    fc.property(fc.array(fc.nat({ max: bytes.length })), (cuts) => {
      const meter = createMeter(messagesApi, 'text/event-stream; charset=utf-8')
      const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
      for (const [i, edge] of edges.entries()) meter.read(bytes.subarray(edge, edges[i + 1] ?? bytes.length))
      expect(meter.total()).toEqual(expected)
    }),
  )
})

test('a line that is too long is passed over, and what follows is counted', () => {
  const meter = createMeter(messagesApi, 'text/event-stream')
  for (let i = 0; i < 1_700; i += 1) meter.read(Buffer.alloc(10_000, 'x'))
  meter.read(Buffer.from(`\n${events}`))
  expect(meter.total()).toEqual(expected)
})

test('what says nothing of use counts as nothing', () => {
  for (const type of ['text/event-stream', 'application/json', 'text/html', '']) {
    const meter = createMeter(messagesApi, type)
    meter.read(Buffer.from('<html>{"usage":{"input_tokens":5}}\n\n'))
    expect(meter.total()).toBeUndefined()
  }
})

test('an answer that fails before it begins has used nothing', () => {
  const meter = createMeter(messagesApi, 'text/event-stream')
  meter.read(
    Buffer.from('data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'),
  )
  expect(meter.total()).toMatchObject({ inputTokens: 0, outputTokens: 0 })
})
