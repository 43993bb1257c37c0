import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { projectStream, taskStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import { task } from '#domain/task/task.ts'
import { UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import { creating } from '../../../tests/domain/creating.ts'
import { projectId, taskId, userId } from '../../../tests/domain/ids.ts'
import { cause, eventually, openTestEngines } from '../../../tests/server/engines.ts'
import { startDeletedRemoval } from './deletedRemoval.ts'
import { openLocks } from './locks.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'flightdeck-left-'))
})
afterEach(() => rm(root, { recursive: true }))

async function files(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), '')
  }
}

const noRebuilds = { projects: () => [], projectDeleted: async () => undefined }

test('the rebuild of a deleted project is ended, and that of another goes on', async () => {
  const engines = await openTestEngines()
  for (const n of [1, 2])
    await engines.commands.execute(projectDecider, projectStream(projectId(n)), projectOf(n), cause())
  await engines.commands.execute(
    projectDecider,
    projectStream(projectId(1)),
    { type: 'DeleteProject' },
    cause(),
  )
  const ended: string[] = []
  let isLookedAt = false
  const removal = startDeletedRemoval({
    ...engines,
    locks: openLocks(),
    limit: { held: () => [], liftIfGone: async () => undefined },
    eviction: { removeMirrors: async () => void (isLookedAt = true), counted: () => undefined },
    root,
    path: process.env['PATH'] ?? '',
    endAgent: async () => undefined,
    rebuilds: {
      projects: () => [projectId(1), projectId(2)],
      projectDeleted: async (id) => void ended.push(id),
    },
    isRunning: () => false,
    isBusy: () => false,
    idleMs: 0,
  })
  await eventually('everything was looked at', () => isLookedAt)
  await removal.stop()
  expect(ended).toEqual([projectId(1)])
  await engines.close()
})

const projectOf = (n: number) =>
  ({
    type: 'CreateProject',
    projectId: projectId(n),
    ownerId: userId(1),
    githubRepoId: `${n}`,
    isPrivate: false,
    name: `project-${n}`,
    description: '',
    repository: {
      githubUrl: `https://host/ada/project-${n}`,
      githubOwner: 'ada',
      githubRepoName: `project-${n}`,
      defaultBranch: 'main',
      language: null,
    },
  }) as const

// Holds findings 1.86.
test('recorder H1: a task whose record is damaged keeps no deleted task’s folder, and no mirror', async () => {
  const engines = await openTestEngines()
  for (const n of [1, 2]) await engines.commands.execute(task, taskStream(taskId(n)), creating(n), cause())
  await engines.commands.execute(task, taskStream(taskId(2)), { type: 'DeleteTask' }, cause())
  await files(`tasks/${taskId(1)}/ready.json`, `tasks/${taskId(2)}/ready.json`)
  const damaged = taskStream(taskId(1))
  let mirrorsSeen = 0
  const lifted: string[] = []
  const removal = startDeletedRemoval({
    ...engines,
    commands: {
      load: async (decider, stream) => {
        if (stream === damaged) throw new UnreadableEvent({ stream, revision: 1, type: 'X' }, 'no_json')
        return engines.commands.load(decider, stream)
      },
    },
    locks: openLocks(),
    limit: { held: () => [taskId(2)], liftIfGone: async (id) => void lifted.push(id) },
    eviction: { removeMirrors: async () => void (mirrorsSeen += 1), counted: () => undefined },
    root,
    path: process.env['PATH'] ?? '',
    endAgent: async () => undefined,
    rebuilds: noRebuilds,
    isRunning: () => false,
    isBusy: () => false,
    idleMs: 0,
  })
  await eventually('mirrors are looked at', () => mirrorsSeen > 0)
  await removal.stop()
  expect(await readdir(join(root, 'tasks'))).toEqual([taskId(1)])
  // Once its folder is gone.
  expect(lifted).toContain(taskId(2))
  await engines.close()
})
