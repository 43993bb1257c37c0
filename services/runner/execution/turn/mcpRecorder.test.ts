import { expect, test } from 'vitest'
import type { McpServerReport } from '#domain/mcp/mcpReport.ts'
import { statesOf } from './mcpRecorder.ts'

const notListed = 'The agent got no list of its tools.'
const found = [{ name: 'slow', isConnected: false, tools: [] }]
const mcp = (server: Partial<McpServerReport>, faults: ReadonlyMap<string, string> = new Map()) => ({
  seen: () => [{ name: 'slow', status: 'failed' as const, error: notListed, tools: [], ...server }],
  faults: () => faults,
})

test('a server that connects after the session was opened counts as connected', () => {
  expect(statesOf(mcp({}), found)).toEqual([{ name: 'slow', status: 'failed', error: notListed, tools: [] }])
  const listed = mcp({ status: 'connected', error: null, tools: ['add'] })
  expect(statesOf(listed, found)).toEqual([
    { name: 'slow', status: 'connected', error: null, tools: ['add'] },
  ])
})

test('a fault of the server is the reason of a failure', () => {
  const faulty = mcp({}, new Map([['slow', 'It cannot be reached.']]))
  expect(statesOf(faulty, found)).toMatchObject([{ status: 'failed', error: 'It cannot be reached.' }])
})
