/** The OAuth page of the local code host. */
import { describe, expect, test } from 'vitest'
import {
  authorize,
  clientId,
  clientSecret,
  origin,
  proofKey,
  redirectUri,
  signIn,
  useLocalHosts,
  visit,
  type LocalCodeHost,
} from './codeHost.fixture.ts'

const hosts = useLocalHosts()

describe('the OAuth page', () => {
  const asked = (local: LocalCodeHost, change: Record<string, string> = {}) => {
    const url = new URL(`${local.url}/login/oauth/authorize`)
    const fields = { client_id: clientId, redirect_uri: redirectUri, state: 'a"<b>', ...change }
    for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value)
    return url.toString()
  }

  test('shows both accounts and a way back, loads nothing, and may be framed by nobody', async () => {
    const page = await visit(asked(await hosts.start()))
    expect(page.status).toBe(200)
    expect(page.text).toContain('Ada Lovelace')
    expect(page.text).toContain('Grace Hopper')
    expect(page.text).toMatch(
      /href="http:\/\/localhost:8080\/api\/auth\/github\/callback\?error=access_denied&amp;[^"]*state=a%22%3Cb%3E"/,
    )
    expect(page.text).not.toMatch(/<script|https:\/\//)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('the link of an account lets the app in', async () => {
    const local = await hosts.start()
    const page = await visit(asked(local))
    const link = /href="([^"]*login=grace)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const back = await visit(`${local.url}${link}`)
    expect(back.status).toBe(302)
    const address = new URL(back.headers.get('location') ?? '')
    expect(address.searchParams.get('state')).toBe('a"<b>')
    expect(address.searchParams.get('code')).toMatch(/^[0-9a-f]{40}$/)
  })

  test('an account that is not here is told, and nobody is sent anywhere', async () => {
    const page = await visit(asked(await hosts.start(), { login: '<img src=x>' }))
    expect(page.status).toBe(400)
    expect(page.text).toContain('There is no account &quot;&lt;img src=x&gt;&quot; here.')
  })

  test.each([
    ['https://evil.example/callback', 400],
    ['http://evil.example/callback', 400],
    ['http://localhost@evil.example/', 400],
    ['http://ada:pw@localhost:8080/', 400],
    ['https://localhost:8080/', 400],
    ['javascript:alert(1)', 400],
    ['//localhost/', 400],
    ['http://localhost.evil.example/', 400],
    ['http://127.0.0.1:9/x', 302],
    ['http://[::1]:8080/x', 302],
    ['https://flightdeck.example/api/auth/github/callback', 302],
  ])('a return address %s is answered with %i', async (redirect, status) => {
    const local = await hosts.start({ redirectUris: ['https://flightdeck.example/api/auth/github/callback'] })
    const page = await visit(asked(local, { redirect_uri: redirect, login: 'ada' }))
    expect([page.status, page.headers.has('location')]).toEqual([status, status === 302])
  })

  test('an app that is not registered, and a challenge in the clear, are refused', async () => {
    const local = await hosts.start()
    expect((await visit(asked(local, { client_id: 'another', login: 'ada' }))).status).toBe(404)
    const plain = { code_challenge: 'x', code_challenge_method: 'plain', login: 'ada' }
    expect((await visit(asked(local, plain))).status).toBe(400)
  })

  test('codes and tokens run out by the clock', async () => {
    let now = new Date('2025-06-01T12:00:00.000Z')
    const later = (minutes: number) => {
      now = new Date(now.getTime() + minutes * 60_000)
    }
    const { codeHost } = await hosts.start({ clock: { now: () => now } })
    const { verifier, challenge } = proofKey()
    const request = { state: 's', redirectUri, codeChallenge: challenge, origin }
    const back = await authorize(await codeHost.authorizeUrl(request), 'ada')
    later(11)
    const code = back.searchParams.get('code') ?? ''
    const exchanged = codeHost.exchangeCode({ code, redirectUri, codeVerifier: verifier })
    await expect(exchanged).rejects.toMatchObject({ kind: 'unauthorized' })
    const tokens = await signIn(codeHost, 'ada')
    expect(tokens.expiresAt).toBe(new Date(now.getTime() + 8 * 3_600_000).toISOString())
    later(8 * 60 + 1)
    await expect(codeHost.account(tokens.accessToken)).rejects.toMatchObject({ kind: 'unauthorized' })
    const fresh = await codeHost.refresh(tokens.refreshToken ?? '')
    expect(await codeHost.account(fresh.accessToken)).toMatchObject({ login: 'ada' })
    later(185 * 24 * 60)
    await expect(codeHost.refresh(fresh.refreshToken ?? '')).rejects.toMatchObject({ kind: 'unauthorized' })
  })

  test('tokens are answered as a form or as JSON, and asked for by either', async () => {
    const local = await hosts.start()
    const exchange = async (headers: Record<string, string>, body: string) => {
      return visit(`${local.url}/login/oauth/access_token`, { method: 'POST', headers, body })
    }
    const code = async () => {
      const { headers } = await visit(asked(local, { login: 'ada' }))
      return new URL(headers.get('location') ?? '').searchParams.get('code') ?? ''
    }
    const app = { client_id: clientId, client_secret: clientSecret }
    const form = await exchange(
      { 'Content-Type': 'application/x-www-form-urlencoded' },
      new URLSearchParams({ ...app, code: await code() }).toString(),
    )
    expect(new URLSearchParams(form.text).get('access_token')).toMatch(/^ghu_[0-9A-Za-z]{36}$/)
    const json = await exchange(
      { 'Content-Type': 'application/json', Accept: 'application/json' },
      JSON.stringify({ ...app, code: await code() }),
    )
    expect(JSON.parse(json.text)).toMatchObject({ token_type: 'bearer', expires_in: 28_800 })
    const wrong = await exchange(
      { 'Content-Type': 'application/json', Accept: 'application/json' },
      JSON.stringify({ ...app, client_secret: 'guess', code: await code() }),
    )
    expect(JSON.parse(wrong.text)).toMatchObject({ error: 'incorrect_client_credentials' })
  })
})
