/** The public door: a path is read in one way only, an address is not what somebody says it is, and a foreign name is not ours. */
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startProduct, type Product } from '../product.ts'

interface Answer {
  readonly status: number
  readonly body: string
}

/** A request as it is written on the wire: no client mends its path, its `Host` or what is sent twice. */
function ask(
  product: Product,
  {
    method = 'GET',
    path,
    headers = {},
    body,
  }: {
    readonly method?: string
    readonly path: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string | Buffer
  },
): Promise<Answer> {
  const { hostname, port } = new URL(product.base)
  return new Promise((resolve, reject) => {
    const asked = request({ hostname, port, method, path, headers, setHost: headers['host'] === undefined })
    asked.once('error', reject)
    asked.once('response', (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => (text += chunk))
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body: text }))
    })
    asked.end(body)
  })
}

describe('finding 12: another spelling of a path', () => {
  let product: Product
  beforeAll(async () => {
    product = await startProduct({ env: { REQUESTS_PER_MINUTE: '5' } })
  })
  afterAll(() => product?.stop())

  test.each([
    '/API/auth/me',
    '/Api/Auth/Me',
    '/api/AUTH/me',
    '//api/auth/me',
    '/api//auth/me',
    '/api/./auth/me',
    '/x/../api/auth/me',
    '/%61pi/auth/me',
    '/api%2Fauth%2Fme',
    '/api/auth/me/',
    '/api/auth/me;x',
  ])('%s is no way past the limits: it is counted, or it is no call', async (path) => {
    // Twice as many as an address may ask for, and one.
    const asked = await Promise.all(Array.from({ length: 11 }, () => ask(product, { path })))
    const called = asked.filter(({ body }) => body.includes('sign_in_required'))
    expect(called.length).toBeLessThanOrEqual(10)
  })

  test.each(['/API/auth/login', '/api/auth/LOGIN', '//api/auth/login', '/api/auth//login'])(
    'a write to %s is no call',
    async (path) => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ email: 'a@example.com', password: 'a password' })
      const { status } = await ask(product, { method: 'POST', path, headers, body })
      expect([404, 405, 429]).toContain(status)
    },
  )
})

describe('finding 11: behind a proxy', () => {
  let product: Product
  beforeAll(async () => {
    product = await startProduct({ env: { REQUESTS_PER_MINUTE: '5', TRUST_PROXY: '1' } })
  })
  afterAll(() => product?.stop())

  test('what somebody wrote before the address that the proxy added gives no new limit', async () => {
    const asked = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        ask(product, {
          path: '/api/auth/me',
          headers: { 'x-forwarded-for': `192.0.2.${n}, 198.51.100.7` },
        }),
      ),
    )
    expect(asked.filter(({ status }) => status === 429)).toHaveLength(20)
  })
})

describe('finding low: what comes to the door', () => {
  let product: Product
  beforeAll(async () => {
    product = await startProduct()
  })
  afterAll(() => product?.stop())

  test.each(['evil.example', 'evil.example:8080', 'localhost.evil.example', '127.0.0.1.evil.example', ''])(
    'under the foreign name %j is refused, whatever it asks for',
    async (host) => {
      for (const path of ['/', '/api/auth/me', '/readyz', '/socket.io/?EIO=4&transport=polling']) {
        const { status, body } = await ask(product, { path, headers: { host } })
        expect([400, 403, 421]).toContain(status)
        expect(body).not.toContain('"sid"')
      }
    },
  )

  test.each(['localhost', 'LOCALHOST:1', '127.0.0.1', '[::1]:8080', 'app.localhost'])(
    'under the name %j, which no other site can have, is answered',
    async (host) => {
      expect(await ask(product, { path: '/healthz', headers: { host } })).toMatchObject({ status: 200 })
    },
  )

  test('a socket that a page of another site opens is refused', async () => {
    const path = '/socket.io/?EIO=4&transport=polling'
    const foreign = await ask(product, { path, headers: { origin: 'https://evil.example' } })
    expect(foreign.status).toBe(403)
    const own = await ask(product, { path, headers: { origin: product.base } })
    expect(own.status).toBe(200)
  })

  test.each(['br', 'gzip', 'deflate'])(
    'a body that is no %s is bad input, also without a token',
    async (coding) => {
      const headers = { 'content-type': 'application/json', 'content-encoding': coding }
      const { status, body } = await ask(product, {
        method: 'POST',
        path: '/api/auth/login',
        headers,
        body: Buffer.from([0xff, 0xfe, 0x00, 0x01, 0x02, 0x7b, 0x7d, 0x00]),
      })
      expect(status).toBe(400)
      expect(body).toContain('invalid_input')
    },
  )
})
