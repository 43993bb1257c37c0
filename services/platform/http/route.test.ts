/** Routes on a real server: who makes a request, what it contains, and how it is answered. */
import type { Server } from 'node:http'
import Koa from 'koa'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineWrite } from '#domain/api/call.schema.ts'
import { Fault, faultCodes, faults } from '#domain/kernel/errors.ts'
import { logger } from '#platform/log.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { faultResponses } from './faultResponses.ts'
import { createBodies, readJson } from './bodies.ts'
import { mount, routeWith, type Route } from './route.ts'
import type { Identity } from './session.ts'

const somebody: Identity = { userId: 'u1', sessionId: 's1' }
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

let server: Server | undefined
afterEach(
  () =>
    new Promise<void>((resolve) => {
      if (server) server.close(() => resolve())
      else resolve()
    }),
)

/** Starts a server with the routes. Returns a function that sends requests to it. */
async function serving(routes: readonly Route<object>[], identity: Identity | null = somebody) {
  let count = 0
  const fresh = () => `fresh-${(count += 1)}`
  const app = new Koa()
  app.silent = true
  app.use(faultResponses(logger('silent'), () => 'request-1'))
  app.use(readJson(createBodies()))
  app.use((context, next) => {
    context.state.identity = identity
    return next()
  })
  const idempotency = { accept: async () => ({ again: false }), digestOf: () => '' }
  app.use(mount('/api', routes, {}, { fresh, idempotency }))
  const listening = app.listen(0, '127.0.0.1')
  server = listening
  await new Promise((resolve) => listening.once('listening', resolve))
  const address = listening.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return async (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body }),
    })
    const text = await response.text()
    const answer: unknown = text.startsWith('{') ? JSON.parse(text) : text
    const { headers: sent } = response
    return {
      status: response.status,
      body: answer,
      requestId: sent.get('x-request-id'),
      type: sent.get('content-type'),
    }
  }
}

const thing = {
  ...defineWrite({ method: 'POST', path: '/things/:thingId' } as const, {
    summary: 'For the test.',
    params: z.object({ thingId: z.string().max(3, 'A short id.') }),
    body: z.object({
      name: z.string('Give a name.'),
      inner: z.object({ deep: z.number('A number.') }).optional(),
    }),
    status: 201,
    answer: {},
  }),
  query: z.object({ limit: z.coerce.number().max(9, 'At most nine.').default(5) }),
  answer: z.unknown(),
}
const route = routeWith<object>()

describe('a route', () => {
  test('is given its input checked and completed, and answers with the status of its call', async () => {
    const ask = await serving([
      route(
        thing,
        async () => ({ first: 1 }),
        async ({ first }) => ({ second: first + 1 }),
        async ({ params, query, body, identity, first, second, commandId }) => ({
          params,
          query,
          body,
          identity,
          first,
          second,
          commandId,
        }),
      ),
    ])
    expect(await ask('POST', '/api/things/t%201?limit=7', '{"name":"n","more":"dropped"}')).toEqual({
      status: 201,
      requestId: 'request-1',
      type: 'application/json; charset=utf-8',
      body: {
        params: { thingId: 't 1' },
        query: { limit: 7 },
        body: { name: 'n' },
        identity: somebody,
        first: 1,
        second: 2,
        commandId: 'fresh-1',
      },
    })
  })

  test('may answer with the JSON itself', async () => {
    const ask = await serving([
      route(
        thing,
        async () => ({}),
        async () => Buffer.from('{"name":"näher"}'),
      ),
    ])
    const answer = await ask('POST', '/api/things/t', '{"name":"n"}')
    expect(answer).toMatchObject({ status: 201, body: { name: 'näher' } })
    expect(answer.type).toBe('application/json; charset=utf-8')
  })

  test('runs its guards in order, and nothing after one that refuses', async () => {
    const ran: string[] = []
    const ask = await serving([
      route(
        thing,
        async () => {
          ran.push('first')
          return {}
        },
        async () => {
          ran.push('second')
          throw new Fault('not_found', 'There is no such thing here.')
        },
        async () => {
          ran.push('handler')
          return {}
        },
      ),
    ])
    expect(await ask('POST', '/api/things/t', '{"name":"n"}')).toMatchObject({
      status: 404,
      body: { code: 'not_found', error: 'There is no such thing here.', requestId: 'request-1' },
    })
    expect(ran).toEqual(['first', 'second'])
  })

  test.each([
    ['the address', '/api/things/long-id', '{"name":"n"}', 'thingId', 'A short id.'],
    ['the query', '/api/things/t?limit=10', '{"name":"n"}', 'limit', 'At most nine.'],
    ['the body', '/api/things/t', '{}', 'name', 'Give a name.'],
    [
      'the body, deep inside',
      '/api/things/t',
      '{"name":"n","inner":{"deep":"x"}}',
      'inner.deep',
      'A number.',
    ],
    ['the body that is not there', '/api/things/t', undefined, 'name', 'Give a name.'],
  ])('refuses a fault in %s by its field', async (_, path, body, field, error) => {
    const ask = await serving([
      route(
        thing,
        async () => ({}),
        async () => ({}),
      ),
    ])
    expect(await ask('POST', path, body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', field, error },
    })
  })

  test('tells who has not signed in, before it looks at the input', async () => {
    const ask = await serving(
      [
        route(
          thing,
          async () => ({}),
          async () => ({}),
        ),
      ],
      null,
    )
    expect(await ask('POST', '/api/things/much-too-long', 'no json')).toMatchObject({ status: 400 })
    expect(await ask('POST', '/api/things/much-too-long', '{}')).toMatchObject({
      status: 401,
      body: { code: 'sign_in_required' },
    })
  })

  test('tells who may not use the call so, before what is wrong with the input', async () => {
    const ask = await serving([
      route(
        thing,
        async () => {
          throw new Fault('onboarding_incomplete')
        },
        async () => ({}),
      ),
    ])
    for (const body of ['{}', '{"name":"n"}'])
      expect(await ask('POST', '/api/things/t', body)).toMatchObject({
        status: 403,
        body: { code: 'onboarding_incomplete' },
      })
  })

  test('leaves other addresses and methods to who comes next', async () => {
    const ask = await serving([
      route(
        thing,
        async () => ({}),
        async () => ({}),
      ),
    ])
    for (const [method, path] of [
      ['POST', '/api/others/t'],
      ['GET', '/api/things/t'],
      ['POST', '/things/t'],
    ] as const) {
      expect(await ask(method, path, method === 'GET' ? undefined : '{}')).toMatchObject({
        status: 404,
        body: 'Not Found',
      })
    }
  })
})

