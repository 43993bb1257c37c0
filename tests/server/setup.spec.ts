/** Who may create the App of this server, and what happens to a stranger, a replay or a late answer. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { alwaysSent, missingPermissions } from '#domain/appPermissions.ts'
import {
  clientId,
  clientSecret,
  startLocal,
  temporaryFolder,
  type Folder,
  type LocalCodeHost,
} from '../contracts/codeHost.fixture.ts'
import { startProduct, type Product } from '../product.ts'
import { eventually } from './engines.ts'

let folder: Folder
let host: LocalCodeHost
let product: Product
let code = ''
/** Of a browser whose App the code host did not hand over yet. */
let cookieOfLate = ''
beforeAll(async () => {
  folder = await temporaryFolder()
  host = await startLocal(join(folder.path, 'codehost'), { app: 'none' })
  product = await startProduct({ env: { CODE_HOST: 'github', GITHUB_SERVER_URL: host.url } })
  // It is printed after the line that says that the server is ready.
  await eventually('the code to be printed', () => printedCode() !== '')
  code = printedCode()
})
afterAll(async () => {
  await product?.stop()
  await host?.stop()
  await folder.remove()
})

const printedCode = (): string => /setup#code=(\S+)/.exec(product.logs.stdout)?.[1] ?? ''

const Begun = z.object({ action: z.string(), manifest: z.string() })
const Manifest = z.looseObject({
  redirect_url: z.string(),
  default_events: z.array(z.string()),
  default_permissions: z.record(z.string(), z.enum(['read', 'write', 'admin'])),
})

const wish = () => ({
  code,
  organization: null,
  name: 'Flightdeck here',
  publicUrl: product.base,
  hooks: true,
  isPublic: false,
  workflows: false,
  members: false,
})

function begin(body: object, of: Product = product, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${of.base}/api/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

async function begun(
  body: object = wish(),
  of: Product = product,
): Promise<{ cookie: string; state: string; manifest: string }> {
  const response = await begin(body, of)
  expect(response.status).toBe(200)
  const { action, manifest } = Begun.parse(await response.json())
  const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';')
  return { cookie, state: new URL(action).searchParams.get('state') ?? '', manifest }
}

function callback(query: Record<string, string>, cookie: string, of: Product = product): Promise<Response> {
  const address = `${of.base}/api/setup/callback?${new URLSearchParams(query).toString()}`
  return fetch(address, { headers: { cookie }, redirect: 'manual' })
}

async function comesBack(
  query: Record<string, string>,
  cookie: string,
  of?: Product,
): Promise<string | null> {
  const response = await callback(query, cookie, of)
  expect(response.status).toBe(302)
  return response.headers.get('location')
}

/** What a browser of ada's does on the pages of the code host. */
async function madeOnHost(state: string, manifest: string, name = 'Flightdeck here'): Promise<string> {
  const entered = await fetch(`${host.url}/login`, {
    method: 'POST',
    body: new URLSearchParams({ login: 'ada' }),
    headers: { origin: host.url },
    redirect: 'manual',
  })
  const [cookie = ''] = (entered.headers.get('set-cookie') ?? '').split(';')
  const made = await fetch(`${host.url}/settings/apps`, {
    method: 'POST',
    body: new URLSearchParams({ manifest, state, name }),
    headers: { cookie, origin: host.url },
    redirect: 'manual',
  })
  return new URL(made.headers.get('location') ?? '').searchParams.get('code') ?? ''
}

