/**
 * Apps managed by hand: created from a manifest, installed, limited to repositories, suspended and removed, and the deliveries that the App gets
 * about it.
 */
import { Webhooks } from '@octokit/webhooks'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { askRest, signedBy } from './codeHost.apps.fixture.ts'
import { browserOf, placeOf, type Browser } from './codeHost.browser.fixture.ts'
import { startLocal, temporaryFolder, type Folder, type LocalCodeHost } from './codeHost.fixture.ts'
import { githubSchemas } from './codeHost.schemas.ts'

const schemaOf = githubSchemas('github-openapi-apps.json')
const Made = z.object({
  id: z.number(),
  slug: z.string(),
  client_id: z.string(),
  pem: z.string(),
  webhook_secret: z.string(),
})
const Told = z.object({
  action: z.string(),
  installation: z.object({ id: z.number() }).optional(),
  repositories_added: z.array(z.object({ full_name: z.string() })).optional(),
  repositories_removed: z.array(z.object({ full_name: z.string() })).optional(),
  repositories: z.array(z.object({ full_name: z.string() })).optional(),
})

let folder: Folder
let local: LocalCodeHost
let hook: Server
let hookUrl = ''
let received: { event: string; body: string; signature: string }[] = []
let ada: Browser
let made: z.infer<typeof Made>

beforeAll(async () => {
  folder = await temporaryFolder()
  hook = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    received.push({
      event: String(request.headers['x-github-event']),
      signature: String(request.headers['x-hub-signature-256']),
      body: Buffer.concat(chunks).toString('utf8'),
    })
    response.writeHead(202).end()
  })
  await new Promise<void>((listening) => hook.listen(0, '127.0.0.1', listening))
  const at = hook.address()
  hookUrl = `http://127.0.0.1:${typeof at === 'object' && at ? at.port : 0}/hook`
  local = await startLocal(join(folder.path, 'data'), { app: 'none', takesLoopbackHooks: true })
  ada = await browserOf(local, 'ada')
})
afterAll(async () => {
  await local.stop()
  await new Promise((closed) => hook.close(closed))
  await folder.remove()
})

const setupUrl = 'http://localhost:8080/setup/installed'
const manifest = () => ({
  name: 'Flightdeck Team',
  url: 'http://localhost:8080',
  redirect_url: 'http://localhost:8080/setup/callback',
  setup_url: setupUrl,
  setup_on_update: true,
  public: true,
  hook_attributes: { url: hookUrl },
  default_permissions: { contents: 'write', pull_requests: 'write' },
  default_events: ['push', 'pull_request'],
})

/** What the App asks by its own token. */
const asApp = async (method: string, path: string, body?: unknown) =>
  askRest(local.api, [method, path], {
    token: await signedBy(made.pem, { iss: made.client_id }),
    ...(body === undefined ? {} : { body }),
  })

/** What was told since the last time, checked by the App's secret. */
async function told() {
  await local.webhooks.settled()
  const verifier = new Webhooks({ secret: made.webhook_secret })
  const all = received
  received = []
  for (const { body, signature } of all) expect(await verifier.verify(body, signature)).toBe(true)
  return all.map(({ event, body }) => ({ event, ...Told.parse(JSON.parse(body)) }))
}

test('a host without an App knows none', async () => {
  expect(local.app).toBeNull()
  expect((await askRest(local.api, ['GET', '/apps/flightdeck'])).status).toBe(404)
})

test('who is not signed in loses what the form carried, as at GitHub', async () => {
  const nobody = await browserOf(local, null)
  const answer = await nobody.submitFromElsewhere('/settings/apps/new?state=s', {
    manifest: JSON.stringify(manifest()),
  })
  const place = placeOf(answer, local.url)
  expect(place.pathname).toBe('/login')
  const back = place.searchParams.get('return_to') ?? ''
  expect(back).toBe('/settings/apps/new?state=s')
  const after = await ada.get(back)
  expect(after.status).toBe(422)
  expect(await after.text()).toContain('wasn&#39;t supplied')
})

