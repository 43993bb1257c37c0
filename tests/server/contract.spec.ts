/** Calls as somebody makes them who has nothing but the contract: bare requests, and the members that it names in the answers. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from '../product/person.ts'
import { openScene, type Scene } from './scene.ts'

let scene: Scene
let ada: Person
beforeAll(async () => {
  scene = await openScene([])
  ada = scene.ada
})
afterAll(() => scene?.close())

test('a profile takes name and email, as it takes fullName', async () => {
  const named = await ada.api('PUT', '/auth/profile', { name: 'Ada King', email: 'king@example.com' })
  const user = { name: 'Ada King', fullName: 'Ada King', email: 'king@example.com', githubUsername: 'ada' }
  expect(named).toMatchObject({ status: 200, body: { user } })
  const full = await ada.api('PUT', '/auth/profile', { fullName: 'Ada Lovelace' })
  expect(full).toMatchObject({
    status: 200,
    body: { user: { ...user, name: 'Ada Lovelace', fullName: 'Ada Lovelace' } },
  })
  expect(await ada.api('GET', '/auth/me')).toMatchObject({
    status: 200,
    body: { user: { email: 'king@example.com' } },
  })
})

describe('a project', () => {
  let path = ''
  beforeAll(() => {
    path = `/projects/${scene.projectId}`
  })

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

  test('is changed, and keeps that over a sync', async () => {
    const words = { name: 'The engine', description: 'It computes a lot.' }
    const changed = await ada.api('PUT', path, words)
    expect(changed).toMatchObject({ status: 200, body: { project: words } })
    const synced = await ada.api('POST', `${path}/sync`)
    expect(synced).toMatchObject({ status: 200, body: { project: { ...words, status: 'active' } } })
    expect(await ada.api('GET', path)).toMatchObject({ body: { project: words } })
  })

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

test('the account at the code host can be let go, and the sign-in stays', async () => {
  const person = await scene.product.signIn('grace')
  expect((await person.api('POST', '/auth/disconnect-github')).status).toBe(200)
  expect(await person.api('GET', '/auth/me')).toMatchObject({
    status: 200,
    body: { user: { githubConnected: false, githubUsername: 'grace' } },
  })
  expect(await person.api('GET', '/github/repos')).toMatchObject({ status: 403 })
})