describe('while there is no App', () => {
  test('the code is printed, and lies in a file for the operator alone', async () => {
    expect(code).toMatch(/^[\w-]{24}$/)
    const file = join(product.dataDir, 'setup-code')
    expect((await readFile(file, 'utf8')).trim()).toBe(code)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  test.each([undefined, '', 'wrong', 'x'.repeat(24)])('nobody begins with the code %j', async (given) => {
    const response = await begin({ ...wish(), code: given })
    expect(response.status).toBe(403)
    expect(response.headers.get('set-cookie')).toBeNull()
    expect(await response.text()).not.toContain('manifest')
  })

  test('the manifest names the confirmed address, no hook on this machine, and what is needed and no more', async () => {
    const { manifest } = await begun()
    const read = Manifest.parse(JSON.parse(manifest))
    expect(read.redirect_url).toBe(`${product.base}/api/setup/callback`)
    expect(read).not.toHaveProperty('hook_attributes')
    expect(read.default_permissions).toEqual({
      metadata: 'read',
      contents: 'write',
      pull_requests: 'write',
      issues: 'write',
      checks: 'read',
      statuses: 'read',
      actions: 'read',
    })
    expect(read.default_events.filter((event) => alwaysSent.some((one) => one === event))).toEqual([])
    expect(missingPermissions({ contents: 'write' }, read.default_permissions)).toEqual([])
  })

  test('an address that is not ours goes into no manifest, whatever the Host header says', async () => {
    const response = await begin({ ...wish(), publicUrl: 'https://evil.example' })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ field: 'publicUrl' })
  })

  test.each(['/', '/setup', '/setup/', '/auth'])(
    'only the page of the set-up may post a form to the code host: %s',
    async (path) => {
      const policy = (await fetch(`${product.base}${path}`)).headers.get('content-security-policy') ?? ''
      const [, target = ''] = /form-action ([^;]*)/.exec(policy) ?? []
      const { port } = new URL(host.url)
      expect(target).toBe(path.startsWith('/setup') ? `'self' http://127.0.0.1:${port}` : "'self'")
    },
  )

  test('an answer counts only in the browser that began, with its state', async () => {
    const { cookie, state, manifest } = await begun()
    const made = await madeOnHost(state, manifest)
    const lost = '/setup?error=session_lost'
    expect(await comesBack({ code: made, state }, '')).toBe(lost)
    expect(await comesBack({ code: made, state }, `${cookie}x`)).toBe(lost)
    expect(await comesBack({ code: made, state: 'another' }, cookie)).toBe(lost)
    expect(await comesBack({ state }, cookie)).toBe(lost)
    const other = await begun()
    expect(await comesBack({ code: made, state }, other.cookie)).toBe(lost)
    expect(await (await fetch(`${product.base}/api/setup`)).json()).toMatchObject({ isOpen: true })
  })

  test('a code that the host does not know is told, and a state is used once', async () => {
    const { cookie, state } = await begun()
    expect(await comesBack({ code: 'unknown', state }, cookie)).toBe('/setup?error=code_expired')
    expect(await comesBack({ code: 'unknown', state }, cookie)).toBe('/setup?error=session_lost')
  })

  test('a delivery of a webhook is refused, and who signs in comes to the set-up', async () => {
    const delivered = await fetch(`${product.base}/webhooks/github`, { method: 'POST', body: '{}' })
    expect(delivered.status).toBe(404)
    const entering = await fetch(`${product.base}/api/auth/github`, { redirect: 'manual' })
    expect(entering.headers.get('location')).toBe('/setup')
  })
})

describe('where PUBLIC_URL is https', () => {
  let far: Product
  let farCode = ''
  beforeAll(async () => {
    far = await startProduct({
      env: {
        CODE_HOST: 'github',
        GITHUB_SERVER_URL: host.url,
        PUBLIC_URL: 'https://flightdeck.example',
        TRUST_PROXY: '1',
        ALLOWED_USERS: '*',
      },
    })
    const printed = () => /setup#code=(\S+)/.exec(far.logs.stdout)?.[1] ?? ''
    await eventually('the code to be printed', () => printed() !== '')
    farCode = printed()
  })
  afterAll(() => far?.stop())

  const wishThere = (publicUrl: string) => ({ ...wish(), code: farCode, name: 'Flightdeck afar', publicUrl })

  test('a page that came by plain http is told that its cookie would be lost', async () => {
    const response = await begin(wishThere('https://flightdeck.example'), far)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      field: 'publicUrl',
      error: expect.stringMatching(/https:\/\/flightdeck\.example\/setup.* X-Forwarded-Proto/),
    })
  })

  test('a sign-in has its cookie for https also from a proxy that does not say how the browser came', async () => {
    const through = { 'x-forwarded-for': '192.0.2.1' }
    const response = await fetch(`${far.base}/api/auth/github`, { headers: through, redirect: 'manual' })
    expect(response.headers.get('location')).toBe('/setup')
    expect(response.headers.get('set-cookie')).toMatch(/^__Host-.*; secure/i)
  })

  test('a page that came by https has a cookie for https', async () => {
    const through = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' }
    const response = await begin(wishThere('https://flightdeck.example'), far, through)
    expect(response.status).toBe(200)
    expect(response.headers.get('set-cookie')).toMatch(/; secure/i)
  })

  test('whoever begins at this machine comes to the end there', async () => {
    const { cookie, state, manifest } = await begun(wishThere(far.base), far)
    const made = await madeOnHost(state, manifest, 'Flightdeck afar')
    expect(await comesBack({ code: made, state }, cookie, far)).toBe('/setup')
    expect(await (await fetch(`${far.base}/api/setup`)).json()).toMatchObject({ isOpen: false })
  })
})

