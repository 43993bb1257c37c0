/** A request that takes too long is answered, and the work that it leaves behind does no harm. */
import Koa from 'koa'
import { expect, test } from 'vitest'
import { logger } from '#platform/log.ts'
import { faultResponses } from './faultResponses.ts'
import { timeLimit } from './timeLimit.ts'

test('one that takes too long is a 504; one in time is answered as it is', async () => {
  let goOn: () => void = () => {}
  const held = new Promise<void>((resolve) => (goOn = resolve))
  let finished: unknown
  const app = new Koa()
  app.silent = true
  app.use(faultResponses(logger('silent'), () => 'request-1'))
  app.use(timeLimit(50))
  app.use(async (context) => {
    if (context.path === '/slow') await held
    context.body = { path: context.path }
    finished = context.path
  })
  const server = app.listen(0, '127.0.0.1')
  try {
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const base = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
    const slow = await fetch(`${base}/slow`)
    expect([slow.status, await slow.json()]).toMatchObject([504, { code: 'timeout' }])
    goOn()
    const quick = await fetch(`${base}/quick`)
    expect([quick.status, await quick.json()]).toEqual([200, { path: '/quick' }])
    expect(finished).toBe('/quick')
  } finally {
    server.close()
  }
})
