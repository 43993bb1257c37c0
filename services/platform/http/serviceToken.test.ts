import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SignJWT, UnsecuredJWT } from 'jose'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Vault } from '#platform/ports/vault.ts'
import { openSqliteVault } from '#platform/vault/sqlite.ts'
import { serviceTokens } from './serviceToken.ts'
import { sessions } from './session.ts'

let folder: string
let vault: Vault
let now: number
const clock = { now: () => new Date(now) }
const person = { userId: 'u1', sessionId: 's1' }

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flightdeck-token-'))
  vault = openSqliteVault({ file: join(folder, 'vault.sqlite'), masterKey: randomBytes(32) })
  now = Date.parse('2025-01-02T03:04:05Z')
})
afterEach(async () => {
  await vault.close()
  await rm(folder, { recursive: true })
})

test('a token carries for whom a service asks, or that it is for nobody', async () => {
  const tokens = serviceTokens({ vault, clock })
  expect(await tokens.verify('command', await tokens.issue('command', person))).toEqual({ identity: person })
  expect(await tokens.verify('query', await tokens.issue('query', null))).toEqual({ identity: null })
})

test('a token is for one service and one minute', async () => {
  const tokens = serviceTokens({ vault, clock })
  const token = await tokens.issue('command', person)
  expect(await tokens.verify('query', token)).toBeUndefined()
  now += 59_000
  expect(await tokens.verify('command', token)).toEqual({ identity: person })
  now += 2_000
  expect(await tokens.verify('command', token)).toBeUndefined()
})

test('a token under another master key, a bearer token, and one that is signed by nobody are refused', async () => {
  const tokens = serviceTokens({ vault, clock })
  const other = openSqliteVault({ file: join(folder, 'other.sqlite'), masterKey: randomBytes(32) })
  const bearer = sessions({ vault, clock, ids: { uuid: () => 'id' } }, { epoch: 1 })
  const exp = new Date(now + 30_000)
  const refused = [
    await serviceTokens({ vault: other, clock }).issue('command', person),
    await bearer.token(person, exp.toISOString()),
    new UnsecuredJWT({ for: person }).setAudience('flightdeck:command').setExpirationTime(exp).encode(),
    await new SignJWT({ for: person })
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience('flightdeck:command')
      .sign(vault.deriveKey('service-token')),
    '',
  ]
  for (const token of refused) expect(await tokens.verify('command', token)).toBeUndefined()
  await other.close()
})
