/** How a runner searches the files of a commit. */
import { expect, test } from 'vitest'
import { logger } from '#platform/log.ts'
import { projectId, userId } from '../../../tests/domain/ids.ts'
import type { Git } from '../workspace/git/git.ts'
import { abilityAnswers, bestMatches, type AbilitiesDeps, type FindRepository } from './abilities.ts'

const ended = {
  code: 0,
  signal: null,
  stdout: Buffer.from('c0ffee\n'),
  stderr: Buffer.alloc(0),
  endedBy: 'itself',
} as const

/** The answers of a runner whose git lists the files of a commit like this, and which finds repositories when `fetched` resolves. */
function answersWith(list: Git, fetched: (ownerId: string) => Promise<void> = async () => undefined) {
  const git: Git = async (call) => (call.args[0] === 'ls-tree' ? list(call) : ended)
  const deps = { git, logger: logger('silent') } as unknown as AbilitiesDeps
  const found = async ({ ownerId }: { readonly ownerId: string }) => {
    await fetched(ownerId)
    return { mirror: { dir: '/nowhere' }, defaultBranch: 'main' }
  }
  return abilityAnswers(deps, found as unknown as FindRepository)
}

const searchOf = (ownerId: string, search = '') => ({
  projectId: projectId(1),
  ownerId,
  taskId: null,
  branch: null,
  search,
})

test('a search ends git after 200,000 paths, and finds those before', async () => {
  const chunk = Buffer.from('a/b\0'.repeat(100_000))
  let sent = 0
  const { files } = answersWith(async ({ onStdout }) => {
    for (; sent < 10; sent += 1) if (onStdout?.(chunk) === 'enough') return { ...ended, endedBy: 'reader' }
    return ended
  })
  expect((await files(searchOf(userId(1), 'b')))?.files).toHaveLength(30)
  expect(sent).toBe(1)
})

test('one person searches twice at once, and keeps nobody else from searching', async () => {
  const ends: (() => void)[] = []
  const { files } = answersWith(async () => {
    await new Promise<void>((resolve) => ends.push(resolve))
    return ended
  })
  const own = Array.from({ length: 7 }, () => files(searchOf(userId(1))))
  expect(await own[6]).toBeUndefined()
  await expect.poll(() => ends.length).toBe(2)
  const other = files(searchOf(userId(2)))
  await expect.poll(() => ends.length).toBe(3)
  ends[2]?.()
  expect(await other).toEqual({ files: [] })
  for (let n = 0; n < 7; n += 1) {
    await expect.poll(() => ends.length).toBeGreaterThan(n)
    ends[n]?.()
  }
  expect(await Promise.all(own)).toHaveLength(7)
})

test('searches that wait for the first fetch of a repository keep nobody else from searching', async () => {
  const slow = [userId(1), userId(2)]
  let fetch = (): void => undefined
  const fetched = new Promise<void>((resolve) => void (fetch = resolve))
  const { files } = answersWith(
    async () => ended,
    async (ownerId) => (slow.includes(ownerId) ? fetched : undefined),
  )
  const waiting = [...slow, ...slow].map((ownerId) => files(searchOf(ownerId)))
  expect(await files(searchOf(userId(3)))).toEqual({ files: [] })
  fetch()
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => ({ files: [] })))
})

test('other work of the process gets its turn between the paths of a search', async () => {
  let isDone = false
  setImmediate(() => (isDone = true))
  expect(await bestMatches(Array<string>(30_000).fill('a/b'), 'c')).toEqual([])
  expect(isDone).toBe(true)
})
