/** A stored App is recorded in the audit log, even if the process ends between storing and recording it. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openInProcessLeases } from '#platform/leases/inProcess.ts'
import type { AppRegistration } from '#platform/ports/codeHostApp.ts'
import type { Leases } from '#platform/ports/leases.ts'
import { openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { registerApp, recordUnrecordedApp } from './registerApp.ts'

let engines: TestEngines
let leases: Leases
beforeEach(async () => {
  engines = await openTestEngines()
  leases = openInProcessLeases({ onFault: () => undefined })
})
afterEach(async () => {
  await leases.close()
  await engines.close()
})

const app: AppRegistration = {
  appId: '42',
  slug: 'flightdeck',
  name: 'Flightdeck',
  htmlUrl: null,
  clientId: 'Iv1.a',
  clientSecret: 'a secret',
  privateKey: null,
  webhookSecret: 'another',
}

const starting = (kept: AppRegistration | undefined) =>
  recordUnrecordedApp({ ...engines, leases, hostApp: { current: async () => kept } })
const keeping = (keep: () => Promise<boolean>) =>
  registerApp({ ...engines, leases, hostApp: { keep } }, app, '00000000-a000-4000-8000-000000000001')
const recorded = async () =>
  (await engines.eventStore.readAll(null, 100)).filter(({ type }) => type === 'CodeHostAppRegistered')

test('one that nobody recorded is recorded at a start, once', async () => {
  await starting(app)
  await Promise.all([starting(app), starting(app)])
  expect(await recorded()).toMatchObject([{ data: { hasWebhook: true } }])
})

test('one that was recorded as it was made is not recorded again, and none is recorded where there is none', async () => {
  await starting(undefined)
  expect(await recorded()).toEqual([])
  await keeping(async () => true)
  await starting(app)
  expect(await recorded()).toHaveLength(1)
})

test('one that is kept while another process starts is recorded once, with who made it', async () => {
  let starts: Promise<void> | undefined
  await keeping(async () => {
    starts = starting(app)
    await new Promise((later) => {
      setImmediate(later)
    })
    return true
  })
  await starts
  expect(await recorded()).toMatchObject([{ meta: { actor: { kind: 'user' } } }])
})
