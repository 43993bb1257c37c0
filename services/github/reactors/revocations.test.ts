/** A delivery about a revoked grant: only the host's answer about the token counts, not the delivery. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DeliveryReceived, receivedDeliveries } from '#domain/webhookDelivery.ts'
import { identity } from '#domain/identity.ts'
import { deliveryStream, identityStream, userStream } from '#domain/kernel/streams.ts'
import { user } from '#domain/user/user.ts'
import { idOfAccount } from '#platform/access/accountId.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { hostAccess, type HostAccess } from '#platform/credentials/hostAccess.ts'
import { UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import { openInProcessLeases } from '#platform/leases/inProcess.ts'
import { CodeHostFault, type HostAccount, type HostTokens } from '#platform/ports/codeHost.ts'
import type { RunningWork, Leases } from '#platform/ports/leases.ts'
import {
  cause,
  eventually,
  openTestEngines,
  somebody,
  type TestEngines,
} from '../../../tests/server/engines.ts'
import { startRevocations } from './revocations.ts'

const { userId } = somebody
const githubId = '1001'
interface Someone {
  readonly userId: string
  readonly githubId: string
  readonly login: string
  readonly accessToken: string
}
const ada: Someone = { userId, githubId, login: 'ada', accessToken: 'first' }
const grace: Someone = {
  userId: '00000000-a000-4000-8000-000000000002',
  githubId: '1002',
  login: 'grace',
  accessToken: 'of grace',
}
const codeHostName = 'github.com'
const token = (name: string): HostTokens => ({
  accessToken: name,
  expiresAt: null,
  refreshToken: null,
  refreshExpiresAt: null,
})
const account: HostAccount = {
  id: githubId,
  login: 'ada',
  name: 'Ada',
  email: null,
  avatarUrl: 'https://github.com/ada.png',
  publicRepos: 0,
}
const refused = new CodeHostFault('unauthorized', 'Bad credentials')

let engines: TestEngines
let leases: Leases
let access: HostAccess
/** The tokens with which the code host was asked for their account. */
let asked: string[]
/** The code host's answer when it is asked for the account of a token. */
let answer: (token: string) => HostAccount | Promise<HostAccount>
const running: RunningWork[] = []

beforeEach(async () => {
  engines = await openTestEngines()
  leases = openInProcessLeases({ onFault: () => undefined })
  asked = []
  answer = () => account
  access = hostAccess({
    ...engines,
    leases,
    codeHost: {
      refresh: async () => Promise.reject(refused),
      revoke: async () => undefined,
      account: async (accessToken) => {
        asked.push(accessToken)
        return answer(accessToken)
      },
    },
  })
  await connect(ada)
})
afterEach(async () => {
  for (const part of running.splice(0)) await part.stop()
  await leases.close()
  await engines.close()
})

const profileOf = (who: Someone) => ({
  githubId: who.githubId,
  login: who.login,
  name: null,
  email: null,
  avatar: 'a.png',
})
const newSession = () => ({
  sessionId: randomUUID(),
  startsAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2100-01-01T00:00:00.000Z',
  client: null,
})
async function connect(who: Someone): Promise<void> {
  const { commands, vault } = engines
  const id = idOfAccount(vault, codeHostName, who.githubId)
  const claim = { type: 'ClaimIdentity', userId: who.userId } as const
  await commands.execute(identity, identityStream(id), claim, cause())
  await access.keep(who.userId, token(who.accessToken))
  const signed = { userId: who.userId, profile: profileOf(who), ...newSession() }
  const signIn = { type: 'SignInWithGitHub', ...signed } as const
  await commands.execute(user, userStream(who.userId), signIn, cause())
}
const isConnected = async () => {
  const { state } = await engines.commands.load(user, userStream(userId))
  return state.kind === 'user' && state.githubConnected
}
async function start(
  minIntervalMs = 60_000,
  most = 1_000,
  commands: Pick<Commands, 'load' | 'execute'> = engines.commands,
): Promise<void> {
  const times = { burstPauseMs: 1, minIntervalMs }
  running.push(await startRevocations({ ...engines, commands, access, codeHostName }, times, most))
}
/** The engines' commands. `happens` runs just before the first command. */
function afterThat(happens: () => Promise<unknown>): Pick<Commands, 'load' | 'execute'> {
  let isPending = true
  return {
    load: engines.commands.load,
    async execute(...command) {
      if (isPending) {
        isPending = false
        await happens()
      }
      return engines.commands.execute(...command)
    },
  }
}
/** Records `times` different deliveries about the sender. */
const told = (times = 1, senderId: string | null = githubId, action = 'revoked'): Promise<void> =>
  toldOf(
    Array.from({ length: times }, () => senderId),
    action,
  )
