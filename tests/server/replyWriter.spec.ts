/** Answers on pull requests: one that cannot be written does not delay the others, and none goes to another repository. In one process. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { projectStream, taskStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import { FeedbackAnswerDue, FeedbackReceived } from '#domain/task/codeHost/feedbackEvents.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { ObservedPullRequest } from '#domain/task/commands.ts'
import { MessagePosted, type TaskEvent } from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import { CodeHostFault, type PullRequestReading } from '#platform/ports/codeHost.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { projected, type Projected } from '#platform/reads/projectionWait.ts'
import { startReplyWriter, type ReplyEngines } from '../../services/github/feedback/replyWriter.ts'
import { startProjector } from '../../services/query/projection/projector.ts'
import { executionId, messageId, projectId, taskId, userId } from '../domain/ids.ts'
import { dyingProcess } from './dyingProcess.ts'
import { cause, eventually, openTestEngines, type TestEngines } from './engines.ts'
import { opened, openedWith, projectOf } from './pullRequestScene.ts'

let engines: TestEngines
let reads: Projected
let projector: RunningWork
let answering: RunningWork | undefined
let host: ReturnType<typeof testHost>

beforeEach(async () => {
  engines = await openTestEngines()
  projector = await startProjector(engines)
  reads = projected(engines)
  host = testHost()
  for (const owner of [1, 2, 3]) await projectOf(engines, owner)
})
afterEach(async () => {
  await answering?.stop()
  answering = undefined
  reads.close()
  await projector.stop()
  await engines.close()
})

const observed = (number: number, repositoryId = '7'): ObservedPullRequest => ({
  number,
  nodeId: `PR_${number}`,
  repositoryId,
  state: 'open',
  draft: false,
  headCommit: openedWith,
  updatedAt: '2026-01-31T12:00:00Z',
  mergedAt: null,
  mergedBy: null,
})

type Call = 'tokenOf' | 'pullRequestFeedback' | 'writeComment' | 'resolveThreads'
/** Notes what it is asked for whose token, and fails as `fault` says. */
function testHost() {
  const asked: { readonly call: Call; readonly owner: string; readonly about: string }[] = []
  const told = {
    repositoryId: '7',
    fault: (_call: Call, _owner: string, _about: string): Error | undefined => undefined,
  }
  const written: string[] = []
  const comments: { readonly number: number; readonly body: string }[] = []
  const resolved: string[] = []
  const note = (call: Call, owner: string, about = '') => {
    asked.push({ call, owner, about })
    const fault = told.fault(call, owner, about)
    if (fault) throw fault
  }
  const reading = (number: number): PullRequestReading => ({
    kind: 'read',
    isFork: false,
    repository: { owner: 'ada', name: 'engine-renamed' },
    pullRequest: observed(number, told.repositoryId),
  })
  const parts: Pick<ReplyEngines, 'access' | 'codeHost'> = {
    access: {
      tokenOf: async (owner) => {
        note('tokenOf', owner)
        return owner
      },
    },
    codeHost: {
      pullRequestStates: async (_token, keys) =>
        keys.map((key) => reading('nodeId' in key ? Number(key.nodeId.slice(3)) : key.number)),
      pullRequestFeedback: async (token, { name }, number) => {
        note('pullRequestFeedback', token, name)
        const there = comments.filter((one) => one.number === number)
        const about = { id: '77', author: null, writtenAt: '2026-01-31T00:00:00Z', url: '', isByOurApp: true }
        return { reviews: [], lines: [], comments: there.map(({ body }) => ({ ...about, body })) }
      },
      writeComment: async (token, { name }, number, { threadId, body }) => {
        note('writeComment', token, `${name} ${threadId}`)
        written.push(body)
        comments.push({ number, body })
        return '77'
      },
      resolveThreads: async (token, nodeId) => {
        note('resolveThreads', token)
        resolved.push(nodeId)
        return 1
      },
    },
  }
  return { asked, told, written, comments, resolved, parts }
}

type Parts = Pick<ReplyEngines, 'access' | 'codeHost' | 'commands'>
type Given = Partial<Parts & Pick<ReplyEngines, 'logger'>>

async function start(everyMs = 60_000, parts: Given = {}): Promise<void> {
  await answering?.stop()
  answering = await startReplyWriter({ ...engines, projected: reads, ...host.parts, ...parts }, everyMs)
}

