/**
 * The log of a main job: every stream is one hash chain, destroying a key removes the texts and keeps the rest, and read models can be thrown away.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getChat, getCommands, getTerminal } from '#domain/api/chat.schema.ts'
import {
  createPullRequest,
  executeTask,
  getTask,
  getTaskDiff,
  listTasks,
  updateTask,
} from '#domain/api/tasks.schema.ts'
import { scopeOfStream, taskStream, terminalStream } from '#domain/kernel/streams.ts'
import { chatView, messageDocumentId } from '#domain/views/chat.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { documents } from '#platform/reads/documents.ts'
import { openSqlite } from '#platform/engines/sqlite.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import { runProduct } from '../product.ts'
import { randomRuns } from '../longRun.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'
import { foundTamperings, sealOnlyTamperings, tamperedWith } from './tampering.ts'
import { byStream, faultsOf, openStoppedProduct, type StoppedProduct } from './stoppedProduct.ts'
import { intact } from '#platform/ports/eventStore.ts'

const words = 'Plugh the words that somebody wrote'
const change = { name: 'Bash', input: { command: 'echo plugh >> README.md', description: 'Change' } }

let scene: Scene
let taskId = ''
let otherId = ''
beforeAll(async () => {
  scene = await openScene([
    { turns: [{ text: 'I change it.', tools: [change] }, { text: 'Changed, plugh.' }] },
  ])
  const { ada, projectId } = scene
  const done = async (description: string) => {
    const task = await ada.task(projectId, description)
    const params = { taskId: task.id }
    await ada.taskOnce(task.id, hasEnded)
    await ada.ask(executeTask, { params, body: { command: 'echo plugh' } })
    await ada.taskOnce(task.id, (now) => hasEnded(now) && now.execution?.turn === 2)
    await ada.ask(createPullRequest, { params })
    // What is read of the pull request changes the task once more.
    await ada.taskOnce(task.id, (now) => now.pullRequest !== undefined)
    return task.id
  }
  ;[taskId, otherId] = await Promise.all([done(words), done('Another task')])
})
afterAll(() => scene?.close())

/** Stops the product, works on what it keeps, and starts it again. */
async function withStopped<T>(use: (engines: StoppedProduct) => Promise<T>): Promise<T> {
  await scene.product.terminate()
  const engines = await openStoppedProduct(scene.product.dataDir)
  try {
    return await use(engines)
  } finally {
    await engines.close()
    await scene.product.restart()
  }
}

/** Documents that are folded from the log alone: of a read store that has nothing. */
function foldedBy(log: StoppedProduct['log']) {
  const unused = () => Promise.reject(new Error('Only documents are asked for.'))
  const nothing: ReadStore = {
    prepare: unused,
    apply: unused,
    checkpoint: unused,
    get: async () => undefined,
    getMany: unused,
    find: unused,
    count: unused,
    catalog: unused,
    replaceCatalog: unused,
    forget: unused,
    generations: unused,
    drop: unused,
    aside: unused,
    removeAsides: unused,
    scrub: unused,
    ready: unused,
    close: unused,
  }
  return documents(nothing, log)
}

/** All that the API shows of a task. */
async function shown(id: string) {
  const { ada } = scene
  const params = { taskId: id }
  return {
    task: await ada.ask(getTask, { params }),
    chat: await ada.ask(getChat, { params }),
    commands: await ada.ask(getCommands, { params }),
    terminal: await ada.ask(getTerminal, { params }),
    diff: await ada.ask(getTaskDiff, { params }),
    list: (await ada.ask(listTasks)).tasks.filter((task) => task.id === id),
  }
}

