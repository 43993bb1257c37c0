import { expect, test } from 'vitest'
import { readQueue, type Wanted } from './readQueue.ts'

const wanted = (taskId: string, repository = 'r', holder = 'ada'): Wanted => ({
  taskId,
  number: 1,
  key: { nodeId: taskId },
  access: { holder, token: async () => holder },
  repository,
  repositoryName: null,
})
const idsOf = (taken: readonly Wanted[]) => taken.map(({ taskId }) => taskId)

test('ten thousand hints at one pull request are one reading', () => {
  const queue = readQueue(100)
  for (let index = 0; index < 10_000; index += 1) queue.add(wanted('a'))
  const taken = queue.take('ada', 50)
  expect(idsOf(taken)).toEqual(['a'])
  queue.done(taken)
  expect(queue.isEmpty()).toBe(true)
})

test('what is hinted at while it is read is read once more', () => {
  const queue = readQueue(100)
  queue.add(wanted('a'))
  const taken = queue.take('ada', 50)
  queue.add(wanted('a'))
  queue.add(wanted('a'))
  expect(queue.isEmpty()).toBe(false)
  queue.done(taken)
  expect(idsOf(queue.take('ada', 50))).toEqual(['a'])
})

test('repositories of one access take turns, and other accesses are not held up', () => {
  const queue = readQueue(100)
  for (let index = 0; index < 90; index += 1) queue.add(wanted(`busy-${index}`, 'busy'))
  queue.add(wanted('quiet', 'quiet'))
  queue.add(wanted('other', 'r', 'grace'))
  expect([...queue.holders()]).toEqual(['ada', 'grace'])
  expect(idsOf(queue.take('ada', 3))).toEqual(['busy-0', 'quiet', 'busy-1'])
  expect(idsOf(queue.take('grace', 3))).toEqual(['other'])
})

test('a full queue takes no more, but keeps what it has', () => {
  const queue = readQueue(2)
  expect(['a', 'b', 'c', 'a'].map((id) => queue.add(wanted(id)))).toEqual([true, true, false, true])
})
