/** Signing in at the code host: connecting an account to a person by a ticket, whose account it may be, and how each failure ends. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { disconnectGitHub, getMe, linkGitHub, login, logout, register } from '#domain/api/auth.schema.ts'
import { getGitHubUser } from '#domain/api/projects.schema.ts'
import { IdentityClaimed } from '#domain/identity.ts'
import { identityStream } from '#domain/kernel/streams.ts'
import { emptyHead } from '#platform/eventlog/eventLog.ts'
import { loadMasterKey } from '#platform/vault/masterKey.ts'
import { purposeKey } from '#platform/vault/sealing.ts'
import { idOfAccount } from '#platform/access/accountId.ts'
import { oauthStateCookie, oauthStates } from '../../../services/gateway/auth/oauthState.ts'
import { ticketCookie, tickets } from '../../../services/gateway/auth/linkTickets.ts'
import { clientId, clientSecret, startLocal, type LocalCodeHost } from '../../contracts/codeHost.fixture.ts'
import { onboard, type Person } from '../../product/person.ts'
import { ownFolder, startProduct, type AnyProduct, type Product } from '../../product.ts'
import { note } from '../../report/notes.ts'
import { openGate, type Gate } from '../../servers/tcpGate.ts'
import { startEventStoreDb, type EventStoreDbStandIn } from '../../standins/eventStoreDb.ts'
import { discard } from '../../product/server.ts'
import { openStoppedProduct } from '../../server/stoppedProduct.ts'

const settings = '/settings?tab=github'
const password = 'a password for tests'

/** A person in a browser of their own, which keeps cookies. */
interface Visitor {
  readonly person: Person
  /** Goes to an address; gives the status and where it leads. */
  go(address: string): Promise<{ status: number; location: string }>
  readonly cookies: Map<string, string>
  /** Asks for a ticket, at a task perhaps; gives the address to go to. */
  ticket(from?: { readonly taskId: string }): Promise<string>
  /** From an address of ours to the code host, which sends the browser back: gives the address there. */
  authorized(address: string, account: string): Promise<string>
  /** All the way from a ticket to where it ends. */
  link(account: string, from?: { readonly taskId: string }): Promise<string>
}

function visitorOf(product: Pick<AnyProduct, 'base' | 'personWith'>, token: string): Visitor {
  const person = product.personWith(token)
  const cookies = new Map<string, string>()
  const keep = (headers: Headers) => {
    for (const set of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
  }
  const visitor: Visitor = {
    person,
    cookies,
    async go(address) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch(new URL(address, product.base), {
        redirect: 'manual',
        signal: AbortSignal.timeout(30_000),
        headers: cookie === '' ? {} : { cookie },
      })
      keep(response.headers)
      await response.arrayBuffer()
      return { status: response.status, location: response.headers.get('location') ?? '' }
    },
    async ticket(from) {
      const { status, headers, body } = await person.api('POST', '/auth/github/link', from)
      expect(status).toBe(200)
      keep(headers)
      return linkGitHub.answer.parse(body).url
    },
    async authorized(address, account) {
      const { location } = await visitor.go(address)
      if (!location.includes('/login/oauth/authorize')) throw new Error(`It led to ${location}`)
      return (await visitor.go(`${location}&login=${account}`)).location
    },
    async link(account, from) {
      const back = await visitor.authorized(await visitor.ticket(from), account)
      return (await visitor.go(back)).location
    },
  }
  return visitor
}

/** Somebody with a password and nothing else, who has completed the onboarding. */
async function registered(product: AnyProduct, name: string): Promise<Visitor> {
  const body = { name, email: `${name.toLowerCase()}@example.com`, password }
  const { token } = await product.personWith(undefined).ask(register, { body })
  const visitor = visitorOf(product, token)
  await onboard(visitor.person, name)
  return visitor
}

const meOf = async ({ person }: Pick<Visitor, 'person'>) => (await person.ask(getMe)).user

/** Signs in at the code host, in a fresh browser; gives where it leads. */
async function signInAt(product: AnyProduct, account: string): Promise<string> {
  const visitor = visitorOf(product, '')
  return (await visitor.go(await visitor.authorized('/api/auth/github', account))).location
}

