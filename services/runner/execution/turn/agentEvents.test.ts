import { describe, expect, test } from 'vitest'
import { executionId } from '../../../../tests/domain/ids.ts'
import { recordingOf } from '../../../../tests/runner/turnRecording.ts'

describe('what an agent reports', () => {
  test('a thought is recorded once it is whole, redacted and bounded, and never as a message', async () => {
    const { recorder, messages, recorded, thought } = recordingOf(
      executionId(1),
      (text) => `redacted: ${text}`,
    )
    messages.add('mine')
    await recorder.record({ type: 'taken_up', messageIds: ['mine'] })
    await recorder.record({ type: 'thinking_delta', messageKey: 't', text: 'Let me' })
    expect(recorded).toEqual([])
    expect(thought).toEqual(['Let me'])
    await recorder.record({ type: 'thinking', messageKey: 't', text: 'Let me see.', cut: false })
    await recorder.record({ type: 'thinking', messageKey: 'empty', text: ' \n', cut: false })
    await recorder.record({ type: 'thinking', messageKey: 'long', text: 'x'.repeat(99_999), cut: true })
    expect(recorded.map(({ type, content }) => [type, content])).toEqual([
      ['ThinkingRecorded', { text: 'redacted: Let me see.' }],
      [
        'ThinkingRecorded',
        { text: expect.stringMatching(/^redacted: x+\n… 67999 characters left out …\nx+$/) },
      ],
    ])
    expect(recorded.map(({ data }) => data)).toMatchObject([
      { messageId: 'message of t', agent: 'claude', durationMs: 0 },
      { messageId: 'message of long', agent: 'claude', durationMs: null },
    ])
  })

  test('how full the context is is recorded once for each percent, and is not known after a compaction', async () => {
    const { recorder, recorded } = recordingOf(executionId(1))
    const measure = (usedTokens: number) =>
      recorder.record({ type: 'context', context: { usedTokens, windowTokens: 10_000 } })
    await measure(1_000)
    await measure(1_010)
    await measure(1_060)
    await recorder.record({ type: 'compacted' })
    await measure(1_060)
    expect(
      recorded.map(({ type, data, content }) => [type, 'context' in data ? data.context : content]),
    ).toEqual([
      ['ContextMeasured', { usedTokens: 1_000, windowTokens: 10_000 }],
      ['ContextMeasured', { usedTokens: 1_060, windowTokens: 10_000 }],
      ['MessagePosted', { message: 'The conversation had grown long and was summarized.' }],
      ['ContextMeasured', null],
      ['ContextMeasured', { usedTokens: 1_060, windowTokens: 10_000 }],
    ])
  })

  test('what it thinks unasked is neither sent nor recorded', async () => {
    const { recorder, recorded, thought } = recordingOf(executionId(1))
    await recorder.record({ type: 'unasked' })
    await recorder.record({ type: 'thinking_delta', messageKey: 't', text: 'Why am I' })
    await recorder.record({ type: 'thinking', messageKey: 't', text: 'Why am I awake?', cut: false })
    expect([recorded, thought]).toEqual([[], []])
  })

  // Holds findings 1.135.
  test('agents D1: a line of JSON that nobody knows is not shown in the terminal, words are', async () => {
    const { recorder, stderr } = recordingOf(executionId(1))
    await recorder.record({ type: 'unknown', line: '{"type":"telepathy","state":"queued"}' })
    await recorder.record({ type: 'unknown', line: ' [1]' })
    await recorder.record({ type: 'unknown', line: 'Segmentation fault' })
    expect(stderr).toEqual(['Segmentation fault\n'])
  })

  test('agents D1: what it does unasked is recorded apart, and its session only with the message', async () => {
    const { recorder, messages, recorded } = recordingOf(executionId(1))
    messages.add('mine')
    await recorder.record({ type: 'unasked' })
    await recorder.record({ type: 'session', sessionId: 's', model: 'm' })
    await recorder.record({ type: 'text', messageKey: 'a', text: 'I woke up.', cut: false })
    await recorder.record({ type: 'end', ok: true, sessionId: 's', durationMs: 1, turns: 1, answers: [] })
    expect(recorded.map(({ type }) => type)).toEqual(['AgentActedUnasked'])
    expect(recorded[0]).toMatchObject({ data: { agent: 'claude' }, content: { said: 'I woke up.' } })
    expect(recorder.session()).toBeUndefined()

    await recorder.record({ type: 'taken_up', messageIds: ['mine'] })
    await recorder.record({ type: 'text', messageKey: 'b', text: 'Hello.', cut: false })
    await recorder.record({
      type: 'end',
      ok: true,
      sessionId: 's',
      durationMs: 1,
      turns: 1,
      answers: ['mine'],
    })
    expect(recorded.map(({ type }) => type)).toEqual(['AgentActedUnasked', 'AgentStarted', 'MessagePosted'])
    expect(recorder.session()).toBe('s')
  })

  test('an answer counts as seen once the model says something, not when it only asks', async () => {
    const { recorder, answersSeen } = recordingOf(executionId(1))
    await recorder.record({ type: 'question', requestId: 'r', asked: [] })
    expect(answersSeen()).toBe(0)
    await recorder.record({ type: 'text', messageKey: 'a', text: 'Blue it is.', cut: false })
    expect(answersSeen()).toBe(1)
  })

  test('agents D1: a fault of what it did unasked is no fault of the turn', async () => {
    const { recorder, messages } = recordingOf(executionId(1))
    messages.add('mine')
    await recorder.record({ type: 'unasked' })
    await recorder.record({ type: 'error', code: 'other', message: 'Its own fault.', httpStatus: null })
    await recorder.record({ type: 'end', ok: false, sessionId: 's', durationMs: 1, turns: 1, answers: [] })
    await recorder.record({
      type: 'end',
      ok: true,
      sessionId: 's',
      durationMs: 1,
      turns: 1,
      answers: ['mine'],
    })
    expect(recorder.lastError()).toBeUndefined()
    expect(messages.isCompleted()).toBe(true)
  })
})
