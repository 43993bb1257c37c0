/** A request that is known to fail is refused, and no other. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { ExecutionCancelled, ExecutionRequested, MessageQueued, TaskCreated } from '#domain/task/events.ts'
import type { AgentName } from '#domain/agents.ts'
import { task } from '#domain/task/task.ts'
import { emptyHead } from '#platform/eventlog/eventLog.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { executionId, messageId, projectId, taskId } from '../../../tests/domain/ids.ts'
import { cause, openTestEngines, somebody, type TestEngines } from '../../../tests/server/engines.ts'
import { isWithout, requireAgent, requireAgentOfMessage, requireAgentOfRetry } from './preconditions.ts'

const project = { githubOwner: 'ada', githubRepoName: 'sample', defaultBranch: 'trunk' }
const access = { tokenOf: async () => 'token' }
/** A host that has these branches. */
const hostOf = (...names: readonly string[]) => ({
  branch: async (_token: string, _repository: object, name: string) =>
    names.includes(name) ? { commit: 'c', tree: 't' } : undefined,
  branches: async () => names,
})
const asks = (branch: string, codeHost = hostOf('trunk', 'feature'), by: typeof access = access) =>
  isWithout(project, { branch, ownerId: 'ada' }, { access: by, codeHost })

test('a branch that the repository does not have is known to be missing', async () => {
  expect(await asks('no-such-branch')).toBe(true)
  expect(await asks('main')).toBe(true)
  expect(await asks('feature')).toBe(false)
})

test('the default branch is not asked for, and main is right in an empty repository', async () => {
  expect(await asks('trunk', hostOf())).toBe(false)
  expect(await asks('main', hostOf())).toBe(false)
  expect(await asks('other', hostOf())).toBe(true)
})

test.each([
  ['is away', new CodeHostFault('unavailable', 'The code host does not answer.')],
  ['knows nobody like that', new Fault('github_not_connected')],
])('nothing is known of a host that %s', async (_, fault) => {
  const refusing = { tokenOf: () => Promise.reject(fault) }
  expect(await asks('no-such-branch', hostOf('trunk'), refusing)).toBe(false)
})

test('nobody waits for a host that does not answer', async () => {
  const silent = { tokenOf: () => new Promise<string>(() => undefined) }
  expect(await asks('no-such-branch', hostOf('trunk'), silent)).toBe(false)
})

test('a defect is no answer of the host', async () => {
  const defect = new TypeError('x is not a function')
  await expect(asks('feature', hostOf('trunk'), { tokenOf: () => Promise.reject(defect) })).rejects.toBe(
    defect,
  )
})

test('an agent that no runner can run is refused with the reason, and its field, unless it runs with an own key', async () => {
  const agents = {
    whyNone: (name: string) => (name === 'cursor' ? 'It has no key.' : null),
    canRunFor: async (_name: string, { ownerId }: { readonly ownerId: string }) => ownerId === 'with a key',
  }
  const of = (ownerId: string) => ({ ownerId, projectId: projectId(1) })
  await expect(requireAgent('cursor', of('without one'), { agents })).rejects.toMatchObject({
    code: 'agent_unavailable',
    message: 'It has no key.',
    field: 'agent',
  })
  await requireAgent('cursor', of('with a key'), { agents })
  await requireAgent('claude', of('without one'), { agents })
})

describe('a task of claude whose last turn was cursor’s', () => {
  const stream = taskStream(taskId(1))
  let engines: TestEngines
  let gone: AgentName
  beforeEach(async () => {
    engines = await openTestEngines()
    gone = 'cursor'
    const said = { title: 'Work', description: 'Work', branch: 'main', codexModel: null }
    const made = { taskId: taskId(1), ownerId: somebody.userId, projectId: projectId(1) }
    await engines.log.append(
      stream,
      emptyHead,
      [TaskCreated.of({ ...made, agent: 'claude' }, said), ...turnOf(1, 'claude'), ...turnOf(2, 'cursor')],
      cause(),
    )
  })
  afterEach(() => engines.close())

  const turnOf = (n: number, agent: AgentName) => {
    const of = { executionId: executionId(n), messageId: messageId(n) }
    return [
      MessageQueued.of(
        { messageId: messageId(n), kind: 'turn', agent, images: [] },
        { message: 'Go on', imageNames: [] },
      ),
      ExecutionRequested.of({ ...of, reason: 'follow_up', kind: 'turn', agent }),
      ExecutionCancelled.of({ ...of, terminal: null }),
    ]
  }
  const knowing = () => ({
    commands: engines.commands,
    agents: {
      whyNone: (name: AgentName) => (name === gone ? 'It is not installed.' : null),
      canRunFor: async () => false,
    },
  })
  const asksFor = (agent: AgentName | null, id?: string, commandId: string = randomUUID()) =>
    requireAgentOfMessage({ taskId: taskId(1), commandId, messageId: id, agent }, knowing())
  const retries = (commandId: string = randomUUID()) =>
    requireAgentOfRetry({ taskId: taskId(1), commandId }, knowing())
  const refusal = { code: 'agent_unavailable', message: 'It is not installed.', field: 'agent' }

  test('takes no message for an agent that cannot run, by name or as the task’s own', async () => {
    await expect(asksFor('cursor')).rejects.toMatchObject(refusal)
    await asksFor('claude')
    await asksFor(null)
    gone = 'claude'
    await expect(asksFor(null)).rejects.toMatchObject(refusal)
    await asksFor('cursor')
  })

  test('is tried again by the agent of the turn that is repeated', async () => {
    await expect(retries()).rejects.toMatchObject(refusal)
    gone = 'claude'
    await retries()
  })

  test('answers what was sent before as the first time', async () => {
    const commandId = randomUUID()
    const words = { kind: 'turn', agent: 'cursor', message: 'More', images: [] } as const
    const sent = { messageId: messageId(3), executionId: executionId(3), ...words }
    await engines.commands.execute(task, stream, { type: 'SendMessage', ...sent }, cause(commandId))
    await asksFor('cursor', undefined, commandId)
    await asksFor('cursor', messageId(3))
    await expect(asksFor('cursor', messageId(4))).rejects.toMatchObject(refusal)
    await engines.commands.execute(task, stream, { type: 'CancelExecution' }, cause())

    const retried = randomUUID()
    await engines.commands.execute(
      task,
      stream,
      { type: 'RetryTask', executionId: executionId(5) },
      cause(retried),
    )
    await engines.commands.execute(task, stream, { type: 'CancelExecution' }, cause())
    await retries(retried)
    await expect(retries()).rejects.toMatchObject(refusal)
  })
})
