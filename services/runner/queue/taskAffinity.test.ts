/** Which runner a task belongs to. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { executionId, messageId, taskId } from '../../../tests/domain/ids.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import { affinityOf, isElsewhere, runnerIdIn } from './taskAffinity.ts'

const me = { runnerId: 'me', isAlone: false }
const ended: LiveTask['phase'] = { status: 'completed' }
const queued = (statusBefore: 'completed' | 'failed'): LiveTask['phase'] => ({
  status: 'queued',
  execution: {
    executionId: executionId(1),
    kind: 'turn',
    messageId: messageId(1),
    agent: 'claude',
    attempt: 0,
    cancelRequested: false,
    sentSinceCancel: [],
    statusBefore,
  },
})
/** A presence that last heard of the other runner so long ago. */
const silentFor = (ms: number) => ({
  statusOf: (_: string, withinMs: number) => (ms <= withinMs ? 'there' : 'gone') as 'there' | 'gone',
})
const unsettled = { statusOf: () => 'unknown' as const }

test('a task that never ran, or ran here last, is at home here; with one runner every task is', () => {
  const presence = silentFor(0)
  expect(affinityOf({ lastRunnerId: null, phase: ended }, me, presence)).toBe('here')
  expect(affinityOf({ lastRunnerId: 'me', phase: ended }, me, presence)).toBe('here')
  expect(affinityOf({ lastRunnerId: 'another', phase: ended }, { ...me, isAlone: true }, presence)).toBe(
    'here',
  )
})

test.each([
  [0, 'elsewhere', 'elsewhere'],
  [5_000, 'elsewhere', 'gone'],
  [40_000, 'gone', 'gone'],
] as const)('of a runner that was silent for %i ms: %s, and after a failed run %s', (ms, usual, retry) => {
  const task = { lastRunnerId: 'another' }
  expect(affinityOf({ ...task, phase: ended }, me, silentFor(ms))).toBe(usual)
  expect(affinityOf({ ...task, phase: queued('completed') }, me, silentFor(ms))).toBe(usual)
  expect(affinityOf({ ...task, phase: queued('failed') }, me, silentFor(ms))).toBe(retry)
})

test('nothing is begun anew by a runner that could not have heard of the other', () => {
  expect(affinityOf({ lastRunnerId: 'another', phase: queued('failed') }, me, unsettled)).toBe('elsewhere')
})

test('what a runner has of a task is outdated once another one has run it, however long ago', async () => {
  const commands = { load: async () => ({ state: { kind: 'task', lastRunnerId: 'me' } }) }
  const runner = { commands: commands as unknown as Commands, isAlone: false }
  expect(await isElsewhere({ ...runner, runnerId: 'me' }, taskId(1))).toBe(false)
  expect(await isElsewhere({ ...runner, runnerId: 'another' }, taskId(1))).toBe(true)
  expect(await isElsewhere({ ...runner, runnerId: 'another', isAlone: true }, taskId(1))).toBe(false)
})

test('a runner keeps its name, and another folder is another runner', () => {
  const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'flightdeck-home-')))
  const [one = '', other = ''] = folders
  expect(runnerIdIn(one)).toBe(runnerIdIn(one))
  expect(runnerIdIn(one)).not.toBe(runnerIdIn(other))
  for (const folder of folders) rmSync(folder, { recursive: true })
})

test('a damaged history does not make a workspace outdated', async () => {
  const damaged = new UnreadableEvent({ stream: taskStream(taskId(1)), revision: 1, type: 'X' }, 'no_json')
  const commands = { load: () => Promise.reject(damaged) } as unknown as Commands
  expect(await isElsewhere({ commands, runnerId: 'me', isAlone: false }, taskId(1))).toBe(false)
})
