/** What a runner reads in its workspace of a task, which another runner may have run since. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { openInProcessRpc } from '#platform/bus/rpcInProcess.ts'
import { logger } from '#platform/log.ts'
import { projectId, taskId, userId } from '../../../tests/domain/ids.ts'
import { handleRpcRequests } from './handleRpcRequests.ts'
import { taskFiles } from './taskFiles.ts'

const lines = { taskId: taskId(1), ownerId: userId(1), blob: 'a'.repeat(40), from: 1, to: 1 }
const place = { projectId: projectId(1), ownerId: userId(1), taskId: taskId(1) }

/** A runner with a workspace of a task that `runner-1` ran last. */
const runner = (runnerId: string, read: string[] = []) => ({
  runnerId,
  isAlone: false,
  root: '/nowhere',
  sandbox: { missing: 'Not here.' },
  shells: { open: async () => undefined, use: async () => undefined },
  logger: logger('silent'),
  commands: { load: async () => ({ state: { kind: 'task', lastRunnerId: 'runner-1' } }) },
  documents: {
    get: async () => ({ ...place, owner: userId(1), githubOwner: 'ada', githubRepoId: '7' }),
  },
  access: { tokenOf: async () => 'token' },
  codeHost: { repository: async () => ({ id: '7' }) },
  workspaces: { has: async () => true, read: async (id: string) => void read.push(id) },
  git: async ({ args }: { readonly args: readonly string[] }) => ({
    code: args[0] === 'cat-file' ? 0 : 1,
    endedBy: 'itself',
    stdout: Buffer.from('line\n'),
    stderr: Buffer.alloc(0),
  }),
})

test.each([
  ['the task last', 'runner-1', true],
  ['it before another one', 'runner-2', false],
])('a runner that ran %s', async (_, runnerId, isRead) => {
  const rpc = openInProcessRpc({ onFault: () => undefined })
  const rebuilds = { begin: async () => expect.unreachable(), repositoryChanged: async () => undefined }
  const stop = handleRpcRequests(runner(runnerId) as unknown as Parameters<typeof handleRpcRequests>[0], {
    rpc,
    isAlone: false,
    rebuilds,
    codeHostUrl: 'https://host.example',
  })
  expect((await rpc.call('lines', lines, 60_000)) !== undefined).toBe(isRead)
  stop()
  const read: string[] = []
  const answer = taskFiles(
    runner(runnerId, read) as unknown as Parameters<typeof taskFiles>[0],
    async () =>
      ({ mirror: { dir: '/nowhere/mirror' } }) as unknown as ReturnType<Parameters<typeof taskFiles>[1]>,
  )
  const search = {
    read: { kind: 'search', search: '' },
    branch: 'main',
    workingBranch: null,
    saved: null,
  } as const
  expect(await answer({ ...place, ...search })).toBeUndefined()
  expect(read).toEqual(isRead ? [taskId(1)] : [])
})

test.each([
  ['while callers wait for them', 999, 6],
  ['and none for a caller who is gone', 1_000, 2],
])('one person reads twice at once, however many calls come together, %s', async (_, waitedMs, answered) => {
  const now = vi.spyOn(Date, 'now').mockReturnValue(0)
  onTestFinished(() => now.mockRestore())
  const rpc = openInProcessRpc({ onFault: () => undefined })
  const ends: (() => void)[] = []
  let isSlow = true
  const { git, ...rest } = runner('runner-1')
  const slowGit = async (call: { readonly args: readonly string[] }) => {
    if (isSlow) await new Promise<void>((resolve) => ends.push(resolve))
    return git(call)
  }
  const rebuilds = { begin: async () => expect.unreachable(), repositoryChanged: async () => undefined }
  const deps = { ...rest, git: slowGit } as unknown as Parameters<typeof handleRpcRequests>[0]
  const stop = handleRpcRequests(deps, {
    rpc,
    isAlone: false,
    rebuilds,
    codeHostUrl: 'https://host.example',
  })
  const own = Array.from({ length: 100 }, () => rpc.call('lines', lines, 60_000))
  await expect.poll(() => ends.length).toBe(2)
  const other = rpc.call('lines', { ...lines, ownerId: userId(2) }, 60_000)
  await expect.poll(() => ends.length).toBe(3)
  isSlow = false
  now.mockReturnValue(waitedMs)
  for (const end of ends) end()
  expect(await other).toBeDefined()
  expect((await Promise.all(own)).filter((answer) => answer !== undefined)).toHaveLength(answered)
  stop()
})
