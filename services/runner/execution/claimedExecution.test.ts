/** When the workspace of a run counts as ready, and what is recorded at its end. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { AgentModeChosen } from '#domain/task/questionEvents.ts'
import { task as decider } from '#domain/task/task.ts'
import { chatView } from '#domain/views/chat.ts'
import { logger } from '#platform/log.ts'
import { stateAfter } from '../../../tests/domain/given.ts'
import { executionId, projectId, taskId, userId } from '../../../tests/domain/ids.ts'
import * as past from '../../../tests/domain/taskHistories.ts'
import { testGit } from '../../../tests/runner/workspaceScene.ts'
import { redactionOf } from '../redaction/redaction.ts'
import { recordedAndReady, runClaimed, type RunChannels } from './claimedExecution.ts'
import { deliveryQueue, stopping } from './control.ts'
import { Evicted } from './failure.ts'
import type { ExecutionDeps } from './runTypes.ts'

test('a run whose record is refused ends only when its workspace is no longer being filled', async () => {
  let filled = () => {}
  let isOver = false
  const refused = Promise.reject(new Evicted('Another runner has it.'))
  refused.catch(() => undefined)
  const filling = new Promise<undefined>((resolve) => (filled = () => resolve(undefined)))
  const ready = recordedAndReady(refused, filling)
  ready.catch(() => (isOver = true))
  await nextTurn()
  expect(isOver).toBe(false)
  filled()
  await expect(ready).rejects.toThrow(Evicted)
})

test('a workspace is ready once it is filled and recorded, and a failed setup is its outcome', async () => {
  expect(await recordedAndReady(Promise.resolve(), Promise.resolve(undefined))).toBeUndefined()
  const unready = { kind: 'cancelled' } as const
  expect(await recordedAndReady(Promise.resolve(), Promise.resolve(unready))).toEqual(unready)
})

/** The dependencies of a turn in a workspace that is ready. The turn fails before its agent starts, and something is printed meanwhile. */
const failingTurn = (saved: string[], startCommit: string | null = 'a'.repeat(40)) => {
  const workspace = {
    taskId: taskId(1),
    dir: '/nowhere/tree',
    startCommit,
    baseBranch: 'main',
  }
  const document = { id: taskId(1), owner: userId(1), projectId: projectId(1), workspace: 'ready' }
  return {
    logger: logger('silent'),
    disk: { refusal: () => undefined, watch: () => () => undefined },
    log: { headOf: async () => ({ revision: 0, hash: '' }) },
    documents: {
      asOf: async (view: unknown) => (view === chatView ? { message: 'Hello', images: [] } : document),
      get: async () => ({ githubOwner: 'ada', githubRepoName: 'sample', githubRepoId: '7' }),
      now: async () => undefined,
    },
    accessControl: { check: async () => undefined },
    access: { tokenOf: async () => 'own' },
    installations: { tokenFor: async () => ({ kind: 'none', why: 'no_key' }) },
    codeHost: {
      gitAccess: () => ({ url: 'https://host/ada/sample', authorization: '' }),
      throwIfRateLimited: () => undefined,
    },
    commands: { load: async () => ({ state: { kind: 'none' } }) },
    modelKeys: { valuesOf: async () => [] },
    installed: { secrets: [] },
    egress: {
      agentHosts: {},
      onRefusalOf(_: string, tell: (line: string) => void) {
        tell('A connection was refused.')
        return () => undefined
      },
    },
    redaction: () =>
      redactionOf([], { run: () => Promise.reject(new Error('Unused.')), close: async () => undefined }),
    git: testGit,
    treeGitFor: () => testGit,
    prewarm: { earlySandbox: () => undefined, agents: { workspaceOf: () => workspace } },
    surveyOf: () => {
      throw new Error('as the test wants it')
    },
    snapshots: { record: async () => void saved.push('saved') },
  } as unknown as ExecutionDeps
}

const nothing = async () => undefined
const channels = (append: RunChannels['terminal']['append']): RunChannels => ({
  control: { stop: stopping(), steering: deliveryQueue(), answers: deliveryQueue(), waits: () => undefined },
  reporter: { report: nothing, delivered: nothing, end: nothing },
  terminal: { append, tell: () => undefined, head: () => null },
})

test.each(['plan', 'ask'] as const)(
  'an agent that can ask nobody is not started in the mode %s',
  async (mode) => {
    const task = stateAfter(decider, past.running, past.prepared, [AgentModeChosen.of({ mode })])
    if (task.kind !== 'task' || !('execution' in task.phase)) throw new Error('nothing runs')
    const execution = { ...task.phase.execution, agent: 'cursor' } as const
    const fence = { executionId: executionId(1), attempt: 1 }
    const claimed = { task, execution, fence, head: { revision: 1, hash: '' } }
    expect(await runClaimed(failingTurn([], null), claimed, channels(nothing))).toEqual({
      kind: 'failed',
      code: 'no_agent',
      reason: 'Cursor cannot ask before it acts. Choose "Work freely" or another agent.',
      exitCode: null,
    })
  },
)

test('the work of a run is saved also when the rest of its output cannot be recorded', async () => {
  const task = stateAfter(decider, past.running, past.prepared)
  if (task.kind !== 'task' || !('execution' in task.phase)) throw new Error('nothing runs')
  const { execution } = task.phase
  const fence = { executionId: executionId(1), attempt: 1 }
  const saved: string[] = []
  const running = runClaimed(
    failingTurn(saved),
    { task, execution, fence, head: { revision: 1, hash: '' } },
    channels(() => Promise.reject(new Error('It is too large.'))),
  )
  await expect(running).rejects.toThrow('It is too large.')
  expect(saved).toEqual(['saved'])
})