test('every stream is a hash chain from its first event, and the end of each turn names the terminal’s head', async () => {
  await withStopped(async ({ eventStore }) => {
    const events = intact(await eventStore.readAll(null, 100_000))
    const streams = byStream(events)
    const kinds = [...streams.keys()].map((stream) => stream.slice(0, stream.indexOf('-')))
    // Whether a webhook came before the stop is up to the code host.
    expect(kinds.filter((kind) => kind !== 'delivery').toSorted()).toEqual([
      'identity',
      'log',
      'project',
      'seal',
      'task',
      'task',
      'terminal',
      'terminal',
      'usage',
      'user',
    ])
    expect([...streams].flatMap(([stream, ofStream]) => faultsOf(stream, ofStream))).toEqual([])

    for (const id of [taskId, otherId]) {
      const terminal = streams.get(terminalStream(id)) ?? []
      const ends = (streams.get(taskStream(id)) ?? []).filter(({ type }) => type === 'ExecutionCompleted')
      expect(ends).toHaveLength(2)
      for (const { data } of ends) {
        const { revision = -1, hash } = Object(data).terminal
        expect(terminal[revision]?.meta.hash).toBe(hash)
      }
      // Nothing was printed after the last end.
      expect(Object(ends.at(-1)?.data).terminal.revision).toBe(terminal.length - 1)
    }
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
  })
})

test('a log that somebody changed is not whole: each kind of change is told with its place', async () => {
  await withStopped(async ({ eventStore, vault }) => {
    const log = intact(await eventStore.readAll(null, 100_000))
    const times = randomRuns(5)
    const found = await tamperedWith(log, vault, { tamperings: foundTamperings, times, seed: 18 })
    expect(found.missed).toEqual([])
    expect(found.tried).toBe(times * foundTamperings.length)
    expect(foundTamperings.length).toBeGreaterThanOrEqual(25)
  })
})

test('what is as it could have been is left to a seal to find', async () => {
  await withStopped(async ({ eventStore, vault }) => {
    const log = intact(await eventStore.readAll(null, 100_000))
    const { missed } = await tamperedWith(log, vault, { tamperings: sealOnlyTamperings, times: 1, seed: 18 })
    expect(missed).toEqual(sealOnlyTamperings.map(({ kind }) => kind))
  })
})

test('the read models can be thrown away: what is shown is the same, byte for byte', async () => {
  const before = [await shown(taskId), await shown(otherId)]
  await scene.product.terminate()
  for (const ending of ['', '-wal', '-shm'])
    await rm(join(scene.product.dataDir, `views.sqlite${ending}`), { force: true })
  await scene.product.restart()
  await scene.ada.taskOnce(taskId, hasEnded)
  const after = [await shown(taskId), await shown(otherId)]
  expect(JSON.stringify(after)).toBe(JSON.stringify(before))
})

describe('a task with an event that cannot be read', () => {
  test('shows what is known of it, takes nothing new, and hurts no other, also when the read models are gone', async () => {
    const file = join(scene.product.dataDir, 'events.sqlite')
    const damage = async (content: string | null) => {
      await scene.product.terminate()
      const db = openSqlite({ file, synchronous: 'FULL', formats: [''], firstFormat: 4 })
      const at = [taskStream(otherId), 5] as const
      const [before = null] =
        db
          .prepare<[string, number], [string | null]>(
            'SELECT content FROM events WHERE stream = ? AND revision = ?',
          )
          .get(...at) ?? []
      db.prepare<[string | null, string, number]>(
        'UPDATE events SET content = ? WHERE stream = ? AND revision = ?',
      ).run(content, ...at)
      db.close()
      for (const ending of ['', '-wal', '-shm'])
        await rm(join(scene.product.dataDir, `views.sqlite${ending}`), { force: true })
      await scene.product.restart()
      return before
    }
    const whole = await shown(otherId)
    const content = await damage('AAAA')
    const { ada, product } = scene
    expect((await fetch(`${product.base}/readyz`)).status).toBe(200)
    expect((await ada.taskOnce(taskId, hasEnded)).unreadable).toBeUndefined()
    const damaged = await ada.taskOnce(otherId, (now) => now.unreadable !== undefined)
    expect(damaged.unreadable?.revision).toBe(5)
    const refused = await ada.api('POST', `/tasks/${otherId}/chat`, { message: 'more' })
    expect(refused).toMatchObject({ status: 409, body: { code: 'history_unreadable' } })
    expect(await ada.ask(updateTask, { params: { taskId }, body: { title: 'Still at work' } })).toBeTruthy()
    await damage(content)
    await scene.ada.taskOnce(otherId, hasEnded)
    expect(JSON.stringify(await shown(otherId))).toBe(JSON.stringify(whole))
  })
})

