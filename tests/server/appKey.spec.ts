/** A key of the App that GitHub refuses: the product does not use a person's token instead, and reports it to everybody concerned. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getChat } from '#domain/api/chat.schema.ts'
import { getGitHubRights } from '#domain/api/github.schema.ts'
import { getNotices } from '#domain/api/server.schema.ts'
import { createPullRequest } from '#domain/api/tasks.schema.ts'
import {
  clientId,
  clientSecret,
  localRepository,
  startLocal,
  type LocalCodeHost,
} from '../contracts/codeHost.fixture.ts'
import type { Person } from '../product/person.ts'
import { ownFolder, startProduct, type Product } from '../product.ts'
import { startFaultyHost, type FaultyHost } from '../standins/faultyHost.ts'
import { startMessagesApi, type MessagesApi } from '../standins/messagesApi.ts'
import { files, hasEnded } from './scene.ts'

const work = { name: 'Bash', input: { command: 'date +%N >> README.md', description: 'Work' } }
let folder = ''
let host: FaultyHost
let local: LocalCodeHost
let api: MessagesApi
let product: Product
let ada: Person
let projectId = ''
/** A task that was done while the key was accepted. */
let doneId = ''

beforeAll(async () => {
  folder = await ownFolder()
  await localRepository(join(folder, 'engine'), files)
  host = await startFaultyHost()
  local = await startLocal(join(folder, 'codehost'), { seeds: [{ source: join(folder, 'engine') }] })
  host.passTo(local.url)
  api = await startMessagesApi([{ turns: [{ tools: [work] }, { text: 'It is done.' }] }])
  if (!local.app) throw new Error('The local code host has no App.')
  product = await startProduct({
    model: { messagesApi: api },
    env: {
      GITHUB_SERVER_URL: host.url,
      GITHUB_API_URL: `${host.url}/api/v3`,
      GITHUB_CLIENT_ID: clientId,
      GITHUB_CLIENT_SECRET: clientSecret,
      GITHUB_APP_ID: String(local.app.id),
      GITHUB_APP_SLUG: local.app.slug,
      GITHUB_APP_PRIVATE_KEY: local.app.privateKey,
      ALLOWED_USERS: '*',
      ADMINS: 'ada',
    },
  })
  ada = await product.signIn('ada')
  projectId = await ada.project('engine')
  doneId = (await ada.task(projectId, 'Say hello')).id
  await ada.taskOnce(doneId, ({ status }) => status === 'completed')
  await product.terminate()
  host.meet(/\/app\/installations/, { when: 'before', how: { status: 401 }, always: true })
  host.take()
  await product.restart()
})
afterAll(async () => {
  await product?.stop()
  await local?.stop()
  await host?.close()
  await api?.close()
  await rm(folder, { recursive: true, force: true })
})

const sentence = /GitHub refuses the private key of Flightdeck's App.*An administrator of this server/

const gitRequests = () => host.take().filter(({ line }) => line.includes('.git/'))
const lastWords = async (taskId: string) =>
  (await ada.ask(getChat, { params: { taskId } })).messages.at(-1)?.message

describe('github 1.1: a key of the App that GitHub refuses', () => {
  // Holds findings 1.129.
  test('ends a task with the credential that was refused, and git asks for nothing with another', async () => {
    const { id } = await ada.task(projectId, 'Say hello')
    expect(await ada.taskOnce(id, hasEnded)).toMatchObject({ status: 'failed' })
    expect(await lastWords(id)).toMatch(sentence)
    expect(gitRequests()).toEqual([])
  })

  test('keeps a pull request from being pushed with another, which is said to who asked and in the task', async () => {
    const refused = await ada.refused(createPullRequest, { params: { taskId: doneId }, body: {} })
    expect(refused).toMatchObject({
      status: 503,
      code: 'app_key_refused',
      error: expect.stringMatching(sentence),
    })
    expect(gitRequests()).toEqual([])
    await expect.poll(() => lastWords(doneId)).toMatch(sentence)
  })

  test('is told to administrators on every page and on that of the rights, and to nobody else', async () => {
    expect((await ada.ask(getNotices)).notices).toEqual([expect.stringMatching(/private key.*GitHub Rights/)])
    const grace = await product.signIn('grace')
    expect((await grace.ask(getNotices)).notices).toEqual([])
    expect((await ada.ask(getGitHubRights)).installations).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringMatching(/private key.*GITHUB_APP_PRIVATE_KEY/),
    })
  })
})
