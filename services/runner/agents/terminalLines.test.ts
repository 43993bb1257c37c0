import { readFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { createClaudeParser } from './claude/parser.ts'
import type { AgentEvent, ToolFinished, ToolStarted } from './port.ts'
import { createTerminal } from './terminalLines.ts'

function shown(events: readonly AgentEvent[]): string {
  const terminal = createTerminal()
  return events.map(terminal).join('')
}

function started(toolId: string, some: Partial<ToolStarted>): ToolStarted {
  const blank = { parentToolId: null, kind: 'other', name: '', target: '', input: '{}' } as const
  return { type: 'tool_started', toolId, ...blank, ...some }
}
function finished(toolId: string, some: Partial<ToolFinished>): ToolFinished {
  const blank = { ok: true, exitCode: null, summary: '', output: '', additions: null, deletions: null }
  return { type: 'tool_finished', toolId, ...blank, ...some }
}
const bash = (toolId: string, target: string) => started(toolId, { kind: 'run', name: 'Bash', target })

test('a whole task of the real CLI', () => {
  const sample = new URL('../../../tests/data/claude/edit-partial.jsonl', import.meta.url)
  const parser = createClaudeParser()
  const events = [...parser.push(readFileSync(sample, 'utf8')), ...parser.end()]
  expect(stripVTControlCharacters(shown(events))).toBe(
    [
      'Session opened with claude-opus-5-5',
      '✎ Wrote /workspace +2',
      '✎ Edited /workspace +1 −1',
      '$ cat notes.txt && git status --short',
      'alpha',
      'gamma',
      '?? notes.txt',
      'Finished in 0.3 s',
      '',
    ].join('\n'),
  )
})

test('colours tell what is what', () => {
  const events = [
    bash('1', 'npm test'),
    finished('1', { ok: false, exitCode: 2, summary: 'exit code 2', output: 'Exit code 2\n1 failing' }),
    started('2', { kind: 'edit', name: 'Edit', target: 'src/a.ts' }),
    finished('2', { additions: 3, deletions: 1 }),
  ]
  expect(shown(events)).toBe(
    [
      '\u001B[1m$ npm test\u001B[0m',
      '1 failing',
      '\u001B[31mexit code 2\u001B[0m',
      '\u001B]133;D;2\u0007\u001B[32m✎\u001B[0m Edited src/a.ts \u001B[32m+3\u001B[0m \u001B[31m−1\u001B[0m',
      '',
    ].join('\n'),
  )
})

test('the output of a command stands under its command, also when several run at once', () => {
  const events = [
    bash('1', 'make a\nmake b'),
    bash('2', 'make c'),
    finished('2', { output: 'c' }),
    finished('1', { output: 'a' }),
  ]
  expect(stripVTControlCharacters(shown(events))).toBe('$ make a\n> make b\n$ make c\nc\n$ make a\na\n')
})

test('where the output of a command ends is marked, with how it ended', () => {
  expect(shown([bash('1', 'true'), finished('1', {})])).toBe('\u001B[1m$ true\u001B[0m\n\u001B]133;D;0\u0007')
  const interrupted = shown([bash('1', 'x'), finished('1', { ok: false, summary: 'interrupted' })])
  expect(interrupted.endsWith('\n\u001B]133;D\u0007')).toBe(true)
})

test('the tools of a sub-agent stand to the right', () => {
  const events = [
    started('1', { name: 'Task', target: 'Explore' }),
    started('2', { parentToolId: '1', kind: 'read', name: 'Read', target: 'a.ts' }),
    started('3', { parentToolId: '1', kind: 'fetch', name: 'WebFetch', target: 'https://example.com' }),
    finished('3', { ok: false, summary: 'No network.' }),
  ]
  expect(stripVTControlCharacters(shown(events))).toBe(
    '● Task Explore\n  ● Read a.ts\n  ↓ WebFetch https://example.com\n  ✗ WebFetch https://example.com: No network.\n',
  )
})

test('colours of a command are kept, what moves the cursor or sets a title is not', () => {
  const output = '\u001B]0;title\u0007\u001B[2K\u001B[1;32mok\u001B[0m\u001B[?25h\r\ndone\u001B[1A'
  expect(shown([bash('1', 'x'), finished('1', { output })])).toContain('\n\u001B[1;32mok\u001B[0m\ndone\n')
})

test('notices and errors are said; words of the agent, which are in the chat, and counts are not', () => {
  const events: AgentEvent[] = [
    { type: 'text_delta', messageKey: 'k', text: 'one' },
    { type: 'thinking', messageKey: 'k', text: 'hm', cut: false },
    { type: 'text', messageKey: 'k', text: 'one two', cut: true },
    { type: 'notice', text: 'Trying again.' },
    {
      type: 'usage',
      model: 'm',
      inputTokens: 1,
      outputTokens: 1,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      costUsd: 0,
    },
    { type: 'unknown', line: 'what' },
    { type: 'error', code: 'aborted', message: 'The run was interrupted.', httpStatus: null },
    { type: 'end', ok: false, sessionId: 's', durationMs: 1, turns: 1 },
  ]
  expect(stripVTControlCharacters(shown(events))).toBe('Trying again.\nThe run was interrupted.\n')
})
