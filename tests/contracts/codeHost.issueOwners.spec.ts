/**
 * Which project gets an issue of the local code host: several projects of one repository, owners without rights, and whose access reads the issues.
 */
import { randomUUID } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { Fault } from '#domain/kernel/errors.ts'
import { projectStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { CodeHostFault, type CodeHost } from '#platform/ports/codeHost.ts'
import { hashOf } from '../../services/github/issues/createTask.ts'
import { projectId, userId } from '../domain/ids.ts'
import { cause } from '../server/engines.ts'
import { byPolling, eventually, issueTasks } from './codeHost.issueTasks.fixture.ts'
import { isLongRun } from '../longRun.ts'

const here = issueTasks()
const { tokenOf, asks, projectOf, rule, start, stopped, issueBy, label, tasks, numbers, decisions, unread } =
  here

test('of two projects of one repository the first takes an issue', async () => {
  await projectOf(2)
  await rule(2, { on: true })
  const number = await issueBy('ada')
  await label('ada', number)
  await start(byPolling)
  await eventually(async () => expect(await decisions(2)).toEqual([`${number} elsewhere`]))
  await eventually(async () => expect(await decisions(1)).toEqual([`${number} made`]))
  expect(await numbers()).toEqual([number])
})

/** Counts the rounds in which the code host was asked for the issues of a project. */
function roundsOf() {
  const issues = vi.fn<CodeHost['issues']>((...asked) => here.local.codeHost.issues(...asked))
  const further = async () => {
    const before = issues.mock.calls.length
    await eventually(async () => expect(issues.mock.calls.length).toBeGreaterThan(before + 5))
  }
  return { issues, further }
}

test('what another project made a task of stays its own, whatever becomes of its owner’s access', async () => {
  await projectOf(2)
  await rule(2, { on: true })
  const number = await issueBy('ada')
  await label('ada', number)
  const gone: string[] = []
  const { issues, further } = roundsOf()
  await start({ ...byPolling, gone, codeHost: { issues } })
  await eventually(async () => expect(await decisions(2)).toEqual([`${number} elsewhere`]))
  await eventually(async () => expect(await decisions(1)).toEqual([`${number} made`]))
  gone.push(userId(1))
  await further()
  expect(await decisions(2)).toEqual([`${number} elsewhere`])
  expect(await numbers()).toEqual([number])
})

/** Has the project of the first person take an issue that it has no room for, and that of the second leave it to them. */
async function takenByFirst(): Promise<number> {
  await projectOf(2)
  await rule(2, { on: true })
  const number = await issueBy('ada')
  await label('ada', number)
  const admit = async (ownerId: string) => {
    if (ownerId === userId(1)) throw new Fault('too_many_tasks')
  }
  await start({ ...byPolling, admit })
  await eventually(async () => expect(await decisions(1)).toEqual([`${number} waiting`]))
  await eventually(async () => expect(await decisions(2)).toEqual([`${number} elsewhere`]))
  await stopped()
  return number
}

// Each needs a code host and engines of its own, so `npm test` leaves these finer points to the long tests.
describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
  test('what another project took and has no room for stays its own, also while its owner’s limit is used up', async () => {
    const number = await takenByFirst()
    const { issues, further } = roundsOf()
    await start({ ...byPolling, limited: [userId(1)], codeHost: { issues } })
    await further()
    expect(await decisions(2)).toEqual([`${number} elsewhere`])
    await stopped()
    await start(byPolling)
    await eventually(async () => expect(await decisions(1)).toEqual([`${number} made`]))
    expect((await tasks()).map(({ owner }) => owner)).toEqual([userId(1)])
  })
})

test('what another project took and made no task of goes to the next once its owner’s access is gone, and is made once', async () => {
  const number = await takenByFirst()
  await start({ ...byPolling, gone: [userId(1)] })
  await eventually(async () => expect(await decisions(2)).toEqual([`${number} made`]))
  await stopped()
  await start(byPolling)
  await eventually(async () => expect(await decisions(1)).toEqual([`${number} refused`]))
  expect((await tasks()).map(({ owner }) => owner)).toEqual([userId(2)])
})

