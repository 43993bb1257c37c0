/** What is read from the feedback on a pull request, and what is recorded: rights, outages, secrets, and too much at once. In one process. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { identity } from '#domain/identity.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { identityStream, projectStream, taskStream, userStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import type { FeedbackReceived } from '#domain/task/codeHost/feedbackEvents.ts'
import { feedbackLimits } from '#domain/task/codeHost/feedbackRule.ts'
import type { EventOf } from '#domain/kernel/event.schema.ts'
import { user } from '#domain/user/user.ts'
import { idOfAccount } from '#platform/access/accountId.ts'
import { CodeHostFault, type RepositoryName } from '#platform/ports/codeHost.ts'
import type { HostFailedCheck, HostFeedback } from '#platform/ports/codeHostFeedback.ts'
import { TooLarge } from '#platform/ports/faults.ts'
import { feedbackReader, type FeedbackReader } from '../../services/github/feedback/feedback.ts'
import type { FeedbackDeps, ReadPullRequest } from '../../services/github/feedback/feedbackReading.ts'
import type { ReadRequest } from '../../services/github/pullRequests/readQueue.ts'
import { projectId, sessionId, taskId, userId } from '../domain/ids.ts'
import { dyingProcess } from './dyingProcess.ts'
import { cause, openTestEngines, type TestEngines } from './engines.ts'
import { opened, openedWith, projectOf } from './pullRequestScene.ts'

let engines: TestEngines
let host: ReturnType<typeof testHost>
let access: Fault | null
/** Reads the first pull request. */
let reader: FeedbackReader
let hour: number

beforeEach(async () => {
  engines = await openTestEngines()
  host = testHost()
  access = null
  hour = 0
  await projectOf(engines)
  await opened(engines, 1)
  reader = readerWith({})
})
afterEach(() => engines.close())

const grace = { id: '9', login: 'grace', isBot: false }
const now = () => Date.parse('2026-01-31T12:00:00Z') + hour * 3_600_000
const recently = () => new Date(now() - 5_000).toISOString()
const secret = `ghp_${'a'.repeat(36)}`

function testHost() {
  const found = {
    feedback: { reviews: [], lines: [], comments: [] } as HostFeedback,
    checks: [] as HostFailedCheck[],
    log: undefined as string | undefined,
    /** What the next questions for a right are answered with; the last stays. */
    rights: ['admin'] as ('admin' | 'none' | CodeHostFault)[],
    asked: [] as string[],
    names: new Set<string>(),
  }
  const noted = (what: string, { owner, name }: RepositoryName) => {
    found.asked.push(what)
    found.names.add(`${owner}/${name}`)
  }
  const codeHost: FeedbackDeps['codeHost'] = {
    async pullRequestFeedback(_token, repository) {
      noted('words', repository)
      return found.feedback
    },
    async repositoryRight(_token, repository) {
      noted('right', repository)
      const [right = 'none'] = found.rights.length > 1 ? found.rights.splice(0, 1) : found.rights
      if (right instanceof CodeHostFault) throw right
      return right
    },
    async failedChecks(_token, repository) {
      noted('checks', repository)
      return found.checks
    },
    async checkAnnotations(_token, repository) {
      noted('annotations', repository)
      return [{ path: `a/${secret}`, line: 1, level: 'failure', message: `see ${secret}` }]
    },
    async jobLog(_token, repository, _jobId, shown = (text) => text) {
      noted('log', repository)
      return found.log === undefined ? undefined : { text: shown(found.log), isCut: false }
    },
  }
  return { found, codeHost, set: (change: Partial<typeof found>) => Object.assign(found, change) }
}

function readerWith(deps: Partial<FeedbackDeps>): FeedbackReader {
  return feedbackReader(
    {
      ...engines,
      codeHost: host.codeHost,
      accessControl: {
        check: async () => {
          if (access) throw access
        },
      },
      admission: { admit: async () => () => undefined },
      codeHostName: 'local',
      clock: { now: () => new Date(now()) },
      ...deps,
    },
    0,
  )
}

