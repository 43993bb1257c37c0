/** The keys that people and projects bring: whose key is used, where it is sent, and how. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { once } from 'node:events'
import type { LookupFunction } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LeadsInside, publicLookup } from '#platform/http/addressReach.ts'
import { projectId } from '../../../tests/domain/ids.ts'
import { openTestEngines, somebody, type TestEngines } from '../../../tests/server/engines.ts'
import { checkKey } from './keyCheck.ts'
import { addressFault, keyHeaders, modelKeys, useOf, type ModelKeys, type StoredKey } from './modelKeys.ts'
import { projectSecrets } from './projectSecrets.ts'

const by = { ownerId: somebody.userId, projectId: projectId(1) }
const person = { kind: 'person', id: by.ownerId } as const
const project = { kind: 'project', id: by.projectId } as const
const own: StoredKey = { kind: 'api_key', value: 'the key of the person', baseUrl: null }
const shared: StoredKey = { ...own, value: 'the key of the project', baseUrl: 'https://gateway.example' }

describe('stored keys', () => {
  let engines: TestEngines
  let keys: ModelKeys
  beforeEach(async () => {
    engines = await openTestEngines()
    keys = modelKeys(engines)
  })
  afterEach(() => engines.close())

  test('pay in order: the person, then the project, then nobody here', async () => {
    expect(await keys.paying(by, 'anthropic')).toBeUndefined()
    expect(await keys.set(project, 'anthropic', shared)).toBe(true)
    expect(await keys.paying(by, 'anthropic')).toEqual({ payer: 'project', key: shared })
    await keys.set(person, 'anthropic', own)
    expect(await keys.paying(by, 'anthropic')).toEqual({ payer: 'person', key: own })
    // There is no key for another provider, and none for another person and project.
    expect(await keys.paying(by, 'openai')).toBeUndefined()
    expect(await keys.paying({ ownerId: 'another', projectId: projectId(2) }, 'anthropic')).toBeUndefined()
    expect(await keys.valuesOf(by)).toEqual([own.value, shared.value])
    await keys.remove(person, 'anthropic')
    expect(await keys.paying(by, 'anthropic')).toMatchObject({ payer: 'project' })
  })

  test('are no secrets of the project, and end with it and with the account', async () => {
    await keys.set(project, 'anthropic', shared)
    await keys.set(person, 'openai', own)
    const secrets = projectSecrets(engines)
    expect((await secrets.valuesOf(project.id, ['anthropic', 'AGENT_KEY'])).size).toBe(0)
    await secrets.destroy(project.id)
    await engines.vault.destroy(`user:${person.id}`)
    expect(await keys.valuesOf(by)).toEqual([])
    expect(await keys.set(project, 'anthropic', shared)).toBe(false)
    expect(await keys.set(person, 'openai', own)).toBe(false)
  })
})

describe('a key is sent', () => {
  test.each([
    ['an API key', own, { 'x-api-key': own.value }],
    [
      'to a gateway, which may read either',
      shared,
      { 'x-api-key': shared.value, authorization: `Bearer ${shared.value}` },
    ],
    [
      'the token of a subscription, with its beta',
      { ...own, kind: 'subscription' } as const,
      { authorization: `Bearer ${own.value}`, 'anthropic-beta': 'oauth-2025-04-20' },
    ],
  ])('%s', (_, key, headers) => {
    expect(keyHeaders('anthropic', key.value, useOf(key))).toEqual(headers)
    expect(keyHeaders('openai', key.value, useOf(key))).toEqual({ authorization: `Bearer ${key.value}` })
    expect(keyHeaders('google', key.value, useOf(key))).toEqual({
      'x-goog-api-key': key.value,
      ...(key === shared && { authorization: `Bearer ${key.value}` }),
    })
  })

  test('beside the betas that the client asks for', () =>
    expect(keyHeaders('anthropic', 'token', 'subscription', 'one,two')).toMatchObject({
      'anthropic-beta': 'one,two,oauth-2025-04-20',
    }))
})

describe('the address of a project', () => {
  const inside = expect.stringMatching(
    /^This address leads to the server's own machine or into a private network/,
  )
  const bare = expect.stringMatching(/^Enter an https address/)
  test.each([
    ['https://gateway.example.org/api', undefined, undefined],
    ['https://[2606:4700::1111]', undefined, undefined],
    ['http://gateway.example.org', bare, bare],
    ['http://8.8.8.8', bare, bare],
    ['http://127.0.0.1:4000', inside, undefined],
    ['http://localhost.:4000', inside, undefined],
    ['http://0x7f000001', inside, undefined],
    ['https://10.1.2.3', inside, undefined],
    ['https://[fd00::1]', inside, undefined],
    ['http://169.254.169.254', inside, inside],
    ['https://[::ffff:169.254.169.254]', inside, inside],
    ['https://0.0.0.0', inside, inside],
  ])('%s', (address, strictly, permitted) => {
    expect(addressFault(address, { mayReachPrivate: false })).toEqual(strictly)
    expect(addressFault(address, { mayReachPrivate: true })).toEqual(permitted)
  })

  test('whose name leads inside is not connected to', async () => {
    const resolved = (all: boolean) =>
      new Promise<unknown>((resolve) => publicLookup('localhost', { all }, (fault) => resolve(fault)))
    expect(await resolved(true)).toBeInstanceOf(LeadsInside)
    expect(await resolved(false)).toBeInstanceOf(LeadsInside)
    const lookup: LookupFunction = (_host, options, done) => publicLookup('localhost', options, done)
    expect(await checkKey('anthropic', shared, { address: '', lookup })).toBe('inside')
  })
})

describe('a key is tried', () => {
  let status: number
  let seen: { url: string | undefined; headers: IncomingHttpHeaders } | undefined
  const server = createServer((request, response) => {
    seen = { url: request.url, headers: request.headers }
    if (status === 0) return
    response.writeHead(status, status === 302 ? { location: 'http://127.0.0.1:1/' } : {})
    response.end('{}')
  })
  let address = ''
  beforeEach(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const at = server.address()
    address = `http://127.0.0.1:${typeof at === 'object' && at !== null ? at.port : 0}/path/`
  })
  afterEach(() => {
    server.close()
    server.closeAllConnections()
  })

  test.each([
    [200, 'accepted'],
    [401, 'refused'],
    // A valid key may be refused the list of models, and a gateway may not have such a list.
    [403, 'unknown'],
    [404, 'unknown'],
    [302, 'unknown'],
    [500, 'unknown'],
    [0, 'unknown'],
  ])('by the list of models, which answers %d: %s', async (answer, check) => {
    status = answer
    expect(await checkKey('anthropic', own, { address, withinMs: answer === 0 ? 50 : 10_000 })).toBe(check)
    expect(seen?.url).toBe('/path/v1/models')
    expect(seen?.headers).toMatchObject({ 'x-api-key': own.value, 'anthropic-version': '2023-06-01' })
  })

  test.each([
    [200, 'accepted'],
    // Google answers an unknown key with 400.
    [400, 'refused'],
    [401, 'refused'],
    [403, 'unknown'],
  ])('at Google by a list of its own, which answers %d: %s', async (answer, check) => {
    status = answer
    expect(await checkKey('google', own, { address })).toBe(check)
    expect(seen?.url).toBe('/path/v1beta/models')
    expect(seen?.headers).toMatchObject({ 'x-goog-api-key': own.value })
  })

  test('where nobody listens: unknown', async () =>
    expect(await checkKey('openai', own, { address: 'http://127.0.0.1:1' })).toBe('unknown'))
})
