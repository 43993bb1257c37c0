import { expect, test } from 'vitest'
import type { LogDocument } from '#domain/views/log.ts'
import { writersOf } from './lineOrigins.ts'

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
const only = (calls: readonly LogDocument[], isWhole = true) =>
  writersOf(calls, 'a.ts', isWhole).only?.id ?? null

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
  expect(writersOf([edit('1', 'a.ts'), call('2', 'run', { status: 'failed' })], 'a.ts', true)).toMatchObject({
    edits: [{ id: '1' }],
    otherCalls: 1,
    only: null,
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
