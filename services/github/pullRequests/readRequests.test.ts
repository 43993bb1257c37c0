/** Which pull requests a poll queues when not all of them fit into the queue. */
import { expect, test } from 'vitest'
import type { PullRequestDocument } from '#domain/views/pullRequests.ts'
import type { Find } from '#platform/ports/readStore.ts'
import { queueFollowed, type RequestDeps } from './readRequests.ts'
import type { ReadRequest } from './readQueue.ts'

const pulls = Array.from({ length: 500 }, (_, n) => {
  const id = `task-${String(n).padStart(3, '0')}`
  return { id, order: id, state: 'open', number: n, nodeId: `node-${n}`, repositoryId: '7' }
}) as unknown as readonly PullRequestDocument[]

const deps = {
  documents: {
    find: async (_view: unknown, { limit, after }: Find) => {
      const from = after === undefined ? 0 : pulls.findIndex(({ id }) => id === after.id) + 1
      return pulls.slice(from, from + limit)
    },
    getMany: async (_view: unknown, ids: readonly string[]) =>
      new Map(ids.map((id) => [id, { id, projectId: 'project', owner: 'ada' }])),
  },
  clock: { now: () => new Date() },
  tokenFor: async () => ({ kind: 'own', holder: 'ada' }),
} as unknown as RequestDeps

test('a poll goes on where the last one stopped because the queue was full', async () => {
  let queued: string[] = []
  const most = (count: number) => (found: readonly ReadRequest[]) => {
    if (queued.length + found.length > count) return false
    queued.push(...found.map(({ taskId }) => taskId))
    return true
  }
  const stoppedAt = await queueFollowed(deps, undefined, most(250))
  expect(queued).toEqual(pulls.slice(0, 200).map(({ id }) => id))
  queued = []
  expect(await queueFollowed(deps, stoppedAt, most(1_000))).toBeUndefined()
  expect(queued).toEqual(pulls.slice(200).map(({ id }) => id))
  queued = []
  expect(await queueFollowed(deps, undefined, most(1_000))).toBeUndefined()
  expect(queued).toHaveLength(500)
})
