import { expect, test } from 'vitest'
import { readQueue, type Wanted } from './readQueue.ts'

const wanted = (taskId: string, repository = 'r', holder = 'ada'): Wanted => ({
  taskId,
  number: 1,
  key: { nodeId: taskId },
  access: { holder, token: async () => holder },
  repository,
})
const idsOf = (taken: readonly Wanted[]) => taken.map(({ taskId }) => taskId)
const limits = { most: 100, restMs: 1_000 }

test('ten thousand hints at one pull request are one reading', () => {
  const queue = readQueue(limits)
  for (let index = 0; index < 10_000; index += 1) queue.add(wanted('a'))
  const taken = queue.take('ada', 0, 50)
  expect(idsOf(taken)).toEqual(['a'])
  queue.done(taken, 10)
  expect(queue.isEmpty()).toBe(true)
})

test('what is hinted at while it is read is read once more, after a rest', () => {
  const queue = readQueue(limits)
  queue.add(wanted('a'))
  const taken = queue.take('ada', 0, 50)
  queue.add(wanted('a'))
  queue.add(wanted('a'))
  expect(queue.isEmpty()).toBe(false)
  queue.done(taken, 10)
  expect([...queue.due()]).toEqual([['ada', 1_010]])
  expect(queue.take('ada', 10, 50)).toEqual([])
  expect(idsOf(queue.take('ada', 1_010, 50))).toEqual(['a'])
})

test('repositories of one access take turns, and other accesses are not held up', () => {
  const queue = readQueue(limits)
  for (let index = 0; index < 90; index += 1) queue.add(wanted(`busy-${index}`, 'busy'))
  queue.add(wanted('quiet', 'quiet'))
  queue.add(wanted('other', 'r', 'grace'))
  expect([...queue.due().keys()]).toEqual(['ada', 'grace'])
  expect(idsOf(queue.take('ada', 0, 3))).toEqual(['busy-0', 'quiet', 'busy-1'])
  expect(idsOf(queue.take('grace', 0, 3))).toEqual(['other'])
})

test('a full queue takes no more, but keeps what it has', () => {
  const queue = readQueue({ ...limits, most: 2 })
  expect(['a', 'b', 'c', 'a'].map((id) => queue.add(wanted(id)))).toEqual([true, true, false, true])
})
