/** How full the context is, from what claude prints about each call of its model. */
import { expect, test } from 'vitest'
import type { AgentEvent } from '../port.ts'
import { createClaudeParser } from './parser.ts'

const small = { input_tokens: 10, cache_read_input_tokens: 900, cache_creation_input_tokens: 80 }
const call = (
  usage: object | undefined,
  { model = 'claude-x', parent = null }: { model?: string; parent?: string | null } = {},
) =>
  [
    { type: 'message_start', message: { id: 'a', model, usage } },
    { type: 'message_delta', usage: { output_tokens: 10 } },
  ].map((event) => ({ type: 'stream_event', parent_tool_use_id: parent, event }))
const result = (modelUsage: object) => ({ type: 'result', subtype: 'success', is_error: false, modelUsage })
const windows = { 'claude-x': { contextWindow: 200_000 }, 'claude-small': { contextWindow: 50_000 } }
const compaction = (trigger: string) => ({
  type: 'system',
  subtype: 'compact_boundary',
  uuid: 'x',
  compact_metadata: { trigger },
})

function measured(...lines: readonly object[]): readonly AgentEvent[] {
  return createClaudeParser()
    .push(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    .filter(({ type }) => ['context', 'compacted', 'text', 'unknown'].includes(type))
}
const context = (usedTokens: number) => ({ type: 'context', context: { usedTokens, windowTokens: 200_000 } })

test('is what the last call of the agent itself took, told with the window at the end of the first turn', () =>
  expect(
    measured(
      ...call({ input_tokens: 5 }),
      ...call(small),
      ...call({ input_tokens: 7 }, { model: 'claude-small', parent: 'toolu_1' }),
      result(windows),
      result(windows),
    ),
  ).toEqual([context(1_000)]))

test('is told after each call once the window is known, and not again at the end of the turn', () =>
  expect(
    measured(
      ...call(small),
      result(windows),
      ...call({ input_tokens: 2_000 }),
      ...call(small),
      result(windows),
    ),
  ).toEqual([context(1_000), context(2_010), context(1_000)]))

test('is found where the model is named otherwise, if only one was used', () =>
  expect(measured(...call(small, { model: 'x' }), result({ y: { contextWindow: 200_000 } }))).toEqual([
    context(1_000),
  ]))

test.each([
  ['the model is named otherwise, and is one of several', call(small, { model: 'y' }), windows],
  ['no window is told', call(small), { 'claude-x': {} }],
  ['the window makes no sense', call(small), { 'claude-x': { contextWindow: 0 } }],
  ['the call tells nothing', call(undefined), windows],
])('is not told where %s', (_, lines, modelUsage) =>
  expect(measured(...lines, result(modelUsage))).toEqual([]),
)

test('a compaction that nobody asked for is told, and what was called before it does not count', () =>
  expect(measured(...call(small), compaction('auto'), result(windows))).toEqual([{ type: 'compacted' }]))

test('after a compaction that a person asked for it is not known', () =>
  expect(measured(...call(small), compaction('manual'), result(windows))).toEqual([
    expect.objectContaining({ type: 'text', text: 'The conversation so far was summarized.' }),
    { type: 'context', context: null },
  ]))
