import { chown, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSandboxUsers, trialUser } from './sandboxUsers.ts'

let root = ''
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sandbox-users-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

const home = async (taskId: string, uid: number) => {
  const dir = join(root, 'tasks', taskId, 'home')
  await mkdir(dir, { recursive: true })
  await chown(dir, uid, uid)
}
const taskIds = (count: number) => Array.from({ length: count }, (_, n) => `task-${n}`)

describe('the user of a sandbox', () => {
  // Holds findings 1.56.
  test('finding 16: is of one task alone, of five thousand, and no account of the host', async () => {
    const users = openSandboxUsers(root)
    const ids = (await Promise.all(taskIds(5_000).map((taskId) => users.userOf(taskId)))).map(
      ({ uid }) => uid,
    )
    expect(new Set([...ids, trialUser().uid]).size).toBe(5_001)
    expect(Math.min(...ids)).toBeGreaterThan(10_000)
    expect(ids).not.toContain(65_534)
    expect(Math.max(...ids)).toBeLessThan(2_147_352_576)
  })

  test('finding 16: is another where the one that a task would have is taken', async () => {
    const users = openSandboxUsers(root, { first: 50_000, count: 1_001 })
    const ids = (await Promise.all(taskIds(1_000).map((taskId) => users.userOf(taskId)))).map(
      ({ uid }) => uid,
    )
    expect(new Set(ids).size).toBe(1_000)
    await expect(users.userOf('one-too-many')).rejects.toThrow('more workspaces than users')
  })

  test('is the same each time, also after a restart', async () => {
    const [one, again] = [openSandboxUsers(root), openSandboxUsers(root)]
    const user = await one.userOf('task-1')
    expect(await one.userOf('task-1')).toEqual(user)
    expect(await again.userOf('task-1')).toEqual(user)
    expect(user.gid).toBe(user.uid)
  })

  test.skipIf(process.getuid?.() !== 0)('is who owns the workspace that is there', async () => {
    await home('old', 27_190)
    const wanted = await openSandboxUsers(root).userOf('task-1')
    await home('other', wanted.uid)
    const users = openSandboxUsers(root)
    expect(await users.userOf('old')).toEqual({ uid: 27_190, gid: 27_190 })
    expect((await users.userOf('task-1')).uid).not.toBe(wanted.uid)
  })
})