describe('connecting an account', () => {
  let product: Product
  let grace: Visitor
  let pat: Visitor
  let quinn: Visitor
  /** What went through addresses and cookies, and must be in no log. */
  const passed: string[] = []
  beforeAll(async () => {
    note('the code host', 'the local code host, not GitHub')
    product = await startProduct({ env: { LOG_LEVEL: 'debug' } })
    // Grace is here by her account at the code host; ada's is nobody's yet.
    grace = visitorOf(product, (await product.signIn('grace')).token)
    pat = await registered(product, 'Pat')
    quinn = await registered(product, 'Quinn')
  })
  afterAll(() => product?.stop())

  test('is for who has signed in', async () => {
    const refused = await product.personWith(undefined).refused(linkGitHub)
    expect(refused).toMatchObject({ status: 401, code: 'sign_in_required' })
  })

  test('that signs in somebody else here is refused, and changes nothing', async () => {
    expect(await pat.link('grace')).toBe(`${settings}&error=account_taken`)
    expect(await meOf(pat)).toMatchObject({ githubConnected: false, githubUsername: null })
    expect(await pat.person.refused(getGitHubUser)).toMatchObject({ code: 'github_not_connected' })
    // Her access is not touched either.
    expect((await grace.person.ask(getGitHubUser)).user.login).toBe('grace')
  })

  test('by two people at once connects one of them, and tells the other', async () => {
    const both = [pat, quinn]
    const backs: string[] = []
    for (const visitor of both) backs.push(await visitor.authorized(await visitor.ticket(), 'ada'))
    const ends = await Promise.all(both.map((visitor, n) => visitor.go(backs[n] ?? '')))
    expect(ends.map(({ location }) => location).toSorted()).toEqual([
      settings,
      `${settings}&error=account_taken`,
    ])
    // Whoever came first is called pat from here on.
    if (ends[0]?.location !== settings) [pat, quinn] = [quinn, pat]
    expect(await meOf(pat)).toMatchObject({ githubConnected: true, githubUsername: 'ada', githubId: '1001' })
    expect((await pat.person.ask(getGitHubUser)).user.login).toBe('ada')
    expect(await meOf(quinn)).toMatchObject({ githubConnected: false, githubUsername: null })
    expect(await quinn.person.refused(getGitHubUser)).toMatchObject({ code: 'github_not_connected' })
  })

  test('leaves name and address as they were, and leads to the same person when signing in with it', async () => {
    const before = await meOf(pat)
    expect(before.email).not.toBe('ada@example.com')
    const location = await signInAt(product, 'ada')
    expect(location).toMatch(/^\/auth\/callback\?token=[\w.-]+&onboarding=false$/)
    const token = new URL(location, product.base).searchParams.get('token') ?? ''
    expect((await product.personWith(token).ask(getMe)).user).toEqual(before)
    // The password goes on as well.
    const body = { email: before.email ?? '', password }
    expect((await product.personWith(undefined).ask(login, { body })).user).toEqual(before)
  })

  test('again is nothing, also twice at once', async () => {
    const before = await meOf(pat)
    const other = visitorOf(product, pat.person.token)
    expect(await Promise.all([pat.link('ada'), other.link('ada')])).toEqual([settings, settings])
    expect(await meOf(pat)).toEqual(before)
    expect((await pat.person.ask(getGitHubUser)).user.login).toBe('ada')
  })

  test('in the place of the one that is known is refused, connected or not', async () => {
    for (const visitor of [pat, grace]) {
      const own = visitor === pat ? 'ada' : 'grace'
      const other = visitor === pat ? 'grace' : 'ada'
      expect(await visitor.link(other)).toBe(`${settings}&error=account_differs`)
      expect((await visitor.person.ask(getGitHubUser)).user.login).toBe(own)

      const { user: alone } = await visitor.person.ask(disconnectGitHub)
      expect(alone).toMatchObject({ githubConnected: false })
      expect(await visitor.link(other)).toBe(`${settings}&error=account_differs`)
      expect(await visitor.person.refused(getGitHubUser)).toMatchObject({ code: 'github_not_connected' })

      expect(await visitor.link(own)).toBe(settings)
      expect((await visitor.person.ask(getGitHubUser)).user.login).toBe(own)
    }
  })

  test('that began at a task ends there; where it failed, in the settings', async () => {
    const taskId = randomUUID()
    expect(await pat.link('ada', { taskId })).toBe(`/tasks/${taskId}`)
    expect(await pat.link('grace', { taskId })).toBe(`${settings}&error=account_differs`)
    for (const elsewhere of ['//evil.example', '../settings', ''])
      expect(await pat.person.api('POST', '/auth/github/link', { taskId: elsewhere })).toMatchObject({
        status: 400,
        body: { code: 'invalid_input' },
      })
  })

  test('that was denied at the host, or with a code that the host did not give, ends at the settings', async () => {
    for (const query of ['error=access_denied', 'code=made-up', '']) {
      const { location } = await quinn.go(await quinn.ticket())
      const state = new URL(location).searchParams.get('state')
      expect((await quinn.go(`/api/auth/github/callback?state=${state}&${query}`)).location).toBe(
        `${settings}&error=github`,
      )
    }
  })

  describe('by a ticket', () => {
    const lost = { status: 302, location: `${settings}&error=session_lost` }

    test('holds once', async () => {
      const url = await quinn.ticket()
      const cookies = new Map(quinn.cookies)
      expect((await quinn.go(url)).location).toContain('/login/oauth/authorize')
      expect(quinn.cookies.has(ticketCookie)).toBe(false)
      for (const [name, value] of cookies) quinn.cookies.set(name, value)
      expect(await quinn.go(url)).toEqual(lost)
      passed.push(url, ...cookies.values())
    })

    test('holds once also for many who come at once', async () => {
      const url = await quinn.ticket()
      const many = Array.from({ length: 8 }, () => {
        const visitor = visitorOf(product, quinn.person.token)
        for (const [name, value] of quinn.cookies) visitor.cookies.set(name, value)
        return visitor.go(url)
      })
      const ends = await Promise.all(many)
      expect(ends.filter(({ location }) => location.includes('/login/oauth/authorize'))).toHaveLength(1)
      expect(ends.filter(({ location }) => location === lost.location)).toHaveLength(7)
    })

    test('is of use in no other browser than the one that asked: nobody is sent here with a ticket of another’s', async () => {
      const url = await quinn.ticket()
      const victim = visitorOf(product, '')
      expect(await victim.go(url)).toEqual(lost)
      // Nor beside a ticket of one's own.
      await pat.ticket()
      expect(await pat.go(url)).toEqual(lost)
      // It is not used up by that.
      expect((await quinn.go(url)).location).toContain('/login/oauth/authorize')
    })

    test('that is none of ours is refused', async () => {
      for (const ticket of ['', 'garbage', 'a.b.c', `${quinn.person.token}`]) {
        await quinn.ticket()
        expect(await quinn.go(`/api/auth/github?link=${ticket}`)).toEqual(lost)
      }
      const [one, other] = [await quinn.ticket(), await quinn.ticket()]
      expect(await quinn.go(`${one}&link=${other.split('=')[1]}`)).toEqual(lost)
    })

    test('holds for a minute', async () => {
      const key = await loadMasterKey({
        configured: undefined,
        file: join(product.dataDir, 'master.key'),
      })
      const { id: userId } = await meOf(quinn)
      const sessionId = String(
        JSON.parse(Buffer.from(quinn.person.token.split('.')[1] ?? '', 'base64url').toString())['sid'],
      )
      for (const [secondsAgo, leadsTo] of [
        [61, /^\/settings\?tab=github&error=session_lost$/],
        [30, /\/login\/oauth\/authorize/],
      ] as const) {
        const { issue } = tickets({
          // Giving one out notes nothing.
          recentKeys: { remember: () => Promise.reject(new Error('not asked')) },
          vault: { deriveKey: (purpose) => purposeKey(key, purpose) },
          clock: { now: () => new Date(Date.now() - secondsAgo * 1_000) },
          ids: { uuid: randomUUID },
        })
        const { ticket, proof } = await issue({ userId, sessionId })
        quinn.cookies.set(ticketCookie, proof)
        expect((await quinn.go(`/api/auth/github?link=${ticket}`)).location).toMatch(leadsTo)
      }
    })

    test('ends with the session that asked: before the way to the host, and on the way back', async () => {
      const gone = { status: 302, location: '/auth/callback?error=user_not_found' }
      const again = async () => {
        const body = { email: (await meOf(quinn)).email ?? '', password }
        return visitorOf(product, (await product.personWith(undefined).ask(login, { body })).token)
      }
      const before = await again()
      const url = await before.ticket()
      await before.person.ask(logout)
      expect(await before.go(url)).toEqual(gone)

      const after = await again()
      const back = await after.authorized(await after.ticket(), 'ada')
      await after.person.ask(logout)
      expect(await after.go(back)).toEqual(gone)
      expect(await meOf(quinn)).toMatchObject({ githubConnected: false })
    })

    test('and its other half are in no log', () => {
      const { stdout, stderr } = product.logs
      expect(passed.length).toBeGreaterThan(1)
      for (const secret of passed) expect(stdout + stderr).not.toContain(secret.split('=').at(-1))
      expect(stderr).toContain('/api/auth/github')
    })
  })
})

