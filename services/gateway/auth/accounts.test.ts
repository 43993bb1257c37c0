/** Who gets an account when two people want it at the same moment, or one person wants two; and what an interrupted sign-in leaves behind. */
import { randomUUID } from 'node:crypto'
import { v5 as uuidv5 } from 'uuid'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { identityStream, scopeOfStream, userStream } from '#domain/kernel/streams.ts'
import { identity } from '#domain/identity.ts'
import { user } from '#domain/user/user.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { sessions } from '#platform/http/session.ts'
import type { Ids } from '#platform/ports/ids.ts'
import { cause, openAccess, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { idOfAccount } from '#platform/access/accountId.ts'
import { accounts, type Accounts, type ProvenAccount } from './accounts.ts'

const ids: Ids = { uuid: randomUUID }
/** The login of an account that may not sign in. */
const refused = 'mallory'
const startsAt = '2026-01-01T00:00:00.000Z'
const expiresAt = '2100-01-01T00:00:00.000Z'

let engines: TestEngines
/** The stored access token of each user, by user id. */
let kept: Map<string, string>
beforeEach(async () => {
  engines = await openTestEngines()
  kept = new Map()
})
afterEach(() => engines.close())

function accountsWith(commands: Commands = engines.commands): Accounts {
  return accounts(
    { codeHostName: 'local' },
    {
      commands,
      documents: engines.documents,
      projected: { waitFor: async () => true, close: () => undefined },
      sessions: sessions({ vault: engines.vault, clock: engines.clock, ids }, engines.logIdentity),
      access: {
        keep: async (userId, { accessToken }) => void kept.set(userId, accessToken),
        tokenOf: () => Promise.reject(new Error('not asked')),
        end: () => Promise.reject(new Error('not asked')),
        endIfRefused: () => Promise.reject(new Error('not asked')),
      },
      vault: engines.vault,
      accessControl: { ...openAccess, allows: async ({ login }) => login !== refused },
      ids,
      clock: engines.clock,
      logger: { error: () => undefined },
    },
  )
}

/** The engines' commands. Just before the first command on a stream for which `isStream` is true, `happens` runs once. */
function meanwhile(isStream: (stream: string) => boolean, happens: () => Promise<unknown>): Commands {
  let pending = true
  return {
    ...engines.commands,
    async execute(decider, stream, ...rest) {
      if (pending && isStream(stream)) {
        pending = false
        await happens()
      }
      return engines.commands.execute(decider, stream, ...rest)
    },
  }
}
const beforeIdentity = (happens: () => Promise<unknown>) =>
  meanwhile((stream) => stream.startsWith('identity-'), happens)
const beforeUser = (happens: () => Promise<unknown>) =>
  meanwhile((stream) => stream.startsWith('user-'), happens)

const shown = (login: string, id: string): ProvenAccount => ({
  account: {
    id,
    login,
    name: null,
    email: null,
    avatarUrl: `https://code.example/${login}.png`,
    publicRepos: 0,
  },
  tokens: { accessToken: `of ${login}`, expiresAt: null, refreshToken: null, refreshExpiresAt: null },
})
const ada = shown('ada', '1001')
const grace = shown('grace', '1002')

/** Registers a person with a password and begins a session. */
async function person() {
  const [userId, sessionId] = [randomUUID(), randomUUID()]
  const command = { type: 'Register', userId, name: 'Pat', email: 'pat@example.com' } as const
  const credentialId = randomUUID()
  await engines.commands.execute(
    user,
    userStream(userId),
    { ...command, credentialId, sessionId, startsAt, expiresAt, client: null },
    cause(),
  )
  return { userId, sessionId }
}

/** The login of the account that is connected to the user; `null` for none. */
async function connected(userId: string): Promise<string | null> {
  const { state } = await engines.commands.load(user, userStream(userId))
  return state.kind === 'user' ? (state.profile?.login ?? null) : null
}

/** The id of the user who has claimed the account; `null` for nobody. */
async function claimOf({ account }: ProvenAccount): Promise<string | null> {
  const stream = identityStream(idOfAccount(engines.vault, 'local', account.id))
  return (await engines.commands.load(identity, stream)).state.userId
}

test('finding 6: an account that is not on the list leaves no token, and in the log no more than that one was refused', async () => {
  const mallory = shown(refused, '666')
  await expect(accountsWith().signIn(mallory, '')).rejects.toMatchObject({
    value: 'not_allowed',
    login: refused,
  })
  expect(await engines.eventStore.readAll(null, 10)).toMatchObject([
    {
      type: 'SignInRefused',
      data: { method: 'code_host', code: 'not_allowed', userId: null },
      content: null,
    },
  ])
  expect(kept.size).toBe(0)
})

describe('connecting', () => {
  test('claims the account, connects it, and keeps its tokens', async () => {
    const pat = await person()
    await accountsWith().link(ada, pat)
    expect(await connected(pat.userId)).toBe('ada')
    expect(await claimOf(ada)).toBe(pat.userId)
    expect(kept).toEqual(new Map([[pat.userId, 'of ada']]))
  })

  test('again is told of once the new tokens are kept, also where nobody knew that the old ones were no good', async () => {
    const pat = await person()
    await accountsWith().link(ada, pat)
    const tokensAtEvents: (string | undefined)[] = []
    const watching: Commands = {
      ...engines.commands,
      async execute(decider, stream, ...rest) {
        const executed = await engines.commands.execute(decider, stream, ...rest)
        const isTold = executed.events.some(({ type }) => type === 'GitHubConnected')
        if (isTold) tokensAtEvents.push(kept.get(pat.userId))
        return executed
      },
    }
    const again = { ...ada, tokens: { ...ada.tokens, accessToken: 'new of ada' } }
    await accountsWith(watching).link(again, pat)
    expect(tokensAtEvents).toEqual(['new of ada'])
  })

  test('is connected where the old connection was ended before the new tokens were kept', async () => {
    const pat = await person()
    const stream = userStream(pat.userId)
    let ended = false
    const racing: Commands = {
      ...engines.commands,
      async execute(decider, on, ...rest) {
        const executed = await engines.commands.execute(decider, on, ...rest)
        if (on === stream && !ended) {
          ended = true
          await engines.commands.execute(user, stream, { type: 'DisconnectGitHub' }, cause())
        }
        return executed
      },
    }
    await accountsWith(racing).link(ada, pat)
    expect([await connected(pat.userId), kept.get(pat.userId)]).toEqual(['ada', 'of ada'])
  })

  test('while the person connects another leaves this one to nobody, and no tokens of it', async () => {
    const pat = await person()
    const racing = accountsWith(beforeUser(() => accountsWith().link(grace, pat)))
    await expect(racing.link(ada, pat)).rejects.toMatchObject({ value: 'account_differs' })
    expect(await connected(pat.userId)).toBe('grace')
    expect([await claimOf(ada), await claimOf(grace)]).toEqual([null, pat.userId])
    expect(kept).toEqual(new Map([[pat.userId, 'of grace']]))
  })

  test('while the session ends leaves the account to nobody', async () => {
    const pat = await person()
    const { sessionId } = pat
    const racing = accountsWith(
      beforeUser(() =>
        engines.commands.execute(user, userStream(pat.userId), { type: 'SignOut', sessionId }, cause()),
      ),
    )
    await expect(racing.link(ada, pat)).rejects.toMatchObject({ value: 'user_not_found' })
    expect([await connected(pat.userId), await claimOf(ada), kept.size]).toEqual([null, null, 0])
  })

  test.each([
    ['connects it', async () => accountsWith().link(ada, await person())],
    ['signs in with it', () => accountsWith().signIn(ada, '')],
  ])('while somebody else %s is refused, and takes nothing from them', async (_, happens) => {
    const pat = await person()
    const racing = accountsWith(beforeIdentity(happens))
    await expect(racing.link(ada, pat)).rejects.toMatchObject({ value: 'account_taken' })
    expect(await connected(pat.userId)).toBeNull()
    const owner = (await claimOf(ada)) ?? ''
    expect(owner).not.toBe(pat.userId)
    expect([await connected(owner), [...kept.keys()]]).toEqual(['ada', [owner]])
  })

  test('that was cut off after the claim is done by doing it again', async () => {
    const pat = await person()
    const broken = accountsWith(beforeUser(() => Promise.reject(new Error('cut off'))))
    await expect(broken.link(ada, pat)).rejects.toThrow('cut off')
    // It is unknown whether the command was recorded, so the claim stays.
    expect([await connected(pat.userId), await claimOf(ada)]).toEqual([null, pat.userId])
    await accountsWith().link(ada, pat)
    expect(await connected(pat.userId)).toBe('ada')
  })

  test('what is refused before it began claims nothing', async () => {
    const pat = await person()
    await accountsWith().link(ada, pat)
    await expect(accountsWith().link(grace, pat)).rejects.toMatchObject({ value: 'account_differs' })
    const stranger = { userId: randomUUID(), sessionId: randomUUID() }
    await expect(accountsWith().link(grace, stranger)).rejects.toMatchObject({ value: 'user_not_found' })
    const events = await engines.eventStore.readAll(null, 100)
    expect(events.filter(({ type }) => type.startsWith('Identity')).map(({ type }) => type)).toEqual([
      'IdentityClaimed',
    ])
  })
})

describe('signing in', () => {
  test('claims the account for the person whom it registers, once', async () => {
    const first = await accountsWith().signIn(ada, '')
    const again = await accountsWith().signIn(ada, '')
    expect(again.user).toEqual(first.user)
    expect(await claimOf(ada)).toBe(first.user.id)
    expect(kept).toEqual(new Map([[first.user.id, 'of ada']]))
  })

  test('whose account it is cannot be told from the log and the public id', async () => {
    await accountsWith().signIn(ada, '')
    const log = JSON.stringify(await engines.eventStore.readAll(null, 100))
    const namespace = '0d0c4f2e-3f0b-4f6c-9f3e-8f4b1c6a2d57'
    for (const guess of ['local:1001', '1001', 'ada']) expect(log).not.toContain(uuidv5(guess, namespace))
    const otherKey = { deriveKey: () => new Uint8Array(32) }
    expect(log).not.toContain(idOfAccount(otherKey, 'local', ada.account.id))
    expect(log).toContain(idOfAccount(engines.vault, 'local', ada.account.id))
    expect(log).not.toMatch(/"1001"|"ada"/)
  })

  test('after the key of the account was destroyed is a new person, also where the log lacks the deletion', async () => {
    const first = await accountsWith().signIn(ada, '')
    await engines.vault.destroy(scopeOfStream(userStream(first.user.id)))
    const again = await accountsWith().signIn(ada, '')
    expect(again.user.id).not.toBe(first.user.id)
    expect(again.user).toMatchObject({ githubUsername: 'ada' })
    expect(await claimOf(ada)).toBe(again.user.id)
    expect((await accountsWith().signIn(ada, '')).user.id).toBe(again.user.id)
  })

  test('while somebody connects the account signs them in, and registers nobody', async () => {
    const pat = await person()
    const racing = accountsWith(beforeIdentity(() => accountsWith().link(ada, pat)))
    expect((await racing.signIn(ada, '')).user).toMatchObject({ id: pat.userId, githubUsername: 'ada' })
    const events = await engines.eventStore.readAll(null, 100)
    expect(events.filter(({ type }) => type === 'UserRegistered')).toHaveLength(1)
  })

  test('by two browsers at once for the first time is one person', async () => {
    const both = await Promise.all([accountsWith().signIn(ada, ''), accountsWith().signIn(ada, '')])
    expect(new Set(both.map(({ user: one }) => one.id)).size).toBe(1)
    expect(new Set(both.map(({ token }) => token)).size).toBe(2)
  })
})
