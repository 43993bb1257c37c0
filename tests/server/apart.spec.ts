/** Services in processes of their own, on shared engines: the main job, and any one of them killed in the middle of it. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPullRequest, getTask, getTaskDiff } from '#domain/api/tasks.ts'
import { localRepository } from '../contracts/codeHost.fixture.ts'
import { startApart, type ApartProduct } from '../product/apart.ts'
import { ownFolder } from '../product.ts'
import type { Person } from '../product/person.ts'
import { forMongo, startSharedEngines, type SharedEngines } from '../servers/sharedEngines.ts'
import { startMessagesApi, type MessagesApi } from '../standins/messagesApi.ts'
import { files, hasEnded } from './scene.ts'

const mongo = await forMongo()

describe.skipIf('missing' in mongo)('services apart', () => {
  let engines: SharedEngines
  let product: ApartProduct
  let model: MessagesApi
  let ada: Person
  let projectId = ''
  let folder = ''
  beforeAll(async () => {
    if ('missing' in mongo) return
    folder = await ownFolder()
    const repository = join(folder, 'engine')
    await localRepository(repository, files)
    model = await startMessagesApi([
      {
        when: /Change something/,
        turns: [
          { tools: [{ name: 'Bash', input: { command: 'echo more >> README.md', description: 'Add' } }] },
          { text: 'Changed.' },
        ],
      },
    ])
    engines = await startSharedEngines(mongo.server)
    product = await startApart({ engines, repos: [repository], model: { messagesApi: model } })
    ada = await product.signIn('ada')
    projectId = await ada.project('engine')
  })
  afterAll(async () => {
    await product?.stop()
    await engines?.close()
    await model?.close()
    await rm(folder, { recursive: true, force: true })
  })

  test('do the main job', async () => {
    const task = await ada.task(projectId, 'Change something')
    const params = { taskId: task.id }
    expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({ status: 'completed' })
    expect((await ada.ask(getTaskDiff, { params })).data).toMatchObject({ exists: true })
    const { pr } = await ada.ask(createPullRequest, { params })
    expect((await ada.ask(getTask, { params })).task).toMatchObject({ prNumber: pr.number })
  })
})
