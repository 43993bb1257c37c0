import { expect, test } from 'vitest'
import type { OwnAccess } from '../access.ts'
import { readQueue, type ReadRequest } from './readQueue.ts'

const ownOf = (holder: string): OwnAccess => {
  const token = async () => holder
  return { kind: 'own', holder, token, repositoryToken: token }
}
const request = (taskId: string, repository = 'r', holder = 'ada'): ReadRequest => ({
  taskId,
  number: 1,
  key: { nodeId: taskId },
  access: ownOf(holder),
  repository,
})
const idsOf = (taken: readonly ReadRequest[]) => taken.map(({ taskId }) => taskId)

test('ten thousand hints at one pull request are one reading', () => {
  const queue = readQueue(100)
  for (let index = 0; index < 10_000; index += 1) queue.add(request('a'))
  const taken = queue.take('ada', 50)
  expect(idsOf(taken)).toEqual(['a'])
  queue.done(taken)
  expect(queue.isEmpty()).toBe(true)
})

test('what is hinted at while it is read is read once more', () => {
  const queue = readQueue(100)
  queue.add(request('a'))
  const taken = queue.take('ada', 50)
  queue.add(request('a'))
  queue.add(request('a'))
  expect(queue.isEmpty()).toBe(false)
  queue.done(taken)
  expect(idsOf(queue.take('ada', 50))).toEqual(['a'])
})

test('repositories of one access take turns, and other accesses are not held up', () => {
  const queue = readQueue(100)
  for (let index = 0; index < 90; index += 1) queue.add(request(`busy-${index}`, 'busy'))
  queue.add(request('quiet', 'quiet'))
  queue.add(request('other', 'r', 'grace'))
  expect([...queue.holders()]).toEqual(['ada', 'grace'])
  expect(idsOf(queue.take('ada', 3))).toEqual(['busy-0', 'quiet', 'busy-1'])
  expect(idsOf(queue.take('grace', 3))).toEqual(['other'])
})

test('a full queue takes no more, but keeps what it has', () => {
  const queue = readQueue(2)
  expect(['a', 'b', 'c', 'a'].map((id) => queue.add(request(id)))).toEqual([true, true, false, true])
})

test('what an installation reads by name is of one repository at a time, what it reads by ids of all', () => {
  const queue = readQueue(100)
  const own = ownOf('ada')
  const access = {
    ...own,
    kind: 'installation',
    own,
    again: async () => own,
    refused: () => undefined,
  } as const
  const named = (taskId: string, name: string): ReadRequest => ({
    ...request(taskId, name),
    key: { repository: { owner: 'acme', name }, number: 1 },
    access,
  })
  for (const one of [named('a', 'x'), named('b', 'y'), named('c', 'x')]) queue.add(one)
  for (const id of ['d', 'e']) queue.add({ ...request(id, id), access })
  const all = [1, 2, 3].map(() => idsOf(queue.take('ada', 50)))
  expect(all).toEqual([['a', 'c'], ['b'], ['d', 'e']])
})