test('an App that could not be fetched is fetched by the same code once the code host answers', async () => {
  const { cookie, state, manifest } = await begun()
  const made = await madeOnHost(state, manifest, 'Flightdeck once more')
  host.limits.disturb({ status: 503, message: 'Away.', times: 1, of: /conversions/ })
  const late = await callback({ code: made, state }, cookie)
  expect(late.headers.get('location')).toBe('/setup?error=unavailable')
  const [kept = ''] = (late.headers.get('set-cookie') ?? '').split(';')
  // The code is the cookie's alone to give, and in no address.
  expect(await comesBack({}, cookie)).toBe('/setup?error=session_lost')
  host.limits.disturb({ status: 503, message: 'Away.', times: 1, of: /conversions/ })
  const later = await callback({}, kept)
  expect(later.headers.get('location')).toBe('/setup?error=unavailable')
  const [keptAgain = ''] = (later.headers.get('set-cookie') ?? '').split(';')
  expect(keptAgain).not.toBe(kept)
  cookieOfLate = keptAgain
})

test('once an App is made the set-up is closed, also after a restart, and its secrets are nowhere in what is printed', async () => {
  expect(await comesBack({}, cookieOfLate)).toBe('/setup')
  expect(await comesBack({}, cookieOfLate)).toBe('/setup')
  const refused = await begin(wish())
  expect(refused.status).toBe(404)
  expect(await refused.json()).toMatchObject({ code: 'setup_closed', error: 'Flightdeck is set up.' })
  const shown = await (await fetch(`${product.base}/api/setup`)).json()
  expect(shown).toMatchObject({ isOpen: false, installUrl: null })
  await product.terminate()
  await product.restart()
  expect((await begin(wish())).status).toBe(404)
  const entering = await fetch(`${product.base}/api/auth/github`, { redirect: 'manual' })
  expect(entering.headers.get('location')).toMatch(/\/login\/oauth\/authorize\?client_id=/)
  await expect(stat(join(product.dataDir, 'setup-code'))).rejects.toMatchObject({ code: 'ENOENT' })
  const printed = product.logs.stdout + product.logs.stderr
  expect(printed).not.toMatch(/BEGIN RSA|client_secret/)
})

test('a session of an administrator opens the set-up, a session of anybody else does not', async () => {
  // Who is signed in came by an App that the operator no longer names.
  const other = await startLocal(join(folder.path, 'with an App'))
  const dataDir = join(folder.path, 'data')
  const github = { CODE_HOST: 'github', GITHUB_SERVER_URL: other.url, ADMINS: 'ada', ALLOWED_USERS: '*' }
  const app = { GITHUB_API_URL: other.api, GITHUB_CLIENT_ID: clientId, GITHUB_CLIENT_SECRET: clientSecret }
  const before = await startProduct({ dataDir, env: { ...github, ...app } })
  const tokens = new Map<string, string>()
  for (const login of ['ada', 'grace'] as const) tokens.set(login, (await before.signIn(login)).token)
  await before.stop()
  const after = await startProduct({ dataDir, env: github })
  try {
    const { code: _none, ...wished } = { ...wish(), publicUrl: after.base }
    const as = async (login: string) => {
      const response = await begin(wished, after, { authorization: `Bearer ${tokens.get(login)}` })
      return [response.status, Begun.partial().parse(await response.json()).action ?? null]
    }
    expect(await as('grace')).toEqual([403, null])
    expect(await as('ada')).toEqual([200, expect.stringContaining('/settings/apps/new?state=')])
    expect((await begin(wished, after)).status).toBe(403)
  } finally {
    await after.stop()
    await other.stop()
  }
})