function dying(atStep: number): { readonly parts: Partial<FeedbackDeps>; readonly isDead: () => boolean } {
  const { isDead, cut } = dyingProcess(atStep)
  const { codeHost } = host
  const { commands } = engines
  return {
    isDead,
    parts: {
      commands: { load: commands.load, execute: cut(commands.execute) },
      codeHost: {
        pullRequestFeedback: cut(codeHost.pullRequestFeedback),
        repositoryRight: cut(codeHost.repositoryRight),
        failedChecks: cut(codeHost.failedChecks),
        checkAnnotations: cut(codeHost.checkAnnotations),
        jobLog: cut(codeHost.jobLog),
      },
    },
  }
}

const request: ReadRequest = {
  taskId: taskId(1),
  number: 1,
  key: { nodeId: 'PR_1' },
  access: {
    kind: 'own',
    holder: 'somebody',
    token: async () => 'token',
    repositoryToken: async () => 'token',
  },
  repository: '7',
}
const pull = (updatedAt = '2026-01-30T12:00:00Z'): ReadPullRequest => ({
  kind: 'read',
  isFork: false,
  repository: { owner: 'ada', name: 'engine-renamed' },
  pullRequest: {
    number: 1,
    nodeId: 'PR_1',
    repositoryId: '7',
    state: 'open',
    draft: false,
    headCommit: openedWith,
    updatedAt,
    mergedAt: null,
    mergedBy: null,
  },
})
const read = (updatedAt?: string) => reader.read(request, pull(updatedAt))

const words = (id: string, body: string) => ({
  id,
  author: grace,
  body,
  writtenAt: '2026-01-30T12:00:00.000Z',
  url: 'https://code.example/x',
})
const comments = (...bodies: string[]): HostFeedback => ({
  reviews: [],
  lines: [],
  comments: bodies.map((body, at) => ({ ...words(`${at + 1}`, body), isByOurApp: false })),
})
const check = (n: number, change: Partial<HostFailedCheck> = {}): HostFailedCheck => ({
  id: `${n}`,
  name: `check ${n}`,
  conclusion: 'failure',
  endedAt: '2026-01-30T12:00:00.000Z',
  url: null,
  summary: '',
  jobId: null,
  hasAnnotations: true,
  ...change,
})

type Received = EventOf<typeof FeedbackReceived>
async function received(): Promise<readonly Received[]> {
  const events = await engines.log.read(taskStream(taskId(1)), 0, 1_000)
  return events.flatMap((event) =>
    event.type === 'FeedbackReceived' && event.content !== null
      ? [{ type: event.type, version: event.version, data: event.data, content: event.content }]
      : [],
  )
}
const bodies = async () => (await received()).map(({ content }) => content.body)

/** Grace has an account here. */
async function graceIsHere(): Promise<void> {
  const id = idOfAccount(engines.vault, 'local', grace.id)
  const claim = { type: 'ClaimIdentity', userId: userId(2) } as const
  await engines.commands.execute(identity, identityStream(id), claim, cause())
  const profile = { githubId: grace.id, login: 'grace', name: null, email: null, avatar: '' }
  const session = {
    sessionId: sessionId(1),
    startsAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2027-01-01T00:00:00Z',
    client: null,
  }
  const signIn = { type: 'SignInWithGitHub', userId: userId(2), profile, ...session } as const
  await engines.commands.execute(user, userStream(userId(2)), signIn, cause())
}
async function rule(change: { reviews?: 'automatic'; checks?: 'off' }): Promise<void> {
  const command = { type: 'ChangeFeedbackRule', ...change } as const
  await engines.commands.execute(projectDecider, projectStream(projectId(1)), command, cause())
}