function dying(atStep: number): { readonly parts: Parts; readonly isDead: () => boolean } {
  const { isDead, cut } = dyingProcess(atStep)
  const { access, codeHost } = host.parts
  const { commands } = engines
  return {
    isDead,
    parts: {
      access: { tokenOf: cut(access.tokenOf) },
      codeHost: {
        pullRequestStates: cut(codeHost.pullRequestStates),
        pullRequestFeedback: cut(codeHost.pullRequestFeedback),
        writeComment: cut(codeHost.writeComment),
        resolveThreads: cut(codeHost.resolveThreads),
      },
      commands: { load: commands.load, execute: cut(commands.execute) },
    },
  }
}

const feedbackId = '00000000-0000-4000-9000-000000000001'
/** A review of the nth pull request, on two threads, that is to be answered. */
async function due(
  n: number,
  owner = 1,
  { commit = 'd'.repeat(40), said = [] }: { commit?: string | null; said?: readonly TaskEvent[] } = {},
): Promise<void> {
  await opened(engines, n, owner)
  const stream = taskStream(taskId(n))
  await engines.commands.execute(task, stream, { type: 'ObservePullRequest', observed: observed(n) }, cause())
  const line = (id: string) => ({
    id,
    threadId: id,
    path: 'a.ts',
    line: 1,
    startLine: null,
    isOutdated: false,
    hunk: '',
    body: 'x',
  })
  const events: readonly TaskEvent[] = [
    FeedbackReceived.of(
      {
        feedbackId,
        kind: 'review',
        right: 'write',
        isKnown: true,
        verdict: 'commented',
      },
      {
        number: n,
        writtenAt: '2026-01-31T00:00:00Z',
        author: { id: '9', login: 'grace' },
        url: null,
        headCommit: openedWith,
        reviewId: '1',
        commentId: null,
        body: '',
        comments: [line('11'), line('12')],
        check: null,
      },
    ),
    ...said,
    FeedbackAnswerDue.of({ feedbackId, executionId: executionId(n) }, { commit }),
  ]
  const appended = await engines.log.append(stream, await engines.log.headOf(stream), events, cause())
  const last = appended.kind === 'appended' ? appended.events.at(-1) : undefined
  if (!last) throw new Error('It was appended.')
  await reads.waitFor(last.position, 5_000)
}

const outcomes = async (n: number) =>
  (await engines.log.read(taskStream(taskId(n)), 0, 1_000)).flatMap(({ type, data, content }) =>
    /^Feedback(Answered|AnswerFailed|ThreadsResolved)$/.test(type) ? [{ type, data, content }] : [],
  )
const settled = async (n: number) => (await outcomes(n)).length > 0