/** Records one delivery about each of these people, all at once. */
async function toldOf(senderIds: readonly (string | null)[], action = 'revoked'): Promise<void> {
  const about = { guid: '', event: 'github_app_authorization', action, senderType: 'User' } as const
  const nothing = { installationId: null, repositoryId: null, pullRequest: null, issue: null }
  const no = { headCommit: null, reviewId: null, commentId: null, checkRunId: null, checkSuiteId: null }
  const deliveries = senderIds.map((senderId) =>
    DeliveryReceived.of({ ...about, guid: randomUUID() }, { ...nothing, ...no, senderId }),
  )
  await engines.commands.execute(
    receivedDeliveries,
    deliveryStream('2026-11-26'),
    { type: 'RecordDeliveries', deliveries },
    cause(),
  )
}
const tokenNow = () => access.tokenOf(userId).catch(() => null)

test('ends the connection of whose token the host refuses, and drops the token', async () => {
  answer = () => Promise.reject(refused)
  await start()
  await told()
  await eventually('the connection has ended', async () => !(await isConnected()))
  await eventually('the token is dropped', async () => (await tokenNow()) === null)
  expect(asked).toEqual(['first'])
})

test('that is false changes nothing, and a storm of it asks once in an interval', async () => {
  await start()
  await told(500)
  await eventually('the host was asked', () => asked.length > 0)
  await told(500)
  // A delivery about an unknown person, about nobody, or with another action causes no question to the code host.
  await told(1, '4711')
  await told(1, null)
  await told(1, githubId, 'granted')
  // The last delivery is about another person. When it was handled, all earlier ones were handled too.
  await connect(grace)
  await told(1, grace.githubId)
  await eventually('the host was asked about her', () => asked.includes('of grace'))
  expect(await isConnected()).toBe(true)
  expect(await tokenNow()).toBe('first')
  expect(asked).toEqual(['first', 'of grace'])
})

test('of an account whose record is damaged holds up no other', async () => {
  const damaged = identityStream(idOfAccount(engines.vault, codeHostName, githubId))
  await connect(grace)
  answer = () => Promise.reject(refused)
  await start(60_000, 1_000, {
    ...engines.commands,
    load: async (decider, stream) => {
      if (stream === damaged)
        throw new UnreadableEvent({ stream, revision: 0, type: 'IdentityClaimed' }, 'wrong_shape')
      return engines.commands.load(decider, stream)
    },
  })
  await told()
  await told(1, grace.githubId)
  await eventually('the host was asked about her', () => asked.includes('of grace'))
  expect(asked).toEqual(['of grace'])
})

test('that comes soon after a false one is looked at once the interval is over', async () => {
  await start(300)
  await told()
  await eventually('the host was asked', () => asked.length === 1)
  answer = () => Promise.reject(refused)
  await told(20)
  await eventually('the connection has ended', async () => !(await isConnected()))
  expect(asked).toHaveLength(2)
})

test.each(['unavailable', 'rate_limited'] as const)(
  'says nothing while the host does not answer, and is looked at again: %s',
  async (kind) => {
    answer = () => Promise.reject(new CodeHostFault(kind, 'Later.'))
    await start(100)
    await told()
    await eventually('the host was asked', () => asked.length > 0)
    expect(await isConnected()).toBe(true)
    answer = () => Promise.reject(refused)
    await eventually('the connection has ended', async () => !(await isConnected()))
  },
)

