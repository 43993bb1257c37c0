/** Deliveries that were missed are found at the local code host and recorded once, with real engines. */
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from 'vitest'
import { githubApps } from '#platform/codehost/githubApps.ts'
import { requestsTo } from '#platform/codehost/request.ts'
import { deliveryStream } from '#domain/kernel/streams.ts'
import { recordMissed, type MissedDeliveriesDeps } from '../../services/gateway/webhooks/missedDeliveries.ts'
import { openTestEngines, type TestEngines } from '../server/engines.ts'
import { askRest } from './codeHost.apps.fixture.ts'
import {
  clientId,
  clientSecret,
  signIn,
  startLocal,
  temporaryFolder,
  type Folder,
  type LocalCodeHost,
} from './codeHost.fixture.ts'

let folder: Folder
let local: LocalCodeHost
let ada: string
let hook: Server
let status = 500
let engines: TestEngines

beforeAll(async () => {
  folder = await temporaryFolder()
  hook = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status).end())
  })
  await new Promise<void>((listening) => hook.listen(0, '127.0.0.1', listening))
  const at = hook.address()
  const url = `http://127.0.0.1:${typeof at === 'object' && at ? at.port : 0}/hook`
  local = await startLocal(join(folder.path, 'data'), { hook: { url, secret: 's' } })
  ada = (await signIn(local.codeHost, 'ada')).accessToken
})
afterAll(async () => {
  await local.stop()
  await new Promise((closed) => hook.close(closed))
  await folder.remove()
})
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

function missing(): MissedDeliveriesDeps & { readonly asked: string[] } {
  const asked: string[] = []
  const requests = requestsTo({
    apiUrl: local.api,
    serverUrl: local.url,
    paced: false,
    onSpent: ({ path }) => asked.push(path),
  })
  const { app } = local
  if (!app) throw new Error('No App is registered.')
  const codeHostApps = githubApps({
    serverUrl: local.url,
    requests,
    app: async () => ({
      appId: String(app.id),
      slug: app.slug,
      name: app.slug,
      htmlUrl: null,
      clientId,
      clientSecret,
      privateKey: app.privateKey,
      webhookSecret: 's',
    }),
  })
  return { ...engines, codeHostApps, asked }
}

async function comment(body: string): Promise<void> {
  const path = '/repos/ada/sample/issues'
  const answer = await askRest(local.api, ['POST', path], { token: ada, body: { title: body } })
  expect(answer.status).toBe(201)
  await local.webhooks.settled()
}

async function recorded(): Promise<readonly string[]> {
  const day = new Date().toISOString().slice(0, 10)
  const found = await engines.log.read(deliveryStream(day), 0, 1_000)
  return found.flatMap((event) => (event.type === 'DeliveryReceived' ? [event.data.guid] : []))
}

test('what failed is recorded once, in the order in which it happened; what arrived is left alone', async () => {
  status = 202
  await comment('it arrived')
  status = 500
  await comment('one')
  await comment('two')
  const failed = local.webhooks.list().filter(({ outcome }) => outcome?.statusCode === 500)
  const guids = failed.map(({ guid }) => guid).toReversed()
  // Sent again, and failed again: still one delivery.
  local.webhooks.redeliver(failed[0]?.id ?? 0)
  await local.webhooks.settled()
  const deps = missing()
  expect(await recordMissed(deps)).toBe(2)
  expect(await recorded()).toEqual(guids)
  const fetched = deps.asked.filter((path) => /deliveries\/\d+$/.test(path))
  expect(fetched).toHaveLength(2)
  // Again, and after a restart: nothing is fetched or recorded a second time.
  const again = missing()
  expect(await recordMissed(again)).toBe(0)
  expect(again.asked.filter((path) => /deliveries\/\d+$/.test(path))).toEqual([])
  expect(await recorded()).toEqual(guids)
})

test('a round that is broken off goes on with the next', async () => {
  const stopping = new AbortController()
  const deps = missing()
  const { deliveryPayload } = deps.codeHostApps
  const broken: MissedDeliveriesDeps = {
    ...deps,
    codeHostApps: {
      ...deps.codeHostApps,
      deliveryPayload: (id) => {
        stopping.abort()
        return deliveryPayload(id)
      },
    },
  }
  expect(await recordMissed(broken, stopping.signal)).toBe(1)
  expect(await recordMissed(missing())).toBe(1)
  expect(new Set(await recorded()).size).toBe(2)
})
