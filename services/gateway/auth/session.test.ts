/** Whose request it is, by its bearer token. */
import Koa from 'koa'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { documents } from '#platform/reads/documents.ts'
import { sessionId, userId } from '../../../tests/domain/ids.ts'
import { listening } from '../../../tests/listening.ts'
import { openAccess, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { authenticate } from './session.ts'

let engines: TestEngines
let reads: number
beforeEach(async () => {
  engines = await openTestEngines()
  reads = 0
})
afterEach(() => engines.close())

/** Records the person, who has ended these sessions. */
async function signedOutOf(...ended: readonly string[]): Promise<void> {
  const document = { id: userId(1), endedSessions: ended.map((id) => ({ sessionId: id })) }
  await engines.readStore.apply([{ kind: 'put', collection: 'users', document, position: '1' }], null)
}

/** Starts a server that answers with the identity of each request. The tokens are ids of sessions. */
async function answering(): Promise<(token: string) => Promise<unknown>> {
  const { get } = documents(engines.readStore, engines.log)
  const app = new Koa()
  app.use(
    authenticate({
      sessions: { verify: async (token) => ({ userId: userId(1), sessionId: token, endsAt: Infinity }) },
      accessControl: openAccess,
      documents: {
        get: (view, id) => {
          reads += 1
          return get(view, id)
        },
      },
    }),
  )
  app.use((context) => {
    context.body = { identity: context.state.identity }
  })
  const origin = await listening(app.callback())
  return async (token) => {
    const headers = token === '' ? {} : { authorization: `Bearer ${token}` }
    return (await fetch(origin, { headers })).json()
  }
}

test('a request is of the person whose session has not ended, who is not read again for each', async () => {
  await signedOutOf(sessionId(2))
  const ask = await answering()
  for (const _ of [1, 2, 3])
    expect(await ask(sessionId(1))).toMatchObject({
      identity: { userId: userId(1), sessionId: sessionId(1) },
    })
  expect(reads).toBe(1)
})

test('a request without a token, or with that of a session that has ended, is nobody’s', async () => {
  await signedOutOf(sessionId(2))
  const ask = await answering()
  for (const token of ['', sessionId(2), sessionId(2)]) expect(await ask(token)).toEqual({ identity: null })
})

test('a request of a person whom the read models do not have yet is left to the guards', async () => {
  const ask = await answering()
  expect(await ask(sessionId(1))).toMatchObject({ identity: { userId: userId(1) } })
})
