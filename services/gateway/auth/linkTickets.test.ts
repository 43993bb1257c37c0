/** A ticket is valid once, for a minute, for the person and the browser that requested it. */
import { createHash, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SignJWT } from 'jose'
import { openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { tickets } from './linkTickets.ts'

let engines: TestEngines
let now: number
beforeEach(async () => {
  engines = await openTestEngines()
  now = Date.parse('2026-01-01T00:00:00.000Z')
})
afterEach(() => engines.close())

/** Makes the tickets of one more gateway on the same engines. */
const gateway = () =>
  tickets({
    recentKeys: engines.recentKeys,
    vault: engines.vault,
    clock: { now: () => new Date(now) },
    ids: { uuid: randomUUID },
  })
const identity = { userId: randomUUID(), sessionId: randomUUID() }

test('is good once, at whichever gateway', async () => {
  const { ticket, proof } = await gateway().issue(identity)
  expect(await gateway().use(ticket, proof)).toEqual(identity)
  expect(await gateway().use(ticket, proof)).toBeUndefined()
})

test('says which task its holder comes from', async () => {
  const linking = { ...identity, taskId: randomUUID() }
  const { ticket, proof } = await gateway().issue(linking)
  expect(await gateway().use(ticket, proof)).toEqual(linking)
})

test('is good once for many at once', async () => {
  const { ticket, proof } = await gateway().issue(identity)
  const uses = await Promise.all(Array.from({ length: 10 }, () => gateway().use(ticket, proof)))
  expect(uses.filter((use) => use !== undefined)).toEqual([identity])
})

test('is good for a minute', async () => {
  const [one, other] = [await gateway().issue(identity), await gateway().issue(identity)]
  now += 59_000
  expect(await gateway().use(one.ticket, one.proof)).toEqual(identity)
  now += 1_000
  expect(await gateway().use(other.ticket, other.proof)).toBeUndefined()
})

test('is good with its own other half alone, and is not used up by another', async () => {
  const [one, other] = [await gateway().issue(identity), await gateway().issue(identity)]
  for (const proof of [undefined, '', other.proof, one.ticket, `${one.proof}x`])
    expect(await gateway().use(one.ticket, proof)).toBeUndefined()
  expect(await gateway().use(one.ticket, one.proof)).toEqual(identity)
})

test('is ours: nothing else that is signed will do', async () => {
  const { proof } = await gateway().issue(identity)
  const half = createHash('sha256').update(proof).digest('hex')
  const claims = { sid: identity.sessionId, proof: half }
  const signed = (purpose: string) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(identity.userId)
      .setJti(randomUUID())
      .setExpirationTime('1h')
      .sign(engines.vault.deriveKey(purpose))
  for (const ticket of ['', 'a.b.c', await signed('bearer-token'), await signed('link-ticket')])
    expect(await gateway().use(ticket, proof)).toBeUndefined()
})