test('a process that dies before or after any step of a reading leaves nothing out, and starts nothing twice', async () => {
  await graceIsHere()
  await rule({ reviews: 'automatic' })
  const countOf = async (type: string) =>
    (await engines.log.read(taskStream(taskId(1)), 0, 1_000)).filter((event) => event.type === type).length
  let cuts = 0
  for (let isCut = true; isCut;) {
    // What was sent before does not count for the limit of an hour.
    hour = (Date.now() - Date.parse('2026-01-31T12:00:00Z')) / 3_600_000 + 2
    const counted = async () => [
      await countOf('FeedbackReceived'),
      await countOf('FeedbackSent'),
      await countOf('MessageQueued'),
    ]
    const [pieces = 0, sent = 0, queued = 0] = await counted()
    const words = comments(`one of ${cuts}`, `two of ${cuts}`)
    const [one, two] = [cuts * 2 + 1, cuts * 2 + 2]
    const numbered = words.comments.map((each, at) => ({ ...each, id: `${at === 0 ? one : two}` }))
    host.set({
      feedback: { ...words, comments: numbered },
      checks: [check(cuts + 1, { jobId: '1' })],
      log: 'not ok',
      rights: ['admin'],
    })
    const { parts, isDead } = dying(cuts + 1)
    await readerWith(parts)
      .read(request, pull())
      .catch((fault: unknown) => {
        if (!isDead()) throw fault
      })
    isCut = isDead()
    if (isCut) cuts += 1
    await readerWith({}).read(request, pull())
    expect(await counted()).toEqual([pieces + 3, sent + 2, queued + 2])
  }
  // What was written, a right, two pieces, the checks, a log, annotations and the piece of the check.
  expect(cuts).toBe(16)
})

describe('an author', () => {
  test('who may no longer use this server counts as nobody', async () => {
    await graceIsHere()
    host.set({ feedback: comments('one') })
    await read()
    access = new Fault('not_allowed', 'no')
    host.set({ feedback: comments('one', 'two') })
    await read('2026-01-30T12:01:00Z')
    expect((await received()).map(({ data }) => data.isKnown)).toEqual([true, false])
  })

  test('of whom that is not known for now is awaited', async () => {
    await graceIsHere()
    access = new Fault('code_host_unavailable', 'no')
    host.set({ feedback: comments('one') })
    await expect(read()).rejects.toMatchObject({ code: 'code_host_unavailable' })
    expect(await received()).toEqual([])
    access = null
    await read()
    expect(await received()).toMatchObject([{ data: { isKnown: true } }])
  })

  test.each(['unavailable', 'rate_limited', 'unauthorized'] as const)(
    'whose right is %s has no right recorded until it is known',
    async (kind) => {
      host.set({ feedback: comments('one'), rights: [new CodeHostFault(kind, 'no'), 'admin'] })
      await expect(read()).rejects.toMatchObject({ kind })
      expect(await received()).toEqual([])
      await read()
      expect(await received()).toMatchObject([{ data: { right: 'admin' } }])
    },
  )

  test('whose right a token may not read has none', async () => {
    host.set({ feedback: comments('one'), rights: [new CodeHostFault('forbidden', 'no')] })
    await read()
    expect(await received()).toMatchObject([{ data: { right: 'none' } }])
  })

  test('has their right asked for again in each reading where an agent may start by it', async () => {
    await rule({ reviews: 'automatic' })
    host.set({ feedback: comments('one'), rights: ['admin', 'none'] })
    await read()
    host.set({ feedback: comments('one', 'two', 'three') })
    await read('2026-01-30T12:01:00Z')
    expect((await received()).map(({ data }) => data.right)).toEqual(['admin', 'none', 'none'])
    expect(host.found.asked.filter((what) => what === 'right')).toHaveLength(2)
  })
})