describe('answering', () => {
  test('goes on with the next where one cannot be looked at', async () => {
    await due(1, 1)
    await due(2, 2)
    host.told.fault = (call, owner) =>
      call === 'tokenOf' && owner === userId(1) ? new SyntaxError('no JSON') : undefined
    await start()
    await eventually('the other is answered', () => settled(2))
    expect(await outcomes(1)).toEqual([])
  })

  test('asks nothing more for an owner who has to wait', async () => {
    for (const n of [1, 2]) await due(n, 1)
    await due(3, 2)
    host.told.fault = (call, owner) =>
      call === 'pullRequestFeedback' && owner === userId(1)
        ? new CodeHostFault('rate_limited', 'wait', undefined, 60_000)
        : undefined
    await start(10)
    await eventually('the other is answered', () => settled(3))
    await due(4, 2)
    await eventually('and in a later round as well', () => settled(4))
    expect(host.asked.filter(({ owner }) => owner === userId(1)).map(({ call }) => call)).toEqual([
      'tokenOf',
      'pullRequestFeedback',
    ])
    expect([...(await outcomes(1)), ...(await outcomes(2))]).toEqual([])
  })

  test('writes in the repository by the name that it has now', async () => {
    await due(1)
    await start()
    await eventually('it is answered', () => settled(1))
    const named = host.asked.flatMap(({ about }) => (about === '' ? [] : [about.split(' ')[0]]))
    expect(new Set(named)).toEqual(new Set(['engine-renamed']))
  })

  test('writes nothing where the pull request is in another repository than before', async () => {
    await due(1)
    host.told.repositoryId = '666'
    await start()
    await eventually('it is settled', () => settled(1))
    expect(await outcomes(1)).toMatchObject([
      { type: 'FeedbackAnswerFailed', content: { reason: expect.stringContaining('another repository') } },
    ])
    expect(host.asked.map(({ call }) => call)).not.toContain('writeComment')
  })

  test('answers once on the pull request as a whole for threads that are gone', async () => {
    await due(1)
    host.told.fault = (call, _owner, about) =>
      call === 'writeComment' && !about.endsWith('null') ? new CodeHostFault('not_found', 'gone') : undefined
    await start()
    await eventually('it is answered', () => settled(1))
    expect(await outcomes(1)).toMatchObject([{ type: 'FeedbackAnswered', content: { replyIds: ['77'] } }])
    const written = host.asked.filter(({ call }) => call === 'writeComment').map(({ about }) => about)
    expect(written).toEqual(['engine-renamed 11', 'engine-renamed null', 'engine-renamed 12'])
  })

  test('stands as an answer also where its threads could not be resolved', async () => {
    const resolves = { type: 'ChangeFeedbackRule', resolves: true } as const
    await engines.commands.execute(projectDecider, projectStream(projectId(1)), resolves, cause())
    await due(1)
    host.told.fault = (call) =>
      call === 'resolveThreads' ? new CodeHostFault('forbidden', 'You may not.') : undefined
    await start()
    await eventually('it was tried', () => host.asked.some(({ call }) => call === 'resolveThreads'))
    await eventually('it is settled', () => settled(1))
    expect(await outcomes(1)).toMatchObject([{ type: 'FeedbackAnswered' }])
  })

  test('goes on after a process that died before or after any of its steps: one answer in each thread, all resolved, all recorded once', async () => {
    const resolves = { type: 'ChangeFeedbackRule', resolves: true } as const
    await engines.commands.execute(projectDecider, projectStream(projectId(1)), resolves, cause())
    let cuts = 0
    for (let isCut = true; isCut;) {
      const n = cuts + 1
      await due(n)
      const { parts, isDead } = dying(cuts + 1)
      await start(60_000, parts)
      const isOver = async () => (await outcomes(n)).length === 2
      await eventually(`cut ${cuts + 1} or its end`, async () => isDead() || (await isOver()))
      isCut = isDead()
      if (isCut) cuts += 1
      await start()
      await eventually(`it is over after cut ${cuts}`, isOver)
      expect((await outcomes(n)).map(({ type }) => type)).toEqual([
        'FeedbackAnswered',
        'FeedbackThreadsResolved',
      ])
      const bodies = host.comments.filter(({ number }) => number === n).map(({ body }) => body)
      expect(bodies).toHaveLength(2)
      expect(new Set(bodies).size).toBe(2)
      expect(host.resolved).toContain(`PR_${n}`)
    }
    // A token, a reading, what is there, two answers, and two commands around the threads.
    expect(cuts).toBe(16)
  })

  describe('left with open threads by an earlier process', () => {
    /** Answers the first four, two of each owner, and can resolve none of their threads. */
    beforeEach(async () => {
      const resolves = { type: 'ChangeFeedbackRule', resolves: true } as const
      for (const owner of [1, 2])
        await engines.commands.execute(projectDecider, projectStream(projectId(owner)), resolves, cause())
      for (const n of [1, 2, 3, 4]) await due(n, n < 3 ? 1 : 2)
      host.told.fault = (call) =>
        call === 'resolveThreads' ? new CodeHostFault('forbidden', 'You may not.') : undefined
      await start()
      for (const n of [1, 2, 3, 4]) await eventually('it is settled', () => settled(n))
      await answering?.stop()
      host.asked.length = 0
    })
    const tried = (owner: number) =>
      host.asked.filter((one) => one.call === 'resolveThreads' && one.owner === userId(owner)).length

    test('is warned of once, however many there are', async () => {
      const warned: unknown[] = []
      const logger = { ...engines.logger, warn: (...args: unknown[]) => void warned.push(args) }
      host.told.fault = (call, owner) => {
        if (call === 'tokenOf' && owner === userId(1)) return new Fault('github_not_connected')
        return call === 'resolveThreads' ? new CodeHostFault('forbidden', 'You may not.') : undefined
      }
      await start(10, { logger })
      await eventually('all were tried', () => tried(2) === 2)
      // More rounds pass by: what is due later is answered.
      await due(5, 3)
      await eventually('it is settled', () => settled(5))
      expect(warned).toMatchObject([[{ count: 4 }, expect.stringContaining('open')]])
      expect([tried(1), tried(2)]).toEqual([0, 2])
    })

    test('waits with all of an owner whom the code host lets wait, and holds up no other', async () => {
      const isResolved = (...ids: string[]) => ids.every((id) => host.resolved.includes(id))
      const waitMs = 500
      const limited = new CodeHostFault('rate_limited', 'Wait.', undefined, waitMs)
      const tries: { readonly at: number; readonly isRefused: boolean }[] = []
      // The one owner is refused for as long as the other has not been served.
      host.told.fault = (call, owner) => {
        if (call !== 'resolveThreads' || owner !== userId(2)) return undefined
        const isRefused = tries.length === 0 || !isResolved('PR_1', 'PR_2')
        tries.push({ at: performance.now(), isRefused })
        return isRefused ? limited : undefined
      }
      await start(20)
      await eventually('those of the other are resolved', () => isResolved('PR_1', 'PR_2'))
      await eventually('and then those that had to wait', () => isResolved('PR_3', 'PR_4'))
      expect(tries.filter(({ isRefused }) => !isRefused)).toHaveLength(2)
      const tooSoon = tries.filter(
        ({ at, isRefused }, index) => isRefused && (tries[index + 1]?.at ?? 0) - at < waitMs - 10,
      )
      expect(tooSoon).toEqual([])
    })
  })

  test('is warned of once where it fails as nothing should, and holds up no other', async () => {
    await due(1, 1)
    const warned: unknown[] = []
    const logger = { ...engines.logger, warn: (...args: unknown[]) => void warned.push(args) }
    host.told.fault = (call, owner) =>
      call === 'tokenOf' && owner === userId(1) ? new SyntaxError('no JSON') : undefined
    await start(10, { logger })
    for (const n of [2, 3, 4]) {
      await due(n, 2)
      await eventually('the other is answered', () => settled(n))
    }
    expect(warned).toHaveLength(1)
    expect(host.asked.filter(({ owner }) => owner === userId(1))).toHaveLength(1)
  })

  test('is given again when somebody asks for it: what was written the first time is not written twice', async () => {
    await due(1)
    const stream = taskStream(taskId(1))
    // The second of two threads takes no answer.
    host.told.fault = (call, _owner, about) =>
      call === 'writeComment' && about.endsWith(' 12')
        ? new CodeHostFault('forbidden', 'You may not write here.')
        : undefined
    await start()
    await eventually('it is settled', () => settled(1))
    expect(await outcomes(1)).toMatchObject([{ type: 'FeedbackAnswerFailed' }])
    expect(host.written).toHaveLength(1)

    host.told.fault = () => undefined
    const again = { type: 'AnswerFeedback', feedbackId, commit: 'd'.repeat(40) } as const
    const ask = () => engines.commands.execute(task, stream, again, cause())
    await ask()
    await ask()
    await eventually('it is answered', async () => (await outcomes(1)).length === 2)
    expect((await outcomes(1)).at(-1)).toMatchObject({ type: 'FeedbackAnswered' })
    await expect(ask()).rejects.toMatchObject({ code: 'already_exists' })
    expect(host.written).toHaveLength(2)
    expect(new Set(host.written).size).toBe(2)
  })

  test('is written once where it had come to the thread and only the word of that was lost', async () => {
    await due(1)
    const { codeHost, access } = host.parts
    const lossy: Given = {
      access,
      codeHost: {
        ...codeHost,
        writeComment: async (...args) => {
          await codeHost.writeComment(...args)
          throw new CodeHostFault('invalid', 'Nobody understood the answer.')
        },
      },
    }
    await start(60_000, lossy)
    await eventually('it is settled', () => settled(1))
    expect(host.written).toHaveLength(1)
    await start()
    const again = { type: 'AnswerFeedback', feedbackId, commit: 'd'.repeat(40) } as const
    await engines.commands.execute(task, taskStream(taskId(1)), again, cause())
    await eventually('it is answered', async () => (await outcomes(1)).length === 2)
    expect(host.written).toHaveLength(2)
    expect(new Set(host.written).size).toBe(2)
  })

  test('closes with the last words of the agent in that turn, however many there were', async () => {
    const said = Array.from({ length: 150 }, (_, at) =>
      MessagePosted.of(
        {
          messageId: messageId(1_000 + at),
          messageType: at === 149 ? 'system' : 'response',
          agent: 'claude',
          executionId: executionId(1),
        },
        { message: `words ${at}` },
      ),
    )
    await due(1, 1, { commit: null, said })
    await start()
    await eventually('it is answered', () => settled(1))
    expect(host.written[0]).toContain('\n\nwords 148\n\n')
  })
})
