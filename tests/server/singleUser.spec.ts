/** Single-user mode: with GITHUB_TOKEN in place of an App, whoever opens the server on this machine is the token's owner. */
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { disconnectGitHub, getMe } from '#domain/api/auth.schema.ts'
import { getGitHubRights } from '#domain/api/github.schema.ts'
import { getGitHubUser } from '#domain/api/projects.schema.ts'
import { createPullRequest } from '#domain/api/tasks.schema.ts'
import { localRepository, signIn, startLocal, type LocalCodeHost } from '../contracts/codeHost.fixture.ts'
import { onboard, type Person } from '../product/person.ts'
import { ownFolder, startProduct, type Product } from '../product.ts'
import { startMessagesApi, type MessagesApi } from '../standins/messagesApi.ts'
import { files, hasEnded } from './scene.ts'

let folder = ''
let local: LocalCodeHost
let api: MessagesApi
let product: Product
let ownToken = ''
/** What was done, and by whom. */
let done: { readonly ada: Person; readonly taskId: string }

beforeAll(async () => {
  folder = await ownFolder()
  await localRepository(join(folder, 'engine'), files)
  local = await startLocal(join(folder, 'host'), { seeds: [{ source: join(folder, 'engine') }] })
  ownToken = (await signIn(local.codeHost, 'ada')).accessToken
  api = await startMessagesApi([
    {
      turns: [
        {
          tools: [
            {
              name: 'Bash',
              input: {
                command: 'env > /workspace/environment; echo Hello >> README.md',
                description: 'Work',
              },
            },
          ],
        },
        { text: 'Done.' },
      ],
    },
  ])
  product = await startProduct({
    model: { messagesApi: api },
    env: {
      CODE_HOST: 'github',
      GITHUB_SERVER_URL: local.url,
      GITHUB_API_URL: local.api,
      GITHUB_TOKEN: ownToken,
    },
  })
})
afterAll(async () => {
  await product?.stop()
  await local?.stop()
  await api?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Presses the button: one request, without a page of the code host. */
async function enter(path = '/api/auth/github?nonce=0123456789abcdef', headers = {}): Promise<URL> {
  const { status, headers: answered } = await fetch(`${product.base}${path}`, { redirect: 'manual', headers })
  expect(status).toBe(302)
  return new URL(answered.get('location') ?? '', product.base)
}

test('the button signs in the owner of the token, who works on their repositories with it; it is in no log, event and box', async () => {
  const to = await enter()
  expect(to.pathname).toBe('/auth/callback')
  expect(to.searchParams.get('nonce')).toBe('0123456789abcdef')
  const ada = product.personWith(to.searchParams.get('token') ?? '')
  await onboard(ada, 'Ada Lovelace')
  // github 4.8: whose server it is.
  expect(await ada.ask(getMe)).toMatchObject({
    isAdmin: true,
    user: { githubUsername: 'ada', githubConnected: true },
  })
  expect(await ada.ask(getGitHubRights)).toMatchObject({ isSingleUser: true })
  expect(await ada.ask(getGitHubUser)).toMatchObject({ user: { login: 'ada' }, token: { kind: 'app_user' } })

  const projectId = await ada.project('engine')
  const { id } = await ada.task(projectId, 'Say hello')
  expect(await ada.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
  const { pr } = await ada.ask(createPullRequest, { params: { taskId: id }, body: {} })
  expect(pr.number).toBe(1)
  done = { ada, taskId: id }

  const inBox = await readFile(join(product.dataDir, 'runner', 'tasks', id, 'tree', 'environment'), 'utf8')
  expect(inBox).not.toContain(ownToken)
  expect(`${product.logs.stdout}${product.logs.stderr}`).not.toContain(ownToken)
  for (const name of await readdir(product.dataDir, { recursive: true })) {
    const content = await readFile(join(product.dataDir, name)).catch(() => Buffer.alloc(0))
    expect({ name, has: content.includes(ownToken) }).toEqual({ name, has: false })
  }

  // Disconnecting forgets it here; what the person made by hand stays good at the code host.
  await ada.ask(disconnectGitHub)
  expect((await ada.ask(getMe)).user).toMatchObject({ githubConnected: false })
  await local.codeHost.account(ownToken)
})

test.each([
  ['another site asks for it', { 'Sec-Fetch-Site': 'cross-site' }],
  ['a proxy passed it on that nobody told of', { 'X-Forwarded-For': '203.0.113.9' }],
])('nobody is signed in where %s', async (_, headers) => {
  const to = await enter('/api/auth/github', headers)
  expect(`${to.pathname}${to.search}`).toBe('/auth/callback?error=server')
})

test('there is no App to be set up, and nothing is printed about one', async () => {
  expect(product.logs.stdout).toContain('Single-user mode')
  expect(product.logs.stdout).not.toContain('setup#code')
  const setup: unknown = await (await fetch(`${product.base}/api/setup`)).json()
  expect(setup).toMatchObject({ isOpen: false })
})

test('github 4.7: a token that the code host no longer takes is told on the page of the sign-in, and at the start', async () => {
  await enter()
  await local.codeHost.revoke(ownToken)
  const { ada, taskId } = done
  expect(await ada.refused(createPullRequest, { params: { taskId }, body: {} })).toMatchObject({
    code: 'github_not_connected',
    // github 4.6: the sentence names the token, and how it is replaced.
    error: expect.stringMatching(/the token in GITHUB_TOKEN\. The work is kept\. Start the server with/),
  })
  const to = await enter()
  expect(`${to.pathname}${to.search}`).toBe('/auth/callback?error=github')
  expect(product.logs.stdout).not.toContain('no longer accepts the token')
  await product.terminate()
  await product.restart()
  await expect.poll(() => product.logs.stdout).toContain('GitHub no longer accepts the token in GITHUB_TOKEN')
})