describe('the command id', () => {
  const echo = route(
    thing,
    async () => ({}),
    async ({ commandId }) => ({ commandId }),
  )
  const idOf = async (ask: Awaited<ReturnType<typeof serving>>, path: string, key: string) => {
    const { body } = await ask('POST', path, '{"name":"n"}', { 'idempotency-key': key })
    return z.object({ commandId: z.string() }).parse(body).commandId
  }

  test('is one for the same key, person and address, and another when any of these is', async () => {
    const ask = await serving([echo])
    const first = await idOf(ask, '/api/things/a', 'key')
    expect(first).toMatch(uuid)
    expect(await idOf(ask, '/api/things/a', 'key')).toBe(first)
    expect(await idOf(ask, '/api/things/a?limit=2', 'key')).toBe(first)
    expect(await idOf(ask, '/api/things/a', 'other')).not.toBe(first)
    expect(await idOf(ask, '/api/things/b', 'key')).not.toBe(first)
    server?.close()
    const other = await serving([echo], { userId: 'u2', sessionId: 's1' })
    expect(await idOf(other, '/api/things/a', 'key')).not.toBe(first)
    server?.close()
    const elsewhere = await serving([echo], { userId: 'u1', sessionId: 's2' })
    expect(await idOf(elsewhere, '/api/things/a', 'key')).toBe(first)
  })

  test('is fresh without a key', async () => {
    const ask = await serving([echo])
    expect((await ask('POST', '/api/things/a', '{"name":"n"}')).body).toEqual({ commandId: 'fresh-1' })
    expect((await ask('POST', '/api/things/a', '{"name":"n"}')).body).toEqual({ commandId: 'fresh-2' })
  })
})

describe('a fault', () => {
  const failing = (fault: unknown) =>
    route(
      thing,
      async () => ({}),
      () => Promise.reject(fault),
    )
  const answerTo = async (fault: unknown) =>
    (await serving([failing(fault)]))('POST', '/api/things/t', '{"name":"n"}')

  test.each(faultCodes)('%s is answered with its status and sentence', async (code) => {
    expect(await answerTo(new Fault(code))).toMatchObject({
      status: faults[code].status,
      body: { code, error: faults[code].sentence },
    })
  })

  test('of the code host is told in its own words', async () => {
    expect(await answerTo(new CodeHostFault('invalid', 'name already exists on this account'))).toMatchObject(
      {
        status: 422,
        body: { code: 'code_host_refused', error: 'name already exists on this account' },
      },
    )
    expect(await answerTo(new CodeHostFault('unauthorized', 'Bad credentials'))).toMatchObject({
      status: 403,
      body: { code: 'github_not_connected' },
    })
    expect(await answerTo(new CodeHostFault('unavailable', 'It does not answer.'))).toMatchObject({
      status: faults.code_host_unavailable.status,
      body: { code: 'code_host_unavailable' },
    })
  })

  test('of an engine that is away says to try again', async () => {
    expect(await answerTo(new EngineUnavailable('The event store'))).toMatchObject({
      status: 503,
      body: { code: 'engine_unavailable' },
    })
  })

  test('of a history that cannot be read says so, and not where', async () => {
    const event = { stream: 'task-1', revision: 7, type: 'TaskUpdated' }
    const { status, body } = await answerTo(new UnreadableEvent(event, 'broken_chain'))
    expect({ status, body }).toEqual({
      status: 409,
      body: { error: faults.history_unreadable.sentence, code: 'history_unreadable', requestId: 'request-1' },
    })
  })

  test.each([new Error('the password is plugh'), new TypeError('x is undefined'), 'a text', undefined])(
    'that nobody thought of (%s) is answered without its insides',
    async (fault) => {
      const { status, body } = await answerTo(fault)
      expect({ status, body }).toEqual({
        status: 500,
        body: { error: faults.internal.sentence, code: 'internal', requestId: 'request-1' },
      })
    },
  )

  test('of a body that is too large or no JSON is the sender’s', async () => {
    const ask = await serving([
      route(
        thing,
        async () => ({}),
        async () => ({}),
      ),
    ])
    expect(await ask('POST', '/api/things/t', JSON.stringify({ name: 'x'.repeat(2_000_000) }))).toMatchObject(
      {
        status: 413,
        body: { code: 'too_large' },
      },
    )
    expect(await ask('POST', '/api/things/t', '{"name"')).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', error: 'The body is not valid JSON.' },
    })
  })
})