test.each<[string, object, string]>([
  [
    'a hook without an address',
    { hook_attributes: { active: false } },
    '&quot;url&quot; wasn&#39;t supplied',
  ],
  ['no home page', { url: undefined }, '&quot;url&quot; wasn&#39;t supplied'],
  [
    'an event without its permission',
    { default_events: ['check_run'] },
    'not supported by permissions: check_run',
  ],
  [
    'comments without issues',
    { default_events: ['issue_comment'] },
    'Default events are not supported by permissions: issue_comment',
  ],
  [
    'an event that always comes',
    { default_events: ['installation'] },
    'Default events unsupported: installation',
  ],
  ['a permission that there is not', { default_permissions: { everything: 'write' } }, 'everything'],
  [
    'eleven callbacks',
    { callback_urls: Array.from({ length: 11 }, (_, n) => `https://x.example/${n}`) },
    'callback_urls',
  ],
])('a manifest with %s is refused', async (_, change, sentence) => {
  const answer = await ada.submitFromElsewhere('/settings/apps/new', {
    manifest: JSON.stringify({ ...manifest(), ...change }),
  })
  expect(answer.status).toBe(422)
  expect(await answer.text()).toContain(sentence)
})

test('a manifest with a hook on this machine is refused, unless a test wants it', async () => {
  const other = await startLocal(join(folder.path, 'strict'), { app: 'none' })
  try {
    const browser = await browserOf(other, 'ada')
    const answer = await browser.submitFromElsewhere('/settings/apps/new', {
      manifest: JSON.stringify(manifest()),
    })
    expect(answer.status).toBe(422)
    expect(await answer.text()).toContain('reachable over the public Internet')
  } finally {
    await other.stop()
  }
})

test('the App is made under the name that the person gives, and its secrets are given once', async () => {
  const text = JSON.stringify(manifest())
  const asked = await ada.submitFromElsewhere('/organizations/acme/settings/apps/new?state=s1', {
    manifest: text,
  })
  expect(asked.status).toBe(200)
  // The browser goes back to the other site, so the page lets its form end there, and nowhere else.
  expect(asked.headers.get('content-security-policy')).toContain("form-action 'self' http://localhost:8080;")
  const page = await asked.text()
  expect(page).toContain('value="Flightdeck Team"')
  expect(page).toContain('action="/organizations/acme/settings/apps"')
  const fields = { manifest: text, name: 'Flightdeck of Acme', state: 's1' }
  expect((await ada.submitFromElsewhere('/organizations/acme/settings/apps', fields)).status).toBe(403)
  const taken = await ada.submit('/organizations/acme/settings/apps', { ...fields, name: 'acme' })
  expect(await taken.text()).toContain('is already taken')
  const back = placeOf(await ada.submit('/organizations/acme/settings/apps', fields), local.url)
  expect(`${back.origin}${back.pathname}`).toBe('http://localhost:8080/setup/callback')
  expect(back.searchParams.get('state')).toBe('s1')
  const path = `/app-manifests/${back.searchParams.get('code')}/conversions`
  const answer = await askRest(local.api, ['POST', path])
  expect(answer.status).toBe(201)
  const validate = schemaOf('POST /app-manifests/{code}/conversions', 201)
  validate(answer.json)
  expect(validate.errors ?? []).toEqual([])
  expect(validate({ id: 1 })).toBe(false)
  made = Made.parse(answer.json)
  expect(made.slug).toBe('flightdeck-of-acme')
  expect((await askRest(local.api, ['POST', path])).status).toBe(404)
  expect(await asApp('GET', '/app')).toMatchObject({ status: 200, json: { owner: { login: 'acme' } } })
  const grace = await browserOf(local, 'grace')
  const elsewhere = await grace.submitFromElsewhere('/organizations/acme/settings/apps/new', {
    manifest: text,
  })
  expect(elsewhere.status).toBe(404)
})

