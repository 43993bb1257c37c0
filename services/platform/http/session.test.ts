/** The bearer token: signed by us, valid for a limited time, and usable for nothing else. */
import { jwtVerify, SignJWT, UnsecuredJWT } from 'jose'
import { expect, test } from 'vitest'
import { purposeKey } from '#platform/vault/sealing.ts'
import { clientOf, sessionDays, sessions } from './session.ts'

const masterKey = new Uint8Array(32).fill(7)
const dayMs = 86_400_000

/** Sessions at a time that the test sets, under a master key. */
function sessionsAt(now: string | (() => string), key: Uint8Array = masterKey, epoch = 1) {
  const vault = { deriveKey: (purpose: string) => purposeKey(key, purpose) }
  const clock = { now: () => new Date(typeof now === 'string' ? now : now()) }
  return sessions({ vault, clock, ids: { uuid: () => 'a-session' } }, { epoch })
}

const noon = '2026-03-01T12:00:00.000Z'
const later = (ms: number) => new Date(Date.parse(noon) + ms).toISOString()
const identity = { userId: 'u1', sessionId: 'a-session' }

test('a session lasts seven days, and so does its token', async () => {
  const { begin, token } = sessionsAt(noon)
  const session = begin('')
  expect(session).toEqual({
    client: null,
    sessionId: 'a-session',
    startsAt: noon,
    expiresAt: later(sessionDays * dayMs),
  })
  const given = await token(identity, session.expiresAt)
  const verified = { ...identity, endsAt: Date.parse(session.expiresAt) }
  expect(await sessionsAt(later(1_000)).verify(given)).toEqual(verified)
  expect(await sessionsAt(later(sessionDays * dayMs - 1_000)).verify(given)).toEqual(verified)
  expect(await sessionsAt(later(sessionDays * dayMs + 1_000)).verify(given)).toBeUndefined()
})

test('a token that was verified before is refused once it has expired', async () => {
  let now = noon
  const { token, verify } = sessionsAt(() => now)
  const given = await token(identity, later(dayMs))
  const verified = { ...identity, endsAt: Date.parse(later(dayMs)) }
  expect(await verify(given)).toEqual(verified)
  now = later(dayMs - 1)
  expect(await verify(given)).toEqual(verified)
  now = later(dayMs)
  expect(await verify(given)).toBeUndefined()
})

test('a token of another key, for another audience, without a signature or with one by another method is nobody’s', async () => {
  const { token, verify } = sessionsAt(noon)
  const expiresAt = later(dayMs)
  const own = await token(identity, expiresAt)
  expect(await sessionsAt(noon, new Uint8Array(32).fill(8)).verify(own)).toBeUndefined()

  const key = purposeKey(masterKey, 'bearer-token')
  const claims = (audience: string) =>
    new SignJWT({ sid: 'a-session' })
      .setSubject('u1')
      .setAudience(audience)
      .setExpirationTime(new Date(expiresAt))
  expect(
    await verify(await claims('flightdeck').setProtectedHeader({ alg: 'HS256' }).sign(key)),
  ).toMatchObject(identity)
  expect(await verify(await claims('others').setProtectedHeader({ alg: 'HS256' }).sign(key))).toBeUndefined()
  expect(
    await verify(await claims('flightdeck').setProtectedHeader({ alg: 'HS512' }).sign(new Uint8Array(64))),
  ).toBeUndefined()
  const unsigned = new UnsecuredJWT({ sid: 'a-session' }).setSubject('u1').setAudience('flightdeck').encode()
  expect(await verify(unsigned)).toBeUndefined()
})

test('a token of another epoch of the log is nobody’s', async () => {
  const inEpoch = (epoch: number) => sessionsAt(noon, masterKey, epoch)
  const expiresAt = later(dayMs)
  const [first, second] = [
    await inEpoch(1).token(identity, expiresAt),
    await inEpoch(2).token(identity, expiresAt),
  ]
  expect(await inEpoch(2).verify(second)).toMatchObject(identity)
  expect(await inEpoch(2).verify(first)).toBeUndefined()
  expect(await inEpoch(1).verify(second)).toBeUndefined()
})

test.each(['', 'garbage', 'a.b.c', '..'])('%j is no token', async (text) => {
  expect(await sessionsAt(noon).verify(text)).toBeUndefined()
})

test('a token that lacks who or which session is nobody’s', async () => {
  const key = purposeKey(masterKey, 'bearer-token')
  const { verify } = sessionsAt(noon)
  for (const claims of [{}, { sid: 'a-session' }]) {
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience('flightdeck')
      .setExpirationTime(new Date(later(dayMs)))
      .sign(key)
    expect(await verify(token)).toBeUndefined()
  }
})

test('the token names the person and the session, and nothing else of them', async () => {
  const token = await sessionsAt(noon).token(identity, later(dayMs))
  const key = purposeKey(masterKey, 'bearer-token')
  const { payload } = await jwtVerify(token, key, { currentDate: new Date(noon) })
  expect(Object.keys(payload).toSorted()).toEqual(['aud', 'exp', 'iat', 'sid', 'sub'])
})

test.each([
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
    'Chrome on Linux',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    'Safari on iOS',
  ],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:132.0) Gecko/20100101 Firefox/132.0', 'Firefox on Windows'],
  ['curl/8.5.0', null],
  ['', null],
  [' ', null],
])('a client is told by its browser and system: %s', (header, client) => {
  expect(clientOf(header)).toBe(client)
})

test('a client that says more than any does is cut short, and harms nobody', () => {
  expect((clientOf(`${'x'.repeat(100_000)}/1.0`) ?? '').length).toBeLessThanOrEqual(100)
  expect(clientOf('a (b;'.repeat(20_000))).toSatisfy((client) => client === null || client.length <= 100)
})
