/**
 * The steps of docs/operating/backup.md for backup and restore on shared engines, carried out one by one, and the services with the restored data.
 */
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { MongoClient, type Document } from 'mongodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getChat } from '#domain/api/chat.schema.ts'
import { getTask, listTasks } from '#domain/api/tasks.schema.ts'
import { servicesApart } from '../../product/servicesApart.ts'
import { cleanEnvironment } from '../../product/server.ts'
import { runProduct } from '../../product.ts'
import { forMongo } from '../../servers/sharedEngines.ts'
import { changeSomething, openApartScene, readyTask, type ApartScene } from '../../server/apartScene.ts'
import { hasEnded } from '../../server/scene.ts'

const mongo = await forMongo()
/** How many events the last seal of the file is over. */
async function sealedIn(file: string): Promise<number> {
  const last = (await readFile(file, 'utf8').catch(() => '')).trimEnd().split('\n').at(-1) ?? ''
  return Number(/"checkpoint":"[^\\]+\\n(\d+)\\n/.exec(last)?.[1] ?? 0)
}
const nextDigit = (digit: string) => String((Number(digit) + 1) % 10)

describe.skipIf('missing' in mongo)('shared engines', () => {
  let scene: ApartScene
  let client: MongoClient
  beforeAll(async () => {
    if ('missing' in mongo) return
    scene = await openApartScene(mongo.server, [changeSomething])
    client = await MongoClient.connect(scene.engines.env.MONGODB_URL)
  })
  afterAll(async () => {
    await client?.close()
    await scene?.close()
  })

  /** As `mongodump` has it: every document of every collection. */
  async function dump(): Promise<ReadonlyMap<string, Document[]>> {
    const database = client.db()
    const names = await database.listCollections({}, { nameOnly: true }).toArray()
    return new Map(
      await Promise.all(
        names.map(async ({ name }) => [name, await database.collection(name).find().toArray()] as const),
      ),
    )
  }
  /** As `mongorestore --drop` does it; indexes stay, as they are made by their names. */
  async function restoreDump(dumped: ReadonlyMap<string, Document[]>): Promise<void> {
    const database = client.db()
    for (const { name } of await database.listCollections({}, { nameOnly: true }).toArray())
      await database.collection(name).deleteMany({})
    for (const [name, documents] of dumped)
      if (documents.length > 0) await database.collection(name).insertMany(documents)
  }
  const processes = () => servicesApart.flatMap((service) => scene.product.of[service])

  test('that are put back from a backup have what it had, lose what came later, and everything goes on', async () => {
    const { ada, engines, product } = scene
    const kept = await readyTask(scene)
    const before = (await ada.ask(getTask, { params: { taskId: kept.id } })).task
    const said = (await ada.ask(getChat, { params: { taskId: kept.id } })).messages
    const events = engines.eventStore.copy()
    const documents = await dump()
    const lost = await readyTask(scene)
    const workspaceOf = ({ id }: { readonly id: string }) =>
      join(product.folderOf('runner', 0), 'data', 'runner', 'tasks', id, 'ready.json')
    expect([kept, lost].map((task) => existsSync(workspaceOf(task)))).toEqual([true, true])
    // The agent of a task that is kept leaves something that the restored log will not know.
    const leftBehind = join(dirname(workspaceOf(kept)), 'tree', 'left-behind.txt')
    await writeFile(leftBehind, 'work of the lost future')
    // With the defaults, what is older than a minute is under a seal outside of the engines.
    const dataDir = join(product.folderOf('command', 0), 'data')
    const seals = join(dataDir, 'seals.ndjson')
    const ours = engines.eventStore.copy().filter((record) => !record.stream.startsWith('$'))
    const appended = ours.findLastIndex((record) => !record.stream.startsWith('seal-')) + 1
    await expect.poll(() => sealedIn(seals)).toBeGreaterThanOrEqual(appended)

    await Promise.all(processes().map((server) => server.terminate()))
    engines.eventStore.kill()
    await engines.nats.stop()
    engines.eventStore.putBack(events)
    await engines.eventStore.restart()
    await restoreDump(documents)
    await engines.nats.forget()
    await engines.nats.start()

    const env = {
      ...cleanEnvironment(product.folderOf('command', 0)),
      ...engines.env,
      MASTER_KEY: product.masterKey,
      DATA_DIR: dataDir,
    }
    // Until it is said to be restored, a log that was put back is one whose end was cut.
    expect(await runProduct(env, ['verify'])).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/seal-1 @ \d+ is over more events than the log has: its end was cut/),
    })
    expect(await runProduct(env, ['restored'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/goes on in epoch 2/),
    })
    expect(await runProduct(env, ['verify'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/The log is whole.* \d+ seals hold/),
    })
    await Promise.all(processes().map((server) => server.start()))

    await expect.poll(() => existsSync(workspaceOf(lost))).toBe(false)
    // A restore signs everybody out.
    await expect.poll(() => product.signIn('ada').then(() => true)).toBe(true)
    expect((await ada.api('GET', '/tasks')).status).toBe(401)
    const back = await product.signIn('ada')
    // Read models are made anew first; until they are there, all that needs them is refused.
    const again = () =>
      back.api(
        'POST',
        `/tasks/${kept.id}/chat`,
        { message: 'Change something' },
        { 'idempotency-key': 'again' },
      )
    await expect.poll(async () => (await again()).status).toBe(201)
    expect(await back.taskOnce(kept.id, (now) => hasEnded(now) && now.execution?.turn === 2)).toMatchObject({
      status: 'completed',
    })
    expect(existsSync(workspaceOf(kept))).toBe(true)
    expect(existsSync(leftBehind)).toBe(false)
    const { task } = await back.ask(getTask, { params: { taskId: kept.id } })
    const { id, title, createdAt, branch, workingBranch } = before
    expect(task).toMatchObject({ id, title, createdAt, branch, workingBranch })
    const { messages } = await back.ask(getChat, { params: { taskId: kept.id } })
    expect(messages.slice(0, said.length)).toEqual(said)
    expect((await back.ask(listTasks)).tasks.map((one) => one.id)).toEqual([kept.id])
    expect(await back.refused(getTask, { params: { taskId: lost.id } })).toMatchObject({ status: 404 })

    await expect.poll(() => readFile(seals, 'utf8')).toMatch(/\/log\/[0-9a-f-]+\/2\\n/)

    // `verify` names what was changed in the event store.
    await Promise.all(processes().map((server) => server.terminate()))
    engines.eventStore.kill()
    const stream = `task-${kept.id}`
    const whole = engines.eventStore.copy()
    const changed = whole.map((record) =>
      record.stream === stream && record.revision === 2
        ? { ...record, data: Buffer.from(Buffer.from(record.data).toString().replace(/\d/, nextDigit)) }
        : record,
    )
    engines.eventStore.putBack(changed)
    await engines.eventStore.restart()
    const found = await runProduct(env, ['verify'])
    expect(found.code).toBe(1)
    expect(found.stdout).toContain(`${stream} @ 2 `)
    engines.eventStore.kill()
    engines.eventStore.putBack(whole)
    await engines.eventStore.restart()
    expect(await runProduct(env, ['verify'])).toMatchObject({ code: 0 })
  })
})
