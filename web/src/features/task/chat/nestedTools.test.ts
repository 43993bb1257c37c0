/** Calls of sub-agents are placed under the calls that they work for. */
import { expect, test } from 'vitest'
import type { LogDocument } from '#domain/views/commandLog.ts'
import type { ToolPart, TurnPart } from './turnParts.ts'
import { isCall, logsIn, nested, sameTools } from './nestedTools.ts'

const log = (id: string, parentId?: string): LogDocument => ({
  id,
  messageId: null,
  task: 't',
  executionId: 'e',
  kind: 'run',
  name: 'Bash',
  target: 'ls',
  input: null,
  status: 'completed',
  exitCode: 0,
  durationMs: 1,
  additions: null,
  deletions: null,
  summary: null,
  output: null,
  timestamp: '2026-01-01T00:00:00.000Z',
  order: '1',
  position: '1',
  version: 1,
  ...(parentId !== undefined && { parentId }),
})
const parts = (...logs: readonly LogDocument[]): readonly TurnPart[] =>
  logs.map((each) => ({ kind: 'tool', key: each.id, order: each.order, log: each }))
type Tree = readonly [id: string, ...below: Tree[]]
const treeOf = (part: TurnPart): Tree =>
  part.kind === 'tool' ? [part.key, ...(part.nested ?? []).map(treeOf)] : [part.key]
const seen = (...logs: readonly LogDocument[]) => nested(parts(...logs)).map(treeOf)

test('the words of a sub-agent are under its call, but not those that are the output of the call', () => {
  const words = (id: string, output: string) => ({ ...log(id, 'a'), kind: 'said', output }) as const
  const call = { ...log('a'), output: 'Done.' }
  const steps = [call, words('b', 'I look.'), log('c', 'a'), words('d', 'Done.')]
  expect(seen(...steps)).toEqual([['a', ['b'], ['c']]])
  expect(steps.filter(isCall)).toEqual([call, log('c', 'a')])
})

test('each call is under its own, at any depth, in order', () =>
  expect(
    seen(log('a'), log('b'), log('c', 'a'), log('d', 'b'), log('e', 'c'), log('f', 'a'), log('g')),
  ).toEqual([['a', ['c', ['e']], ['f']], ['b', ['d']], ['g']]))

test.each([
  ['whose parent is not loaded', [log('b', 'a')], [['b']]],
  ['that names itself', [log('a', 'a')], [['a']]],
  ['whose parents go in a circle', [log('a', 'b'), log('b', 'a')], [['a', ['b']]]],
])('a call %s is lost nowhere', (_, logs, tree) => expect(seen(...logs)).toEqual(tree))

test('no call of a sub-agent is left out of what a turn did', () => {
  const list = [log('a'), log('b', 'a'), log('c', 'b'), log('d')]
  expect(logsIn(nested(parts(...list))).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd'])
})

test('a part is another once something below it has changed', () => {
  const [a, b] = [log('a'), log('b', 'a')]
  const first = (...logs: readonly LogDocument[]): ToolPart => {
    const [part] = nested(parts(...logs))
    if (part?.kind !== 'tool') throw new Error('There is no call.')
    return part
  }
  expect(sameTools(first(a, b), first(a, b))).toBe(true)
  expect(sameTools(first(a, b), first(a, { ...b, status: 'failed' }))).toBe(false)
  expect(sameTools(first(a, b), first(a))).toBe(false)
})
