import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Middleware } from 'koa'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { logger } from '#platform/log.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { openSqliteVault } from '#platform/vault/sqlite.ts'
import { startServiceApp, type RunningService } from './serviceApp.ts'
import { noTelemetry } from '#platform/telemetry/telemetry.ts'
import { serviceTokens, type ServiceTokens } from './serviceToken.ts'

let folder: string
let vault: Vault
let tokens: ServiceTokens
let service: RunningService
let parts: Map<string, () => Promise<void>>
/** Is called when the slow call has arrived. */
let arrived: () => void
const person = { userId: 'u1', sessionId: 's1' }

const api: Middleware = async (context, next) => {
  if (context.path === '/api/slow') {
    arrived()
    await pause(200)
    context.body = 'done'
    return
  }
  if (context.path !== '/api/echo') return next()
  context.body = { identity: context.state.identity, body: context.request.body ?? null }
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flightdeck-service-'))
  vault = openSqliteVault({ file: join(folder, 'vault.sqlite'), masterKey: randomBytes(32) })
  tokens = serviceTokens({ vault, clock: { now: () => new Date() } })
  parts = new Map()
  service = await startServiceApp(
    { apis: new Map([['command', api]]), host: '127.0.0.1', port: 0, parts },
    { tokens, logger: logger('silent'), ids: { uuid: () => randomUUID() }, emit: noTelemetry },
  )
})
afterEach(async () => {
  await service.stop()
  await vault.close()
  await rm(folder, { recursive: true })
})

const address = (path: string) => `http://127.0.0.1:${service.port}${path}`
const shown = async (callee: 'command' | 'query' = 'command') => ({
  authorization: `Bearer ${await tokens.issue(callee, person)}`,
})

test('a call with a service token is served for the person it names', async () => {
  const answer = await fetch(address('/api/echo'), {
    method: 'POST',
    headers: { ...(await shown()), 'content-type': 'application/json' },
    body: '{"a":1}',
  })
  expect(await answer.json()).toEqual({ identity: person, body: { a: 1 } })
})

test('a call without a token, or with one for another service, is refused with a challenge', async () => {
  for (const headers of [{}, { authorization: 'Bearer x' }, await shown('query')]) {
    const answer = await fetch(address('/api/echo'), { method: 'POST', headers })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="flightdeck-service"')
    expect(await answer.json()).toMatchObject({ code: 'sign_in_required' })
  }
})

test('a read is not answered where no query service is, whatever it shows', async () => {
  const answer = await fetch(address('/api/echo'), { headers: await shown('query') })
  expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'not_found' }])
})

test('an unknown call, a body that is no JSON and one that is too large are answered in the words of the API', async () => {
  const unknown = await fetch(address('/api/unknown'), { method: 'PUT', headers: await shown() })
  expect([unknown.status, await unknown.json()]).toMatchObject([404, { code: 'not_found' }])
  for (const [body, status, code] of [
    ['{', 400, 'invalid_input'],
    [JSON.stringify('a'.repeat(2_000_000)), 413, 'too_large'],
  ] as const) {
    const headers = { ...(await shown()), 'content-type': 'application/json' }
    const answer = await fetch(address('/api/echo'), { method: 'POST', headers, body })
    expect([answer.status, await answer.json()]).toMatchObject([status, { code }])
  }
})

test('health is told to everybody: alive always, ready while every part answers', async () => {
  parts.set('jobs', async () => {})
  expect(await (await fetch(address('/healthz'))).json()).toEqual({ alive: true })
  const well = await fetch(address('/readyz'))
  expect([well.status, await well.json()]).toEqual([200, { ready: true, parts: { jobs: true }, details: {} }])
  parts.set('bus', () => Promise.reject(new Error('away')))
  parts.set('vault', () => new Promise(() => {}))
  const ill = await fetch(address('/readyz'))
  expect([ill.status, await ill.json()]).toEqual([
    503,
    { ready: false, parts: { jobs: true, bus: false, vault: false }, details: {} },
  ])
  expect((await fetch(address('/healthz'))).status).toBe(200)
})

test('stopping lets a call that runs finish', async () => {
  const arrives = new Promise<void>((resolve) => (arrived = resolve))
  const running = fetch(address('/api/slow'), { method: 'POST', headers: await shown() })
  await arrives
  await service.stop()
  expect(await (await running).text()).toBe('done')
  await expect(fetch(address('/healthz'))).rejects.toThrow('fetch failed')
})

test('a body that is no UTF-8 is refused instead of changed, and one in UTF-8 is read as it is', async () => {
  const send = async (body: string, encoding: BufferEncoding) => {
    const headers = { ...(await shown()), 'content-type': 'application/json' }
    const answer = await fetch(address('/api/echo'), {
      method: 'POST',
      headers,
      body: Buffer.from(body, encoding),
    })
    return [answer.status, await answer.json()]
  }
  expect(await send('{"a":"caf\xe9"}', 'latin1')).toMatchObject([
    400,
    { code: 'invalid_input', error: 'The body is not valid UTF-8. Send JSON encoded as UTF-8.' },
  ])
  expect(await send('{"a":"café 🚀 \uFFFD"}', 'utf8')).toMatchObject([200, { body: { a: 'café 🚀 \uFFFD' } }])
  // RFC 8259, 8.1: some clients begin with a byte order mark, which may be ignored.
  expect(await send('\uFEFF{"a":"plain"}', 'utf8')).toMatchObject([200, { body: { a: 'plain' } }])
  for (const none of ['"words"', 'null', '7', '{"a":', '{"__proto__":{"a":1}}', '{"é":1,"__proto__":{}}'])
    expect(await send(none, 'utf8')).toMatchObject([
      400,
      { code: 'invalid_input', error: 'The body is not valid JSON.' },
    ])
})