describe('two accounts at once, by one person', () => {
  let product: Product
  beforeAll(async () => {
    product = await startProduct()
  })
  afterAll(() => product?.stop())

  test('connects one; the other stays free for whoever comes by it', async () => {
    const pat = await registered(product, 'Pat')
    const other = visitorOf(product, pat.person.token)
    const backs = [
      await pat.authorized(await pat.ticket(), 'ada'),
      await other.authorized(await other.ticket(), 'grace'),
    ] as const
    const ends = await Promise.all([pat.go(backs[0]), other.go(backs[1])])
    expect(ends.map(({ location }) => location).toSorted()).toEqual([
      settings,
      `${settings}&error=account_differs`,
    ])
    const me = await meOf(pat)
    const own = ends[0].location === settings ? 'ada' : 'grace'
    expect(me).toMatchObject({ githubConnected: true, githubUsername: own })
    expect((await pat.person.ask(getGitHubUser)).user.login).toBe(own)
    const free = await product.signIn(own === 'ada' ? 'grace' : 'ada')
    expect((await meOf({ person: free })).id).not.toBe(me.id)
    expect((await meOf({ person: await product.signIn(own) })).id).toBe(me.id)
  })
})

describe('where an account is claimed by somebody whom the log does not know', () => {
  let product: Product
  beforeAll(async () => {
    product = await startProduct()
    await product.terminate()
    const stored = await openStoppedProduct(product.dataDir)
    const userId = randomUUID()
    await stored.log.append(
      identityStream(idOfAccount(stored.vault, 'local', '1002')),
      emptyHead,
      [IdentityClaimed.of({ userId })],
      { actor: { kind: 'user', userId }, commandId: randomUUID() },
    )
    await stored.close()
    await product.restart()
  })
  afterAll(() => product?.stop())

  test('it leads to nobody', async () => {
    expect(await signInAt(product, 'grace')).toBe('/auth/callback?error=user_not_found')
  })
})