test('leaves alone who has connected anew while the host was asked', async () => {
  answer = async (accessToken) => {
    if (accessToken !== 'first') return account
    await access.keep(userId, token('second'))
    throw refused
  }
  await start(50)
  await told()
  await eventually('the host was asked', () => asked.length > 0)
  await told()
  await eventually('the host was asked again', () => asked.includes('second'))
  expect(await isConnected()).toBe(true)
  expect(await tokenNow()).toBe('second')
})

test('leaves connected who signs in right before the end is recorded', async () => {
  answer = async (accessToken) => (accessToken === 'first' ? Promise.reject(refused) : account)
  await start(
    50,
    1_000,
    afterThat(() => connect({ ...ada, accessToken: 'second' })),
  )
  await told()
  await eventually('the new token was asked about', () => asked.includes('second'))
  expect(await isConnected()).toBe(true)
  expect(await tokenNow()).toBe('second')
})

test('ends the connection a little later where another session began meanwhile, and no new token came', async () => {
  answer = () => Promise.reject(refused)
  const signIn = { type: 'SignInWithGitHub', userId, profile: profileOf(ada), ...newSession() } as const
  const signsIn = () => engines.commands.execute(user, userStream(userId), signIn, cause())
  await start(50, 1_000, afterThat(signsIn))
  await told()
  await eventually('the connection has ended', async () => !(await isConnected()))
  await eventually('the token is dropped', async () => (await tokenNow()) === null)
  expect(asked).toEqual(['first', 'first'])
})

test('that came before a process ended is looked at by the next one', async () => {
  answer = () => Promise.reject(new CodeHostFault('unavailable', 'Away.'))
  await start()
  await told()
  await eventually('the host was asked', () => asked.length > 0)
  await running.pop()?.stop()
  answer = () => Promise.reject(refused)
  await start()
  await eventually('the connection has ended', async () => !(await isConnected()))
  expect(asked).toEqual(['first', 'first'])
})

describe('of more people than find a place', () => {
  const people = ['2001', '2002', '2003', '2004'].map((id) => ({
    userId: `00000000-a000-4000-8000-00000000${id}`,
    githubId: id,
    login: `somebody-${id}`,
    accessToken: `of ${id}`,
  }))
  const tokensOfAll = people.map(({ accessToken }) => accessToken)
  beforeEach(async () => {
    for (const one of people) await connect(one)
  })

  test('each is looked at', async () => {
    await start(60_000, 2)
    await toldOf(people.map((one) => one.githubId))
    await expect.poll(() => asked.toSorted()).toEqual(tokensOfAll)
  })

  test('each is looked at again where the host did not answer, whoever is told of meanwhile', async () => {
    const [first = '', ...others] = people.map((one) => one.githubId)
    const isAway = new Set(tokensOfAll)
    const { held, answers } = holding()
    answer = async (accessToken) => {
      await held
      if (isAway.delete(accessToken)) throw new CodeHostFault('unavailable', 'Away.')
      return account
    }
    const heard: string[] = []
    const load: Commands['load'] = (decider, stream) => {
      heard.push(stream)
      return engines.commands.load(decider, stream)
    }
    await start(20, 1, { ...engines.commands, load })
    await toldOf([first])
    await eventually('the host was asked', () => asked.length === 1)
    await toldOf(others)
    const next = identityStream(idOfAccount(engines.vault, codeHostName, others[0] ?? ''))
    await eventually('the next delivery was heard', () => heard.includes(next))
    answers()
    const twice = tokensOfAll.flatMap((one) => [one, one])
    await expect.poll(() => asked.toSorted()).toEqual(twice)
  })

  test('each is looked at by the next process, where one ended before it had room', async () => {
    const { held, answers } = holding()
    answer = () => held.then(() => account)
    await start(60_000, 1)
    await toldOf(people.map((one) => one.githubId))
    await eventually('the host was asked', () => asked.length === 1)
    const stopped = running.pop()?.stop()
    answers()
    await stopped
    asked = []
    await start()
    await expect.poll(() => asked.toSorted()).toEqual(tokensOfAll)
  })
})

function holding(): { readonly held: Promise<void>; readonly answers: () => void } {
  let answers = () => {}
  const held = new Promise<void>((resolve) => void (answers = resolve))
  return { held, answers: () => answers() }
}
