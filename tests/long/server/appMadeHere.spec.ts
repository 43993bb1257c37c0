/** A host without an App: ada creates it at /setup and installs it, as at GitHub. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { getGitHubAccess } from '#domain/api/github.schema.ts'
import { listRepositories } from '#domain/api/projects.schema.ts'
import { createPullRequest, getTaskDiff } from '#domain/api/tasks.schema.ts'
import { localRepository } from '../../contracts/codeHost.fixture.ts'
import { ownFolder, startProduct, type Product } from '../../product.ts'
import { startMessagesApi, type MessagesApi } from '../../standins/messagesApi.ts'
import { eventually } from '../../server/engines.ts'
import { files, hasEnded } from '../../server/scene.ts'

const work = { name: 'Bash', input: { command: 'echo Goodbye. >> README.md', description: 'Work' } }
let folder = ''
let api: MessagesApi
let product: Product
beforeAll(async () => {
  folder = await ownFolder()
  const repository = join(folder, 'engine')
  await localRepository(repository, files)
  api = await startMessagesApi([{ when: /Say goodbye/, turns: [{ tools: [work] }, { text: 'Said.' }] }])
  product = await startProduct({
    repos: [repository],
    model: { messagesApi: api },
    codeHost: 'github without an App',
  })
})
afterAll(async () => {
  await product?.stop()
  await api?.close()
  await rm(folder, { recursive: true, force: true })
})

/** What ada's browser sends on a page of the code host; answers where that leads. */
async function sends(path: string, form: Record<string, string>, cookie?: string): Promise<Response> {
  const { codeHostUrl: origin } = product
  return fetch(`${origin}${path}`, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers: { origin, ...(cookie === undefined ? {} : { cookie }) },
    redirect: 'manual',
  })
}
const cookieOf = (response: Response): string =>
  (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
const placeOf = (response: Response): URL =>
  new URL(response.headers.get('location') ?? '', product.codeHostUrl)
const entering = async () => {
  const response = await fetch(`${product.base}/api/auth/github`, { redirect: 'manual' })
  return response.headers.get('location') ?? ''
}
const Begun = z.object({ action: z.string(), manifest: z.string() })

test('nobody signs in before the App is made, and then ada works with her own token', async () => {
  expect(await entering()).toBe('/setup')
  const code = () => /setup#code=(\S+)/.exec(product.logs.stdout)?.[1] ?? ''
  await eventually('the code to be printed', () => code() !== '')

  // The operator makes the App, signed in at the code host as ada.
  const ada = cookieOf(await sends('/login', { login: 'ada' }))
  const wish = { code: code(), organization: null, name: 'Made here', publicUrl: product.base }
  const begun = await fetch(`${product.base}/api/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...wish, hooks: true, isPublic: false, workflows: false, members: false }),
  })
  const { action, manifest } = Begun.parse(await begun.json())
  const state = new URL(action).searchParams.get('state') ?? ''
  const made = placeOf(await sends('/settings/apps', { manifest, state, name: 'Made here' }, ada))
  const query = new URLSearchParams({ code: made.searchParams.get('code') ?? '', state }).toString()
  const back = await fetch(`${product.base}/api/setup/callback?${query}`, {
    headers: { cookie: cookieOf(begun) },
    redirect: 'manual',
  })
  expect(back.headers.get('location')).toBe('/setup')
  expect(await entering()).toContain('/login/oauth/authorize')

  // It stays the App after a restart, which the code host is part of.
  await product.terminate()
  await product.restart()
  const person = await product.signIn('ada')
  const { app, installations } = await person.ask(getGitHubAccess)
  expect([app?.name, installations]).toEqual(['Made here', []])

  // What the App is installed for, a person's token reaches.
  const names = async () =>
    (await person.ask(listRepositories)).repositories.map(({ full_name }) => full_name)
  const again = cookieOf(await sends('/login', { login: 'ada' }))
  const installed = await sends(
    '/apps/made-here/installations',
    { target_id: '1001', selection: 'all' },
    again,
  )
  expect(installed.status).toBe(303)
  await expect.poll(names).toContain('ada/engine')
  const projectId = await person.project('engine')
  const { id } = await person.task(projectId, 'Say goodbye in the README')
  expect(await person.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
  const asked = { params: { taskId: id } }
  expect(JSON.stringify((await person.ask(getTaskDiff, asked)).data)).toContain('+Goodbye.')
  const { pr } = await person.ask(createPullRequest, asked)
  const Pull = z.object({ state: z.string(), user: z.object({ login: z.string() }) })
  const pull = await fetch(`${product.codeHostUrl}/api/v3/repos/ada/engine/pulls/${pr?.number}`)
  expect(Pull.parse(await pull.json())).toEqual({ state: 'open', user: { login: 'ada' } })
})
