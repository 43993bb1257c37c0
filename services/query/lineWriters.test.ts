import { expect, test } from 'vitest'
import type { LogDocument } from '#domain/views/commandLog.ts'
import { lineHash } from '#platform/hashes.ts'
import { redacted } from '#platform/redaction/scan.ts'
import { writersOf } from './lineWriters.ts'

const call = (id: string, kind: LogDocument['kind'], over: Partial<LogDocument> = {}): LogDocument => ({
  id,
  task: 'task',
  messageId: null,
  executionId: 'execution',
  kind,
  name: 'Tool',
  target: null,
  input: '{}',
  status: 'completed',
  exitCode: null,
  durationMs: 10,
  additions: null,
  deletions: null,
  summary: null,
  output: null,
  timestamp: '2026-11-25T20:00:00.000Z',
  order: '1',
  position: '1',
  version: 7,
  ...over,
})
const edit = (id: string, target: string, over: Partial<LogDocument> = {}) =>
  call(id, 'edit', { target, ...over })
/** As an edit records what it added. */
const adding = (...lines: readonly string[]) => ({
  output: `@@ -1,0 +1,${lines.length} @@\n context\n-gone\n${lines.map((line) => `+${line}`).join('\n')}`,
})
const of = (calls: readonly LogDocument[], lines: readonly string[], path = 'a.ts') =>
  writersOf(calls, { path, lines: lines.map(lineHash), isWhole: true }).calls.map((one) => one?.id ?? null)
const only = (calls: readonly LogDocument[], isWhole = true) =>
  writersOf(calls, { path: 'a.ts', lines: [null], isWhole }).calls[0]?.id ?? null

test('the only edit of a file wrote its lines, whatever was read beside it', () => {
  expect(
    only([call('1', 'read'), edit('2', 'a.ts'), edit('3', 'b.ts'), call('4', 'search'), call('5', 'todo')]),
  ).toBe('2')
})

test('the only shell command wrote the lines of a file that no edit names', () => {
  expect(only([call('1', 'read'), call('2', 'run')])).toBe('2')
})

test('of several calls that can have written them none is named', () => {
  expect(only([edit('1', 'a.ts'), edit('2', 'a.ts')])).toBeNull()
  expect(only([edit('1', 'a.ts'), call('2', 'run')])).toBeNull()
  expect(only([edit('1', 'a.ts'), call('2', 'other')])).toBeNull()
  const calls = [edit('1', 'a.ts'), call('2', 'run', { status: 'failed' })]
  expect(writersOf(calls, { path: 'a.ts', lines: [null], isWhole: true })).toMatchObject({
    edits: [{ id: '1' }],
    otherCalls: 1,
    calls: [null],
  })
})

test('an edit that failed wrote nothing, one that was interrupted may have', () => {
  expect(only([edit('1', 'a.ts', { status: 'failed' }), edit('2', 'a.ts')])).toBe('2')
  expect(only([edit('1', 'a.ts', { status: 'running' }), edit('2', 'a.ts')])).toBeNull()
})

test('none is named where calls are missing or their files were erased', () => {
  expect(only([edit('1', 'a.ts')], false)).toBeNull()
  expect(only([edit('1', 'a.ts'), call('2', 'edit')])).toBeNull()
  expect(only([])).toBeNull()
})

// Holds findings 1.101.
test('recorder M8: of two edits of a file each has the lines that it added', () => {
  const calls = [edit('1', 'a.ts', adding('one', 'both')), edit('2', 'a.ts', adding('two\r', 'both'))]
  expect(of(calls, ['one', 'two', 'both', 'neither'])).toEqual(['1', '2', null, null])
})

test('recorder M8: a line that no edit added is of the only other call', () => {
  const calls = [edit('1', 'a.ts', adding('one', '}')), call('2', 'run', { order: '2' })]
  expect(of(calls, ['one', 'from sed', '}'])).toEqual(['1', '2', null])
  expect(of([...calls, call('3', 'other')], ['one', 'from sed'])).toEqual(['1', null])
  expect(of([edit('1', 'a.ts', adding('one', '}'))], ['one', '}', 'formatted'])).toEqual(['1', '1', '1'])
})

test('recorder M8: a line of which the record is cut or redacted may be of that edit', () => {
  for (const left of ['… 12 characters left out …', `+key = ${redacted}`]) {
    const output = `${adding('one').output}\n${left}`
    expect(of([edit('1', 'a.ts', { output }), call('2', 'run')], ['one', 'two'])).toEqual(['1', null])
  }
})

test('recorder M8: a file that a later command of the turn renamed keeps the edits of its former name', () => {
  const write = edit('1', 'f.txt', adding('one', 'two', 'three', 'four'))
  const run = call('2', 'run', { order: '2' })
  expect(of([write, run], ['one', 'two', 'three', 'by sed'], 'g.txt')).toEqual(['1', '1', '1', '2'])
  // Less than half of its lines, or nothing that can have renamed it after that.
  expect(of([write, run], ['one', 'x', 'y'], 'g.txt')).toEqual(['2', '2', '2'])
  const before = call('2', 'run', { order: '0' })
  expect(of([before, write], ['one', 'two'], 'g.txt')).toEqual(['2', '2'])
})