// Each needs a code host and engines of its own, so `npm test` leaves these finer points to the long tests.
describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
  test('what another project took and made no task of goes to the next where that project is inactive', async () => {
    const number = await takenByFirst()
    const failed = {
      type: 'RecordSyncFailure',
      code: 'not_found',
      reason: 'The repository is gone.',
    } as const
    await here.engines.commands.execute(projectDecider, projectStream(projectId(1)), failed, cause())
    await start(byPolling)
    await eventually(async () => expect(await decisions(2)).toEqual([`${number} made`]))
    expect(await decisions(1)).toEqual([`${number} waiting`])
  })
})

test.each(['settled', 'not settled'])(
  'an issue that two projects took becomes one task, where the first is %s',
  async (how) => {
    await projectOf(2)
    await rule(2, { on: true })
    const number = await issueBy('ada')
    await label('ada', number)
    const named = await here.local.codeHost.issue(tokenOf('ada'), { owner: 'ada', name: 'engine' }, number)
    const at = new Date().toISOString()
    const textHash = hashOf({ title: 'A fault', body: 'It is broken.', author: null, comment: null })
    const who = { author: { id: '1001', login: 'ada' }, right: 'admin', standing: 'known' } as const
    const take = {
      type: 'ConsiderIssue',
      issue: { issueId: named.id, nodeId: named.nodeId, number, title: 'A fault', url: named.url },
      asks: [{ trigger: 'label', at, commentId: null, textHash, ...who }],
      isCut: false,
      editedAt: null,
      ownerMayWrite: true,
      isElsewhere: false,
      now: at,
    } as const
    for (const n of [1, 2]) {
      const command = { ...take, taskId: randomUUID() }
      await here.engines.commands.execute(projectDecider, projectStream(projectId(n)), command, cause())
    }
    // The first is away for now, once its task is made.
    let isAway = false
    const commands: Pick<Commands, 'execute' | 'load'> = {
      load: here.engines.commands.load,
      execute: async (decider, stream, command, ...rest) => {
        const { type } = z.looseObject({ type: z.string() }).parse(command)
        const isFirst = stream === projectStream(projectId(1)) && type === 'SettleIssue'
        isAway ||= isFirst && how === 'not settled'
        if (isFirst && isAway) throw new CodeHostFault('unavailable', 'Gone.')
        return here.engines.commands.execute(decider, stream, command, ...rest)
      },
    }
    await start({ ...byPolling, commands })
    await eventually(async () => expect(await decisions(2)).toEqual([`${number} refused`]))
    expect((await tasks()).map(({ owner }) => owner)).toEqual([userId(1)])
  },
)

test('a project whose owner may only read takes nothing, and keeps no issue from those who may', async () => {
  await rule(1, { on: false })
  await projectOf(3)
  await rule(3, { on: true })
  await projectOf(2)
  await rule(2, { on: true })
  const number = await issueBy('ada')
  await label('ada', number)
  await start(byPolling)
  await eventually(async () => expect(await decisions(3)).toEqual([`${number} owner`]))
  await eventually(async () => expect(await decisions(2)).toEqual([`${number} made`]))
  expect((await tasks()).map(({ owner }) => owner)).toEqual([userId(2)])
  // Once they may, it is another's already.
  await asks('ada', 'PUT', '/collaborators/mallory', { permission: 'push' })
  await eventually(async () => expect(await decisions(3)).toEqual([`${number} elsewhere`]))
})

test.each([
  ['their own access reads', {}],
  ['an installation reads for all', { installation: async () => tokenOf('ada') }],
])(
  'a project whose owner has used up their limit keeps no issue from others, where %s',
  async (_, access) => {
    await rule(1, { on: false })
    await projectOf(3)
    await rule(3, { on: true })
    await projectOf(2)
    await rule(2, { on: true })
    const number = await issueBy('ada')
    await label('ada', number)
    await start({ ...byPolling, limited: [userId(3)], ...access })
    await eventually(async () => expect(await decisions(2)).toEqual([`${number} made`]))
  },
)

test('where an installation is refused, the owner of the project reads', async () => {
  const number = await issueBy('ada')
  await label('ada', number)
  const installation = async () => {
    throw new CodeHostFault('unauthorized', 'Internal.')
  }
  await start({ ...byPolling, installation })
  await eventually(async () => expect(await decisions()).toEqual([`${number} made`]))
  expect(await unread()).toBeNull()
})
