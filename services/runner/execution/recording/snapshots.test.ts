/** Which sessions of agents are saved and restored; with real git and the server's log. */
import { readdir, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import type { TaskEvent } from '#domain/task/events.ts'
import { task as decider } from '#domain/task/task.ts'
import { sealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { executionId, taskId } from '../../../../tests/domain/ids.ts'
import * as past from '../../../../tests/domain/taskHistories.ts'
import { makeScene, testGit, testPath, writeIn, type Scene } from '../../../../tests/runner/workspaceScene.ts'
import { cause, openTestEngines, type TestEngines } from '../../../../tests/server/engines.ts'
import { defaultArchiveLimits } from '../../workspace/saved/archive.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { openSnapshots, type Snapshots } from './snapshots.ts'

const id = taskId(1)
const sessions = '.claude/projects/one'
let engines: TestEngines
let scene: Scene
let workspace: Workspace
let snapshots: Snapshots
/** How often reading a blob fails from now on. */
let outages = 0
beforeEach(async () => {
  engines = await openTestEngines()
  scene = await makeScene({ 'README.md': '# Sample\n' })
  workspace = await scene.prepare({ taskId: id })
  const blobs = sealedBlobs(engines)
  outages = 0
  snapshots = openSnapshots({
    blobs: {
      ...blobs,
      async get(scope, ref) {
        outages -= 1
        if (outages >= 0) throw new EngineUnavailable('the blobs')
        return blobs.get(scope, ref)
      },
    },
    git: testGit,
    treeGitFor: () => testGit,
    path: testPath,
    logger: engines.logger,
  })
  await happened(...past.running, past.prepared, past.agentStarted(1))
  await writeIn(workspace.homeDir, `${sessions}/session.jsonl`, 'session\n')
})
afterEach(async () => {
  await engines.close()
  await scene.remove()
})

async function happened(...events: readonly TaskEvent[]): Promise<void> {
  const stream = taskStream(id)
  await engines.log.append(stream, await engines.log.headOf(stream), events, cause())
}

async function taskNow() {
  const { state } = await engines.commands.load(decider, taskStream(id))
  if (state.kind !== 'task') throw new Error('there is no task')
  return state
}

/** The session in the snapshot that is taken now. */
async function savedNow() {
  const task = await taskNow()
  const report = (event: TaskEvent) => happened(event)
  await snapshots.record({ task, workspace, agent: 'claude', executionId: executionId(1), report })
  return (await taskNow()).saved?.session
}

test('a session of which a part is too large is not saved', async () => {
  const large = join(workspace.homeDir, sessions, 'large.jsonl')
  await writeIn(workspace.homeDir, `${sessions}/large.jsonl`, '')
  await truncate(large, defaultArchiveLimits.bytes + 1)
  expect(await savedNow()).toBeNull()
  await rm(large)
  expect(await savedNow()).toMatchObject({ agent: 'claude', sessionId: 'session-1' })
})

test('only a session that can be resumed is restored', async () => {
  await savedNow()
  const task = await taskNow()
  const session = task.saved?.session
  if (!task.saved || !session) throw new Error('nothing was saved')
  await writeIn(workspace.homeDir, `${sessions}/later.jsonl`, 'later\n')
  const saved = { ...task.saved, session: { ...session, sessionId: null } }
  expect(await snapshots.restoreSession({ ...task, saved }, workspace)).toBe(false)
  expect(await readdir(join(workspace.homeDir, sessions))).toContain('later.jsonl')
  expect(await snapshots.restoreSession(task, workspace)).toBe(true)
  expect(await readdir(join(workspace.homeDir, sessions))).toEqual(['session.jsonl'])
})

test('a session is saved also when the previous one cannot be read for a moment', async () => {
  const first = await savedNow()
  outages = 1
  expect(await savedNow()).toEqual(first)
  expect(outages).toBeLessThan(0)
})
