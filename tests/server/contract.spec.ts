/** Calls by somebody who knows only the contract: bare requests, and the members that the contract names in the answers. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  nineEvents,
  signInErrors,
  walkTheMainJob,
  walkThePassword,
  walkTheSignInErrors,
} from '../client/specClient.ts'
import { browserSteps, type Person } from '../product/person.ts'
import { openScene, type Scene } from './scene.ts'

const installCallback = '/auth/callback?error=install_callback'
const toSettings = '/settings?tab=github'

let scene: Scene
let ada: Person
beforeAll(async () => {
  scene = await openScene([{ when: /Say something/, turns: [{ text: 'Said.' }] }])
  ada = scene.ada
})
afterAll(() => scene?.close())

// Holds contract 7.5.
test('a profile takes name and email, as it takes fullName; both that are sent are kept', async () => {
  const named = await ada.api('PUT', '/auth/profile', { name: 'Ada King', email: 'king@example.com' })
  const user = { name: 'Ada King', fullName: 'Ada King', email: 'king@example.com', githubUsername: 'ada' }
  expect(named).toMatchObject({ status: 200, body: { user } })
  const full = await ada.api('PUT', '/auth/profile', { fullName: 'Ada Lovelace' })
  expect(full).toMatchObject({
    status: 200,
    body: { user: { ...user, name: 'Ada Lovelace', fullName: 'Ada Lovelace' } },
  })
  const both = { name: 'Ada', fullName: 'Augusta Ada King' }
  expect(await ada.api('PUT', '/auth/profile', { ...user, ...both })).toMatchObject({
    status: 200,
    body: { user: both },
  })
  expect(await ada.api('GET', '/auth/me')).toMatchObject({
    status: 200,
    body: { user: { ...both, email: 'king@example.com' } },
  })
  expect(await ada.api('PUT', '/auth/profile', { ...both, email: 'king' })).toMatchObject({
    status: 400,
    body: { field: 'email', error: 'Enter a valid email address.' },
  })
  expect(await ada.api('PUT', '/auth/profile', { ...both, email: '' })).toMatchObject({
    status: 200,
    body: { user: { ...both, email: null } },
  })
})

describe('a project', () => {
  let path = ''
  beforeAll(() => {
    path = `/projects/${scene.projectId}`
  })

  // Holds contract 7.10, 7.15, 7.16.
  test('is read by itself, with its branches and the branch it stands on', async () => {
    const project = { id: scene.projectId, name: 'engine', githubRepoName: 'engine', defaultBranch: 'main' }
    expect(await ada.api('GET', path)).toMatchObject({ status: 200, body: { project } })
    expect(await ada.api('GET', `${path}/branches`)).toMatchObject({
      status: 200,
      body: { branches: [{ name: 'main' }] },
    })
    expect(await ada.api('GET', `${path}/git/status`)).toMatchObject({
      status: 200,
      body: { data: { currentBranch: 'main' } },
    })
  })

  // Holds contract 7.12, 7.14.
  test('is changed, and keeps that over a sync', async () => {
    const words = { name: 'The engine', description: 'It computes a lot.' }
    const changed = await ada.api('PUT', path, words)
    expect(changed).toMatchObject({ status: 200, body: { project: words } })
    const synced = await ada.api('POST', `${path}/sync`)
    expect(synced).toMatchObject({ status: 200, body: { project: { ...words, status: 'active' } } })
    expect(await ada.api('GET', path)).toMatchObject({ body: { project: words } })
  })

  // Holds contract 4.7a.
  test('is syncing while the code host is asked', async () => {
    const statusesMeanwhile = async () => {
      const over = new AbortController()
      const sync = ada.api('POST', `${path}/sync`).finally(() => over.abort())
      const seen: unknown[] = []
      while (!over.signal.aborted) {
        const { body } = await ada.api('GET', path)
        seen.push(Reflect.get(Object(Reflect.get(Object(body), 'project')), 'status'))
      }
      expect((await sync).status).toBe(200)
      return seen
    }
    // A sync may end before anybody can look.
    await expect.poll(statusesMeanwhile).toContain('syncing')
    expect(await ada.api('GET', path)).toMatchObject({ body: { project: { status: 'active' } } })
  })

  // Holds contract 7.11, 7.13, 7.33.
  test('is made of a repository that was made for it, and is gone once it is deleted', async () => {
    const repository = { name: 'made-here', description: 'By a client', private: true }
    const made = await ada.api('POST', '/github/repos', repository)
    const repoUrl = `${scene.product.codeHostUrl}/ada/made-here`
    expect(made).toMatchObject({ status: 201, body: { data: { ...repository, html_url: repoUrl } } })

    const payload = { repoUrl, name: 'Made here', description: 'Of a client' }
    const { status, body } = await ada.api('POST', '/projects', payload)
    const id = String(Reflect.get(Object(body), 'id'))
    expect(status).toBe(201)
    expect(body).toMatchObject({
      id,
      project: { id, name: 'Made here', description: 'Of a client', isPrivate: true, githubUrl: repoUrl },
    })
    expect(await ada.api('DELETE', `/projects/${id}`)).toMatchObject({ status: 200, body: { success: true } })
    expect((await ada.api('GET', `/projects/${id}`)).status).toBe(404)
  })
})

// Holds contract 7.34a, 7.34c.
test('an image is sent as the field image of a form, and its answer names its address', async () => {
  const form = new FormData()
  // A PNG of one pixel.
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='
  form.set('image', new Blob([Buffer.from(png, 'base64')], { type: 'image/png' }), 'dot.png')
  const answer = await fetch(`${scene.product.base}/api/upload/image`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.token}` },
    body: form,
  })
  expect(answer.status).toBe(201)
  const image: unknown = await answer.json()
  expect(image).toMatchObject({
    id: expect.any(String),
    name: 'dot.png',
    type: 'image/png',
    size: expect.any(Number),
  })
  const shown = await fetch(new URL(String(Reflect.get(Object(image), 'url')), scene.product.base))
  expect(shown.status).toBe(200)
  expect(shown.headers.get('content-type')).toBe('image/png')
})

// Holds contract 7.31a.
test('repositories are listed by type, order and page', async () => {
  const ask = async (query: string) => {
    const { status, body } = await ada.api('GET', `/github/repos${query}`)
    const repositories: unknown = Reflect.get(Object(body), 'repositories')
    const names = Array.isArray(repositories)
      ? repositories.map((one) => String(Reflect.get(one, 'name')))
      : []
    return { status, names, body }
  }
  await Promise.all(
    [true, false].map((isPrivate) =>
      ada.api('POST', '/github/repos', { name: `listed-${isPrivate}`, private: isPrivate }),
    ),
  )
  const all = (await ask('?type=all&sort=updated&per_page=100')).names
  expect(all.length).toBeGreaterThan(2)
  expect((await ask('')).names).toEqual(all)
  expect((await ask('?per_page=1')).names).toEqual(all.slice(0, 1))
  expect((await ask('?per_page=1&page=2')).names).toEqual(all.slice(1, 2))
  expect((await ask('?sort=full_name')).names).toEqual(all.toSorted())
  expect((await ask('?type=private')).names).toContain('listed-true')
  expect((await ask('?type=private')).names).not.toContain('listed-false')
  // The values of the code host's own call.
  expect((await ask('?type=owner')).names).toEqual(all)
  expect(await ask('?type=member')).toMatchObject({ status: 200, names: [] })
  expect(await ask('?per_page=0')).toMatchObject({ status: 400, body: { field: 'per_page' } })
})

// Holds contract 7.17a.
test('tasks are listed by project, the newest first, and at most as many as are asked for', async () => {
  const make = async (description: string) => {
    const payload = { description, projectId: scene.projectId, branch: 'main' }
    const { body } = await ada.api('POST', '/tasks', payload)
    return String(Reflect.get(Object(Reflect.get(Object(body), 'task')), 'id'))
  }
  const [first, second] = [await make('The first'), await make('The second')]
  const list = async (query: string) => (await ada.api('GET', `/tasks?${query}`)).body
  const project = `project=${scene.projectId}`
  expect(await list(`${project}&limit=10`)).toMatchObject({ tasks: [{ id: second }, { id: first }] })
  expect(await list(`${project}&limit=1`)).toMatchObject({ tasks: [{ id: second }] })
  expect(await list(`project=${first}&limit=10`)).toMatchObject({ tasks: [] })
  for (const id of [first, second])
    expect(await ada.api('DELETE', `/tasks/${id}`)).toMatchObject({ status: 200 })
})

test.each(['/tasks', '/projects'])('a cursor of %s that is none is refused', async (path) => {
  expect(await ada.api('GET', `${path}?after=zzz`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_input', field: 'after' },
  })
})

// Holds contract 8.3a, 8.6a.
test.each([
  ['nothing that says which', 'setup_action=install', '/auth/callback?error=no_install_id'],
  ['an empty number', 'setup_action=install&installation_id=', '/auth/callback?error=no_install_id'],
  ['a number that is none', 'setup_action=install&installation_id=x', installCallback],
  ['two numbers', 'setup_action=install&installation_id=7&installation_id=8', installCallback],
  ['an action that is none', 'setup_action=x&installation_id=7', installCallback],
  ['its number', 'setup_action=install&installation_id=7', `${toSettings}&installation_id=7`],
  [
    'its number and a code for nobody',
    'setup_action=install&installation_id=7&code=x',
    `${toSettings}&installation_id=7`,
  ],
  ['a request to the owner', 'setup_action=request', `${toSettings}&requested=true`],
])('who comes back from installing the app with %s is led on, signing in or not', async (_, query, to) => {
  const begun = await fetch(`${scene.product.base}/api/auth/github`, { redirect: 'manual' })
  const cookies = begun.headers.getSetCookie().map((set) => set.split(';')[0])
  expect(cookies).not.toEqual([])
  for (const cookie of ['', cookies.join('; ')]) {
    const url = `${scene.product.base}/api/auth/github/callback?${query}`
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie } })
    expect(answer.headers.get('location')).toBe(to)
    // A journey that is under way goes on.
    expect(answer.headers.getSetCookie()).toEqual([])
  }
})

test('who installs the app on the way of signing in is signed in', async () => {
  const browser = browserSteps(scene.product.base)
  const { location } = await browser.go('/api/auth/github')
  const back = (await browser.go(`${location}&login=ada`)).location
  const end = await browser.go(`${back}&setup_action=install&installation_id=7`)
  expect(end.location).toMatch(/^\/auth\/callback\?token=/)
})

test.each([
  ['an address', '/tasks/%E0%A4%A'],
  ['a query', '/tasks/6b0c8a52-7a9f-4f0b-8a44-3f6b6e1c3a10/git/file?path=%FF&from=1&to=1'],
])('%s in a broken encoding is refused', async (_, path) => {
  expect(await ada.api('GET', path)).toMatchObject({
    status: 400,
    body: { code: 'invalid_input', error: expect.stringMatching(/percent-encoding is broken or not UTF-8/) },
  })
})

test('a project that can no longer be reached is inactive, and its tasks go with it when it is deleted', async () => {
  const grace = await scene.product.signIn('grace')
  const made = await grace.api('POST', '/github/repos', { name: 'hers' })
  const repoUrl = String(Reflect.get(Object(Reflect.get(Object(made.body), 'data')), 'html_url'))
  const { body } = await grace.api('POST', '/projects', { repoUrl })
  const id = String(Reflect.get(Object(body), 'id'))
  const task = await grace.api('POST', '/tasks', { description: 'Wait', projectId: id, branch: 'main' })
  expect(task.status).toBe(201)
  await grace.api('POST', '/auth/disconnect-github')
  expect((await grace.api('POST', `/projects/${id}/sync`)).status).toBe(403)
  expect(await grace.api('GET', `/projects/${id}`)).toMatchObject({
    body: { project: { status: 'inactive', statusReason: expect.stringMatching(/^Connect your GitHub/) } },
  })
  await grace.api('DELETE', `/projects/${id}`)
  const tasks = async () => (await grace.api('GET', '/tasks')).body
  await expect.poll(tasks).toMatchObject({ tasks: [] })
})

// Holds contract 7.6.
test('the account at the code host can be let go, and the sign-in stays', async () => {
  const person = await scene.product.signIn('grace')
  expect((await person.api('POST', '/auth/disconnect-github')).status).toBe(200)
  expect(await person.api('GET', '/auth/me')).toMatchObject({
    status: 200,
    body: { user: { githubConnected: false, githubUsername: 'grace' } },
  })
  expect(await person.api('GET', '/github/repos')).toMatchObject({ status: 403 })
})

describe('a client that knows nothing else', () => {
  // Holds contract 4.16c, 4.16e, 7.18a, 7.20, 7.36a, 7.36b.
  test(
    'does the main job, and hears all nine events with what the contract names',
    { timeout: 180_000 },
    async () => {
      expect(await walkTheMainJob(scene.product.base, ada.token, scene.projectId)).toEqual(nineEvents)
    },
  )

  test('registers, signs in with a password and is onboarded', async () => {
    expect(await walkThePassword(scene.product.base)).toMatchObject({ onboardingCompleted: true })
  })

  test('is told by the error in the address why nobody was signed in or an installation failed', async () => {
    expect(await walkTheSignInErrors(scene.product.base)).toEqual(signInErrors)
  })
})
