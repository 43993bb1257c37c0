/** Preparations of one person that replace each other, with the real locks of tasks. No workspace can be made here. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { TaskDocument } from '#domain/views/tasks.ts'
import { projectsView } from '#domain/views/projects.ts'
import { logger } from '#platform/log.ts'
import { projectId, taskId, userId } from '../../../tests/domain/ids.ts'
import { openLocks, type WorkspaceLocks } from '../workspace/locks.ts'
import { openPreparedWorkspaces, type PreparedWorkspaces } from './preparedWorkspaces.ts'

let root: string
let locks: WorkspaceLocks
let prepared: PreparedWorkspaces
/** Ends the makings that have begun, in their order. */
let ends: (() => void)[]
let onBegun: () => void
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'flightdeck-preparations-'))
  locks = openLocks()
  ends = []
  onBegun = () => undefined
  const get = (view: unknown) =>
    view === projectsView
      ? new Promise((resolve) => {
          ends.push(() => resolve(undefined))
          onBegun()
        })
      : Promise.resolve(undefined)
  prepared = await openPreparedWorkspaces({
    root,
    locks,
    documents: { get },
    workspaces: { has: async () => false },
    agents: { drop: async () => undefined },
    logger: logger('silent'),
  } as unknown as Parameters<typeof openPreparedWorkspaces>[0])
})
afterEach(async () => {
  await prepared.close()
  await rm(root, { recursive: true })
})

const prepare = (n: number, branch = 'main') =>
  prepared.prepare({
    taskId: taskId(n),
    ownerId: userId(1),
    projectId: projectId(1),
    branch,
    agent: 'claude',
    model: null,
  })

/** Adopts the preparation of a task, as a run of the task does. */
const adopt = (n: number) => {
  const task = { id: taskId(n), owner: userId(1), projectId: projectId(1), branch: 'main' }
  return locks.hold(taskId(n), () => prepared.adopt(task as TaskDocument))
}

/** Resolves when the n-th making has begun. */
async function begun(n: number): Promise<void> {
  while (ends.length < n) await new Promise<void>((resolve) => (onBegun = resolve))
}

test('another choice for the same task takes the place of the one that is still being made', async () => {
  expect(await prepare(1)).toBe(true)
  await begun(1)
  expect(await prepare(1, 'other')).toBe(true)
  ends[0]?.()
  await begun(2)
  ends[1]?.()
  expect(await adopt(1)).toBeUndefined()
})

test('a task does not wait for the run of the task whose preparation its own one replaces', async () => {
  await prepare(1)
  await begun(1)
  let endRun = (): void => undefined
  const runEnded = new Promise<void>((resolve) => (endRun = resolve))
  const run = locks.hold(taskId(1), async () => {
    expect(await prepared.adopt({ id: taskId(1) } as TaskDocument)).toBeUndefined()
    await runEnded
  })
  expect(await prepare(2)).toBe(true)
  ends[0]?.()
  expect(await adopt(2)).toBeUndefined()
  endRun()
  await run
  await locks.hold(taskId(1), async () => undefined)
  expect(await locks.hold(taskId(2), async () => ends.length)).toBe(1)
})
