/** Which App the product uses, and how processes learn of one that is created while they run. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openInProcessLeases } from '#platform/leases/inProcess.ts'
import type { AppRegistration } from '#platform/ports/codeHostApp.ts'
import type { Leases } from '#platform/ports/leases.ts'
import { openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { hostApp, type HostApp } from './hostApp.ts'

let engines: TestEngines
let leases: Leases
const opened: HostApp[] = []
beforeEach(async () => {
  engines = await openTestEngines()
  leases = openInProcessLeases({ onFault: () => undefined })
})
afterEach(async () => {
  for (const one of opened.splice(0)) one.close()
  await leases.close()
  await engines.close()
})

const registration = (slug: string): AppRegistration => ({
  appId: '42',
  slug,
  name: slug,
  htmlUrl: `https://github.com/apps/${slug}`,
  clientId: 'Iv1.a',
  clientSecret: 'a secret',
  privateKey: '-----BEGIN RSA PRIVATE KEY-----',
  webhookSecret: null,
})

/** Opens the App in one more process. The clock stands still, so that the process's cached App never expires. */
function openProcess(configured: AppRegistration | null = null, codeHostName = 'github.com'): HostApp {
  const clock = { now: () => new Date(0) }
  const app = hostApp({ ...engines, configured, codeHostName, leases, clock })
  opened.push(app)
  return app
}

test('an App that is made while processes run is known to each once the log tells of it', async () => {
  const [one, other] = [openProcess(), openProcess()]
  expect(await other.current()).toBeUndefined()
  expect(await one.keep(registration('first'))).toBe(true)
  expect(await one.current()).toEqual(registration('first'))
  expect(await other.current()).toBeUndefined()
  engines.bus.publish('appended', { stream: 'audit', revision: 0, type: 'CodeHostAppRegistered' })
  await expect.poll(() => other.current()).toEqual(registration('first'))
})

test('of two that are made at once the first stays', async () => {
  const kept = await Promise.all([
    openProcess().keep(registration('first')),
    openProcess().keep(registration('second')),
  ])
  expect(kept).toEqual([true, false])
  expect(await openProcess().current()).toEqual(registration('first'))
})

test('the configured App counts before any other, and none is kept beside it', async () => {
  await openProcess().keep(registration('first'))
  const configured = openProcess(registration('ours'))
  expect(await configured.current()).toEqual(registration('ours'))
  expect(await configured.keep(registration('second'))).toBe(false)
})

test('an App of another code host is nobody here', async () => {
  await openProcess().keep(registration('first'))
  expect(await openProcess(null, 'git.example').current()).toBeUndefined()
})