test('a member asks, an owner installs for chosen repositories, and both come back to the App', async () => {
  const alan = await browserOf(local, 'alan')
  const form = { target_id: '2001', state: 's2' }
  const asked = placeOf(await alan.submit('/apps/flightdeck-of-acme/installations', form), local.url)
  expect(Object.fromEntries(asked.searchParams)).toEqual({ setup_action: 'request', state: 's2' })
  const requests = await asApp('GET', '/app/installation-requests')
  const validate = schemaOf('GET /app/installation-requests', 200)
  validate(requests.json)
  expect(validate.errors ?? []).toEqual([])
  expect(requests.json).toMatchObject([{ account: { login: 'acme' }, requester: { login: 'alan' } }])
  expect(await (await ada.get('/organizations/acme/settings/installations')).text()).toContain(
    'alan asks for',
  )
  expect(await told()).toEqual([])

  const page = await ada.get('/apps/flightdeck-of-acme/installations/new?target_id=2001&state=s3')
  expect(await page.text()).toContain('acme/handbook')
  const chosen = { target_id: '2001', state: 's3', selection: 'selected' }
  const back = placeOf(await ada.submit('/apps/flightdeck-of-acme/installations', chosen), local.url)
  expect(`${back.origin}${back.pathname}`).toBe(setupUrl)
  const id = Number(back.searchParams.get('installation_id'))
  expect(Object.fromEntries(back.searchParams)).toMatchObject({ setup_action: 'install', state: 's3' })
  expect(await told()).toMatchObject([{ event: 'installation', action: 'created', installation: { id } }])
  expect((await asApp('GET', '/app/installation-requests')).json).toEqual([])
  expect(await asApp('GET', '/repos/acme/handbook/installation')).toMatchObject({ status: 404 })
})

test('repositories are added and removed, it is suspended, asked for more, and taken off; each is told', async () => {
  const { json } = await asApp('GET', '/orgs/acme/installation')
  const { id, html_url: page } = z.object({ id: z.number(), html_url: z.string() }).parse(json)
  const path = new URL(page).pathname
  const text = await (await ada.get(path)).text()
  const [, repository = ''] = /name="repository"\s+value="(\d+)"/.exec(text) ?? []
  const chosen: [string, string][] = [
    ['selection', 'selected'],
    ['repository', repository],
  ]
  const updated = placeOf(await ada.submit(`${path}/repositories`, chosen), local.url)
  expect(Object.fromEntries(updated.searchParams)).toEqual({
    installation_id: String(id),
    setup_action: 'update',
  })
  await ada.submit(`${path}/repositories`, { selection: 'selected' })
  expect(await told()).toMatchObject([
    { action: 'added', repositories_added: [{ full_name: 'acme/handbook' }], repositories_removed: [] },
    { action: 'removed', repositories_added: [], repositories_removed: [{ full_name: 'acme/handbook' }] },
  ])
  await ada.submit(`${path}/suspend`, {})
  await ada.submit(`${path}/unsuspend`, {})
  expect((await told()).map(({ action }) => action)).toEqual(['suspend', 'unsuspend'])

  const settings = '/organizations/acme/settings/apps/flightdeck-of-acme/permissions'
  await ada.submit(settings, { contents: 'write', pull_requests: 'write', issues: 'read' })
  expect(await asApp('GET', '/app')).toMatchObject({ json: { permissions: { issues: 'read' } } })
  const before = await asApp('GET', `/app/installations/${id}`)
  expect(before.json).not.toMatchObject({ permissions: { issues: 'read' } })
  expect(await (await ada.get(path)).text()).toContain('asks for more permissions')
  await ada.submit(`${path}/permissions`, {})
  expect(await asApp('GET', `/app/installations/${id}`)).toMatchObject({
    json: { permissions: { issues: 'read' } },
  })
  await ada.submit(`${path}/uninstall`, {})
  expect((await told()).map(({ event, action }) => `${event} ${action}`)).toEqual([
    'installation new_permissions_accepted',
    'installation deleted',
  ])
  expect((await asApp('GET', `/app/installations/${id}`)).status).toBe(404)
})

test("another's settings are not there, and forms of other sites change nothing", async () => {
  const grace = await browserOf(local, 'grace')
  await ada.submit('/apps/flightdeck-of-acme/installations', { target_id: '2001', selection: 'all' })
  const { json } = await asApp('GET', '/orgs/acme/installation')
  const { html_url: page } = z.object({ html_url: z.string() }).parse(json)
  const path = new URL(page).pathname
  expect((await grace.get(path)).status).toBe(404)
  expect((await grace.submit(`${path}/uninstall`, {})).status).toBe(404)
  expect((await ada.submitFromElsewhere(`${path}/uninstall`, {})).status).toBe(403)
  expect((await asApp('GET', '/orgs/acme/installation')).status).toBe(200)
})
