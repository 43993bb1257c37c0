/** Digests of images, from a registry of our own on loopback. */
import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digestOf, pin } from '../../scripts/imageDigests.js'

const digest = `sha256:${'ab'.repeat(32)}`
const other = `sha256:${'cd'.repeat(32)}`

/** @type {import('node:http').Server} */
let registry
let host = ''
/** @type {string[]} */
let asked
beforeAll(async () => {
  asked = []
  registry = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://registry')
    if (pathname === '/token') {
      const isFit = searchParams.get('scope') === 'repository:team/guarded:pull'
      return response.end(JSON.stringify({ token: isFit ? 'for anybody' : '' }))
    }
    const isIndex = /image\.index/.test(request.headers.accept ?? '')
    if (pathname === '/v2/team/guarded/manifests/1' && request.headers.authorization !== 'Bearer for anybody')
      return response
        .writeHead(401, {
          'www-authenticate': `Bearer realm="http://${host}/token",service="registry",scope="repository:team/guarded:pull"`,
        })
        .end()
    if (pathname === '/v2/closed/manifests/1')
      return response.writeHead(401, { 'www-authenticate': 'Basic realm="registry"' }).end()
    if (!/^\/v2\/(engine|team\/guarded)\/manifests\/1$/.test(pathname)) return response.writeHead(404).end()
    response.writeHead(200, { 'docker-content-digest': isIndex ? digest : other }).end()
  })
  await new Promise((resolve) => {
    registry.listen(0, '127.0.0.1', () => resolve(undefined))
  })
  const address = registry.address()
  host = `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
})
afterAll(() => registry.close())

describe('finding low: the digest of a tag', () => {
  test('is the one for all architectures', async () => {
    expect(await digestOf(`${host}/engine:1`)).toBe(digest)
    expect(asked).toEqual(['HEAD /v2/engine/manifests/1'])
  })

  test('is had from a registry that gives tokens to anybody', async () =>
    expect(await digestOf(`${host}/team/guarded:1`)).toBe(digest))

  test.each([
    ['engine:2', 'the registry answered 404'],
    ['closed:1', 'its registry wants to know who asks'],
  ])('of %s cannot be had: %s', async (name, why) => {
    await expect(digestOf(`${host}/${name}`)).rejects.toThrow(why)
  })

  test('cannot be had where nobody answers', async () => {
    await expect(digestOf('127.0.0.1:1/engine:1')).rejects.toThrow('does not answer')
  })
})

describe('finding low: a file', () => {
  const file = (/** @type {string} */ node, /** @type {string} */ mongo) =>
    `ARG NODE_IMAGE=${node}\nimage: \${MONGODB_IMAGE:-${mongo}}\nimage: \${SERVICE_IMAGE:-flightdeck/service}\n`
  const digests = async (/** @type {string} */ name) => (name === 'node:24' ? digest : other)

  test('gets the digest of each tag, and says which were missing or others', async () => {
    const { pinned, wrong } = await pin(file('node:24', `mongo:8.0@${digest}`), digests)
    expect(pinned).toBe(file(`node:24@${digest}`, `mongo:8.0@${other}`))
    expect(wrong).toEqual([`node:24 is ${digest}`, `mongo:8.0 is ${other}, and was ${digest}`])
  })

  test('that has them stays as it is', async () => {
    const text = file(`node:24@${digest}`, `mongo:8.0@${other}`)
    expect(await pin(text, digests)).toEqual({ pinned: text, wrong: [] })
  })
})
