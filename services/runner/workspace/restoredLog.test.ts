/** Workspaces end with the epoch of the log in which they were made. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { logger } from '#platform/log.ts'
import { taskId } from '../../../tests/domain/ids.ts'
import { testPath } from '../../../tests/runner/workspaceScene.ts'
import { testLog } from '../../../tests/server/engines.ts'
import { removeAfterRestore } from './restoredLog.ts'
import { hasWorkspace } from './workspace.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'flightdeck-restored-'))
})
afterEach(() => rm(root, { recursive: true }))

const starts = (logIdentity: typeof testLog) =>
  removeAfterRestore({ root, path: testPath, logIdentity, logger: logger('silent') })
const tasks = () => readdir(join(root, 'tasks'))
async function work(n: number): Promise<void> {
  const folder = join(root, 'tasks', taskId(n))
  await mkdir(join(folder, 'home'), { recursive: true })
  const marker = { version: 1, branch: 'w', baseBranch: 'main', startCommit: null }
  await writeFile(join(folder, 'ready.json'), JSON.stringify(marker))
}

test('a restore of the log removes all workspaces once, and another start none', async () => {
  await work(1)
  // The first start of this version finds workspaces of an earlier one.
  await starts({ ...testLog, epoch: 3 })
  await starts({ ...testLog, epoch: 3 })
  expect(await hasWorkspace(root, taskId(1))).toBe(true)
  await work(2)
  await starts({ ...testLog, epoch: 4 })
  expect(await tasks()).toEqual([])
  await work(1)
  await starts({ ...testLog, epoch: 4 })
  expect(await tasks()).toEqual([taskId(1)])
})

test('what the folder has for one log outlasts a start on another', async () => {
  await starts(testLog)
  await work(1)
  await starts({ logId: '00000000-0000-4000-8000-000000000001', epoch: 7 })
  await starts(testLog)
  expect(await tasks()).toEqual([taskId(1)])
})

test('a runner without any workspace starts', async () => {
  await starts(testLog)
  await starts({ ...testLog, epoch: 2 })
  await expect(tasks()).rejects.toMatchObject({ code: 'ENOENT' })
})
