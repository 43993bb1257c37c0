/** What was deleted must be gone on shared engines too: looked for in every document of MongoDB, in NATS's files, and in each process's folder. */
import { randomBytes } from 'node:crypto'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deleteAccount } from '#domain/api/auth.ts'
import { sendMessage } from '#domain/api/chat.ts'
import { deleteProject } from '#domain/api/projects.ts'
import { updateProjectSettings } from '#domain/api/projectSettings.ts'
import { deleteTask, executeTask } from '#domain/api/tasks.ts'
import { forMongo } from '../servers/sharedEngines.ts'
import { onboard } from '../product/person.ts'
import { openApartScene, type ApartScene } from '../server/apartScene.ts'
import { hasEnded } from '../server/scene.ts'
import { search, type Found } from './dataFolder.ts'

const mongo = await forMongo()
const fresh = () => `quokka${randomBytes(6).toString('hex')}`

describe.skipIf('missing' in mongo)('finding 10: on shared engines', () => {
  let scene: ApartScene
  let client: MongoClient
  beforeAll(async () => {
    if ('missing' in mongo) return
    const turns = [
      {
        tools: [
          { name: 'Bash', input: { command: 'cat /workspace/.words >> README.md', description: 'Write' } },
        ],
      },
      { text: 'It is written.' },
    ]
    scene = await openApartScene(mongo.server, [{ when: /quokka/, turns }])
    client = await MongoClient.connect(scene.engines.env.MONGODB_URL)
  })
  afterAll(async () => {
    await client?.close()
    await scene?.close()
  })

  /** Every document of every collection, as text: blobs are in their chunks. */
  async function inMongo(word: string): Promise<readonly Found[]> {
    const database = client.db()
    const found: Found[] = []
    for (const { name } of await database.listCollections({}, { nameOnly: true }).toArray()) {
      for await (const document of database.collection(name).find({}, { promoteBuffers: true })) {
        if (textOf(document).includes(word)) found.push({ word, file: `MongoDB ${name}` })
      }
    }
    return found
  }

  async function found(word: string): Promise<readonly Found[]> {
    const { product, engines } = scene
    const folders = (['command', 'query', 'gateway', 'runner'] as const).map((service) =>
      product.folderOf(service, 0),
    )
    const places = await Promise.all(
      [...folders, engines.nats.folder].map((folder) => search(folder, [word])),
    )
    return [...places.flat(), ...(await inMongo(word))]
  }

  async function untilNothingIsFound(word: string) {
    for (const end = Date.now() + 60_000; ;) {
      const left = await found(word)
      if (left.length === 0 || Date.now() > end) return left
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }

  async function taskWith(word: string): Promise<string> {
    const { ada, projectId } = scene
    const { id } = await ada.task(projectId, `${word} is to be done`)
    const params = { taskId: id }
    await ada.taskOnce(id, hasEnded)
    const command = `echo ${word} > ${word}.txt; git add -A; git commit -qm ${word}; echo ${word}`
    await ada.ask(executeTask, { params, body: { command } })
    await ada.ask(sendMessage, { params, body: { message: `And mind ${word}` } })
    await ada.taskOnce(id, (now) => (now.execution?.turn ?? 0) >= 3 && hasEnded(now))
    return id
  }

  test('a deleted task leaves no word', async () => {
    const word = fresh()
    const taskId = await taskWith(word)
    const before = (await found(word)).map(({ file }) => file)
    // The search finds what there is.
    expect(before).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^MongoDB docs_messages/),
        expect.stringMatching(/^MongoDB docs_tasks/),
        expect.stringContaining(`runner/tasks/${taskId}/tree`),
      ]),
    )
    await scene.ada.ask(deleteTask, { params: { taskId } })
    expect(await untilNothingIsFound(word)).toEqual([])
  })

  test('nor does a deleted project, nor a deleted account', async () => {
    const { ada, product, projectId } = scene
    const word = fresh()
    const params = { projectId }
    await ada.ask(updateProjectSettings, { params, body: { variables: [{ name: 'GREETING', value: word }] } })
    await taskWith(word)
    await ada.ask(deleteProject, { params })
    expect(await untilNothingIsFound(word)).toEqual([])

    const grace = await product.signIn('grace', { onboarding: 'left' })
    const name = fresh()
    await onboard(grace, name)
    expect((await found(name)).length).toBeGreaterThan(0)
    await grace.ask(deleteAccount)
    expect(await untilNothingIsFound(name)).toEqual([])
  })
})

function textOf(document: unknown): string {
  return JSON.stringify(document, (_key, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
  )
}