describe('a reading', () => {
  test('goes by the name that the repository has now', async () => {
    host.set({ feedback: comments('one'), checks: [check(1, { jobId: '1' })] })
    await read()
    expect(host.found.names).toEqual(new Set(['ada/engine-renamed']))
  })

  test('records what is too large for the log in parts, and sends that to no agent', async () => {
    await graceIsHere()
    await rule({ reviews: 'automatic' })
    const execute: FeedbackDeps['commands']['execute'] = async (decider, stream, command, ...rest) => {
      if (JSON.stringify(command).length > 10_000) throw new TooLarge('too large')
      return engines.commands.execute(decider, stream, command, ...rest)
    }
    reader = readerWith({ commands: { load: engines.commands.load, execute } })
    host.set({ feedback: comments('x'.repeat(15_000), 'short') })
    await read()
    expect((await bodies()).map(({ length }) => length)).toEqual([4_000, 5])
    const events = await engines.log.read(taskStream(taskId(1)), 0, 1_000)
    expect(events.filter(({ type }) => type === 'FeedbackSent')).toHaveLength(1)
  })

  test('makes one turn of a review, however many comments it has, and counts it once', async () => {
    await graceIsHere()
    await rule({ reviews: 'automatic' })
    const { comments: most, automaticAnHour } = feedbackLimits
    const lines = Array.from({ length: most * automaticAnHour + 1 }, (_, n) => ({
      ...words(`${100 + n}`, `comment ${n}.`),
      reviewId: '1',
      threadId: `${100 + n}`,
      path: 'a.ts',
      line: n + 1,
      startLine: null,
      isOutdated: false,
      hunk: '',
    }))
    const review = { ...words('1', 'Please.'), state: 'commented', commit: null } as const
    host.set({ feedback: { reviews: [review], lines, comments: [] } })
    await read()
    await read('2026-01-30T12:01:00Z')
    const events = await engines.log.read(taskStream(taskId(1)), 0, 1_000)
    const of = (type: string) => events.filter((one) => one.type === type)
    expect([of('FeedbackReceived').length, of('FeedbackSent').length]).toEqual([1, 1])
    expect(JSON.stringify(events)).toContain(`The review has ${lines.length - most} more comments`)
    expect(JSON.stringify(events)).toContain(`comment ${most - 1}.`)
    expect(JSON.stringify(events)).not.toContain(`comment ${most}.`)
    // There is room for others within the hour.
    host.set({ feedback: { reviews: [review], lines, comments: comments('one').comments } })
    await read('2026-01-30T12:02:00Z')
    const sent = (await engines.log.read(taskStream(taskId(1)), 0, 1_000)).filter(
      ({ type }) => type === 'FeedbackSent',
    )
    expect(sent).toHaveLength(2)
  })

  test('records ten checks, and the others in the next', async () => {
    host.set({ checks: Array.from({ length: 23 }, (_, at) => check(at + 1)) })
    const counts: number[] = []
    for (let again: number | null = 0; again !== null;) {
      again = await read()
      counts.push((await received()).length)
    }
    expect(counts).toEqual([10, 20, 23])
  })

  test('shows no secret of whatever it read', async () => {
    const line = {
      ...words('3', `a line ${secret}`),
      reviewId: '2',
      threadId: '3',
      path: 'a.ts',
      line: 1,
      startLine: null,
      isOutdated: false,
      hunk: `@@ -1 +1 @@\n-old\n+${secret}`,
    }
    const review = { ...words('2', `a review ${secret}`), state: 'commented' as const, commit: openedWith }
    host.set({
      feedback: { ...comments(`a comment ${secret}`), reviews: [review], lines: [line] },
      checks: [check(1, { name: `name ${secret}`, summary: `summary ${secret}`, jobId: '1' })],
      log: `log ${secret}`,
    })
    await read()
    const all = await received()
    expect(all).toHaveLength(3)
    expect(JSON.stringify(all)).not.toContain(secret)
    expect(JSON.stringify(all).match(/\[redacted\]/g)).toHaveLength(9)
    expect(all.flatMap(({ content }) => content.comments.map(({ hunk }) => hunk))).toEqual([
      '@@ -1 +1 @@\n-old\n+[redacted]',
    ])
  })

  test('awaits a log for a minute after the end of its check, and records the check without one then', async () => {
    host.set({ checks: [check(1, { jobId: '1', endedAt: recently() })] })
    expect(await read()).toBeGreaterThan(0)
    expect(await received()).toEqual([])
    hour = 1
    expect(await read()).toBeNull()
    expect(await received()).toMatchObject([{ content: { check: { log: null } } }])
  })

  test('has the log of a check that came a little later', async () => {
    host.set({ checks: [check(1, { jobId: '1', endedAt: recently() })] })
    await read()
    host.set({ log: 'expected 1' })
    expect(await read()).toBeNull()
    expect(await received()).toMatchObject([{ content: { check: { log: 'expected 1' } } }])
  })

  test('by hints is one in ten seconds, however many hints there are', async () => {
    host.set({ feedback: comments('one') })
    reader.forget(taskId(1))
    expect(await read()).toBeNull()
    for (let hints = 0; hints < 5; hints += 1) {
      reader.forget(taskId(1))
      expect(await read()).toBeGreaterThan(0)
    }
    expect(host.found.asked.filter((what) => what === 'words')).toHaveLength(1)
  })

  test('of an earlier pull request of the task asks nothing', async () => {
    expect(await reader.read({ ...request, number: 9 }, pull())).toBeNull()
    expect(host.found.asked).toEqual([])
  })
})