test('the read models are made anew beside the running product when an operator asks, and nothing shows it', async () => {
  const before = JSON.stringify([await shown(taskId), await shown(otherId)])
  const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: scene.product.dataDir }
  const over = new AbortController()
  const asked = runProduct(env, ['rebuild']).finally(() => over.abort())
  const seen = new Set<string>()
  while (!over.signal.aborted) seen.add(JSON.stringify([await shown(taskId), await shown(otherId)]))
  expect(await asked).toMatchObject({ code: 0, stdout: expect.stringContaining('rebuilt from the log.') })
  expect([...seen]).toEqual([before])
  const ready = await fetch(`${scene.product.base}/readyz`)
  expect(await ready.json()).toMatchObject({ ready: true, parts: { projection: true } })
})

describe('once the key of a task is destroyed', () => {
  test('its words are gone from every fold, its facts are there, and its blobs cannot be read', async () => {
    const other = await shown(otherId)
    await withStopped(async ({ vault, log, documents, blobs, eventStore }) => {
      const stream = taskStream(taskId)
      const scope = scopeOfStream(stream)
      const head = await log.headOf(stream)
      const recorded = (await documents.asOf(tasksView, stream, taskId, head))?.recorded?.blob
      if (!recorded) throw new Error('The change was recorded.')
      expect(Buffer.from((await blobs.get(scope, recorded)) ?? []).toString()).toContain('plugh')

      await vault.destroy(scope)
      expect(await blobs.get(scope, recorded)).toBeUndefined()
      const events = [
        ...(await log.read(stream, 0, 1_000)),
        ...(await log.read(terminalStream(taskId), 0, 1_000)),
      ]
      expect(events.every(({ content }) => content === null)).toBe(true)
      expect(
        [...byStream(intact(await eventStore.readAll(null, 100_000)))].flatMap(([name, of]) =>
          faultsOf(name, of),
        ),
      ).toEqual([])

      const first = events.find((event) => event.type === 'MessageQueued')
      const messageId = first?.type === 'MessageQueued' ? first.data.messageId : ''
      const rebuilt = foldedBy(log)
      expect(await rebuilt.asOf(tasksView, stream, taskId, head)).toMatchObject({
        title: '',
        description: '',
        branch: '',
        status: 'completed',
        prNumber: null,
        changes: { files: 1, additions: 1 },
      })
      const id = messageDocumentId(taskId, messageId)
      expect(await rebuilt.asOf(chatView, stream, id, head)).toMatchObject({
        message: null,
        status: 'completed',
      })
    })
    // The others are not touched.
    expect(await shown(otherId)).toEqual(other)
  })

  test('the product goes on with it: it is listed and opened, and nothing new can be written to it', async () => {
    await scene.product.terminate()
    for (const ending of ['', '-wal', '-shm'])
      await rm(join(scene.product.dataDir, `views.sqlite${ending}`), { force: true })
    await scene.product.restart()
    await scene.ada.taskOnce(taskId, hasEnded)
    const { task, chat, terminal, diff, list } = await shown(taskId)
    expect(list).toMatchObject([{ title: '', status: 'completed' }])
    expect(task).toMatchObject({ task: { description: '' }, data: { changedFiles: [] } })
    expect(chat.messages.length).toBeGreaterThan(3)
    expect(chat.messages.every(({ message }) => message === null)).toBe(true)
    expect(terminal.output.every(({ content }) => content === '')).toBe(true)
    expect(diff.data).toMatchObject({ status: 'ready', changedFiles: [], totalChanges: 1 })
    expect(JSON.stringify([task, chat, terminal, diff, list])).not.toMatch(/plugh/i)

    const live = await scene.ada.socket()
    const { position = '0' } = chat.messages[0] ?? {}
    expect(await live.join(taskId, position)).toMatchObject({ joined: true })
    expect(JSON.stringify(live.heard)).not.toMatch(/plugh/i)
    live.close()
    const refused = await scene.ada.refused(updateTask, { params: { taskId }, body: { title: 'New words' } })
    expect(refused.status).toBeGreaterThanOrEqual(400)
  })
})