describe('signing in', () => {
  let folder = ''
  let host: LocalCodeHost
  let gate: Gate
  let eventStore: EventStoreDbStandIn
  let product: Product
  beforeAll(async () => {
    note('an event store that goes away while somebody signs in', 'a stand-in for EventStoreDB at the wire')
    folder = await ownFolder()
    host = await startLocal(join(folder, 'codehost'))
    gate = await openGate({ host: '127.0.0.1', port: Number(new URL(host.url).port) })
    eventStore = await startEventStoreDb()
    product = await startProduct({
      env: {
        GITHUB_SERVER_URL: `http://localhost:${gate.port}`,
        GITHUB_API_URL: `http://127.0.0.1:${gate.port}/api/v3`,
        GITHUB_CLIENT_ID: clientId,
        GITHUB_CLIENT_SECRET: clientSecret,
        EVENTSTORE_URL: `esdb://127.0.0.1:${eventStore.port}?tls=false`,
        PASSWORD_SIGN_IN: '1',
        LOG_LEVEL: 'silent',
      },
    })
  })
  afterAll(async () => {
    await product?.stop()
    eventStore?.kill()
    await gate?.shut()
    await host?.stop()
    await discard(folder)
  })

  const arrivesAt = (location: string) => ({ status: 302, location })
  const failed = (value: string) => arrivesAt(`/auth/callback?error=${value}`)

  test('goes on when the host or the log is there again after it was away on the way back: server', async () => {
    const visitor = visitorOf(product, '')
    const back = await visitor.authorized('/api/auth/github', 'ada')
    await gate.shut()
    expect(await visitor.go(back)).toEqual(failed('server'))
    await gate.open()
    expect(await signInAt(product, 'ada')).toContain('/auth/callback?token=')

    const next = await visitor.authorized('/api/auth/github', 'ada')
    eventStore.kill()
    expect(await visitor.go(next)).toEqual(failed('server'))
    await eventStore.restart()
    await expect.poll(() => signInAt(product, 'ada'), { interval: 200 }).toContain('/auth/callback?token=')
  })

  test('says so where a part is away while an account is connected', async () => {
    const pat = await registered(product, 'Pat')
    const back = await pat.authorized(await pat.ticket(), 'grace')
    const url = await pat.ticket()
    eventStore.kill()
    expect(await pat.go(back)).toEqual(arrivesAt(`${settings}&error=server`))
    expect(await pat.go(url)).toEqual(arrivesAt(`${settings}&error=server`))
    await eventStore.restart()
    await expect.poll(() => pat.link('grace'), { interval: 200 }).toBe(settings)
  })

  test('is lost with its cookie, after ten minutes, with the state of another, and with an answer that is none: session_lost', async () => {
    const visitor = visitorOf(product, '')
    const back = await visitor.authorized('/api/auth/github', 'ada')
    const { searchParams } = new URL(back)
    const state = searchParams.get('state') ?? ''
    const journey = visitor.cookies.get(oauthStateCookie) ?? ''

    expect(await visitorOf(product, '').go(back)).toEqual(failed('session_lost'))
    const key = await loadMasterKey({ configured: undefined, file: join(product.dataDir, 'master.key') })
    const cookieOf = (secondsAgo: number, secret: Uint8Array = key) =>
      oauthStates({
        vault: { deriveKey: (purpose) => purposeKey(secret, purpose) },
        clock: { now: () => new Date(Date.now() - secondsAgo * 1_000) },
      }).cookieOf({ state, verifier: 'x' })
    const withCookie = async (cookie: string, address = back) => {
      const other = visitorOf(product, '')
      other.cookies.set(oauthStateCookie, cookie)
      return other.go(address)
    }
    const forged = await cookieOf(0, new Uint8Array(32))
    for (const cookie of [await cookieOf(601), forged, 'garbage', `${journey}x`])
      expect(await withCookie(cookie)).toEqual(failed('session_lost'))
    // One that we made and that has time left is taken: what is wrong then is its verifier.
    expect(await withCookie(await cookieOf(590))).toEqual(failed('github'))
    for (const query of [
      `state=${state}x`,
      '',
      `state=${state}&state=${state}`,
      `state=${state}&code=a&code=b`,
    ])
      expect(await withCookie(journey, `/api/auth/github/callback?${query}`)).toEqual(failed('session_lost'))
  })

  test('that the person or the host refused says so: github', async () => {
    for (const query of ['error=access_denied', 'code=made-up', '']) {
      const visitor = visitorOf(product, '')
      const { location } = await visitor.go('/api/auth/github')
      const state = new URL(location).searchParams.get('state')
      expect(await visitor.go(`/api/auth/github/callback?state=${state}&${query}`)).toEqual(failed('github'))
    }
  })
})
