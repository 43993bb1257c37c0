/**
 * A product whose read models are rebuilt, and which is killed meanwhile, while somebody reads and writes. Before each rebuild the live documents are
 * marked, so that every answer shows whether it came from the old generation, from the new one, or from parts of both.
 */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { getMe } from '#domain/api/auth.schema.ts'
import { getChat, getCommands } from '#domain/api/chat.schema.ts'
import { listProjects } from '#domain/api/projects.schema.ts'
import { getTask, listTasks, updateTask } from '#domain/api/tasks.schema.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { ToolFinished, ToolStarted } from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import { views } from '#domain/views/registry.ts'
import { commands } from '#platform/commands/execute.ts'
import { openStores, type OwnStores, type StoresConfig } from '#platform/compose.ts'
import { logger } from '#platform/log.ts'
import type { Position } from '#domain/kernel/event.ts'
import { changeCatalog, type Document, type Generation, type ReadStore } from '#platform/ports/readStore.ts'
import { openSqliteReadStore } from '#platform/readstore/sqlite.ts'
import { auxiliaryCollections, openFold } from '../../services/query/projection/fold.ts'
import { creating } from '../domain/creating.ts'
import { addressOf } from '../product/person.ts'
import type { ProductOptions } from '../product.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

/** The word in new documents, and the word that replaces it in old ones. */
const [fresh, stale] = ['fresh', 'stale']
const quietTasks = 12
const betweenWritesMs = 200
const betweenReadsMs = 50
const readableWithinMs = 120_000
const startAttempts = 4

export interface RebuildScene extends Scene {
  /**
   * Requests a rebuild of all read models, and marks the live documents as old. `mark` does that in the engine, for the name under which a collection
   * is stored: it replaces one text by another. The product must not be running.
   */
  wantAll(mark: (stored: string, from: string, to: string) => Promise<void>): Promise<void>
  /** Starts the product, and tries again if a busy machine takes too long; `false` when the product was killed while starting. */
  start(isKilled?: () => boolean): Promise<boolean>
  /** Whether all requested generations are live. */
  isSwapped(): Promise<boolean>
  /** Whether all requested generations are live, and no other generation is stored. */
  isRebuilt(): Promise<boolean>
  /** Throws unless the live documents are those that the log folds to, byte for byte. Nothing may be written meanwhile. */
  checkRebuilt(): Promise<void>
  /** The number of the live generation. */
  liveNumber(): Promise<number>
  /** Reads and writes until it is told to stop; then throws if any answer was wrong. */
  disturb(): { stop(): Promise<void> }
  /** How many reads and writes were answered, and how many reads from the old generation. */
  readonly counts: { reads: number; old: number; writes: number }
  /**
   * The live generation while the product is down. Throws unless it is the same one, complete, in all collections; the last writes may be missing in
   * it.
   */
  generation(): Promise<'old' | 'new'>
}

/** Documents by collection, each as a line of text. */
type Lines = Readonly<Record<string, readonly string[]>>

/** `toolCalls` is the number of tool calls in one of the tasks. */
export async function openRebuildScene(
  options: Pick<ProductOptions, 'env' | 'preload'>,
  storesOf: (dataDir: string) => StoresConfig,
  toolCalls: number,
): Promise<RebuildScene> {
  const env = { REQUESTS_PER_MINUTE: '0', TASKS_AT_ONCE: '1000', ...options.env }
  const scene = await openScene([{ turns: [{ text: `${fresh} words` }] }], { ...options, env })
  const { ada, product, projectId } = scene
  const written = await ada.task(projectId, 'Written to all the time')
  await ada.taskOnce(written.id, hasEnded)
  const { user } = await ada.ask(getMe)
  await product.terminate()
  const stores = await openStores(storesOf(product.dataDir), logger('warn'))
  const quiet = Array.from({ length: quietTasks }, () => randomUUID())
  for (const [index, id] of quiet.entries())
    await appendTask(stores, { id, ownerId: user.id, projectId }, index === 0 ? toolCalls : 3)
  await product.restart()

  const { readStore } = stores
  const counts = { reads: 0, old: 0, writes: 0 }
  const [first = ''] = quiet
  const asked = {
    tasks: addressOf(listTasks, {}, { limit: '1000' }),
    chat: addressOf(getChat, { taskId: first }),
    commands: addressOf(getCommands, { taskId: first }),
    projects: addressOf(listProjects),
  }
  const isProjected = async () => (await read('commands')).text.includes(`call ${toolCalls}`)
  await until('the log is projected', isProjected)
  type Name = keyof typeof asked
  const names = Object.keys(asked) as Name[]
  const expected = new Map<Name, string>()
  for (const name of names) expected.set(name, (await read(name)).text)

  /** An answer without the task that is being written to. */
  async function read(name: Name): Promise<{ status: number; text: string }> {
    const { status, body, text } = await ada.api('GET', asked[name])
    if (name !== 'tasks' || status !== 200) return { status, text }
    const { tasks, ...rest } = listTasks.answer.parse(body)
    return { status, text: JSON.stringify({ ...rest, tasks: tasks.filter(({ id }) => id !== written.id) }) }
  }

  /** Whether an answer is from the old or the new generation. Throws when it is from neither. */
  function generationOf(name: Name, { status, text }: { status: number; text: string }): 'old' | 'new' {
    if (status !== 200) throw new Error(`${name} answered ${status}: ${text}`)
    const isOld = text.includes(stale)
    if (isOld && text.includes(fresh))
      throw new Error(`${name} answered with parts of both generations: ${text}`)
    if (text.replaceAll(stale, fresh) !== expected.get(name))
      throw new Error(`${name} answered ${text} instead of ${expected.get(name)}`)
    return isOld ? 'old' : 'new'
  }

  async function isSwapped(): Promise<boolean> {
    const { live, wanted, building } = await readStore.catalog()
    return wanted.length === 0 && building === null && Object.keys(live).length === views.length
  }

  function disturb() {
    const stopping = new AbortController()
    const { signal } = stopping
    let acknowledged = 0
    const title = (n: number) => `Written ${n}`
    const writing = (async () => {
      for (let n = 1; !signal.aborted; n += 1) {
        const body = { title: title(n) }
        const done = await whileServed(() =>
          ada.api(updateTask.method, addressOf(updateTask, { taskId: written.id }), body),
        )
        if (done !== undefined) {
          if (done.status !== 200) throw new Error(`A write was answered ${done.status}: ${done.text}`)
          acknowledged = n
          counts.writes += 1
        }
        await pause(betweenWritesMs)
      }
    })()
    const reading = (async () => {
      const seenNew = new Set<Name>()
      for (let n = 0; !signal.aborted; n += 1) {
        await pause(betweenReadsMs)
        const atLeast = acknowledged
        const shown = await whileServed(() => ada.ask(getTask, { params: { taskId: written.id } }))
        const at = Number(/^Written (\d+)$/.exec(shown?.task.title ?? '')?.[1] ?? 0)
        if (shown !== undefined && at < atLeast)
          throw new Error(`The task shows write ${at} after write ${atLeast} was accepted.`)
        const name = names[n % names.length] ?? 'tasks'
        const answer = await whileServed(() => read(name))
        if (answer === undefined) continue
        counts.reads += 1
        const generation = generationOf(name, answer)
        if (generation === 'old') counts.old += 1
        if (generation === 'old' && seenNew.has(name)) throw new Error(`${name} is old again: ${answer.text}`)
        if (generation === 'new' && answer.text.includes(fresh)) seenNew.add(name)
      }
    })()
    // A fault that one of the loops finds ends both.
    const both = Promise.all([writing, reading].map((one) => one.finally(() => stopping.abort())))
    both.catch(() => undefined)
    return {
      async stop() {
        stopping.abort()
        await both
      },
    }
  }

  return {
    ...scene,
    counts,
    disturb,
    async wantAll(mark) {
      const { live } = await readStore.catalog()
      for (const { name } of Object.values(live)) await mark(name, fresh, stale)
      await changeCatalog(readStore, (catalog) => ({ ...catalog, wanted: collections }))
    },
    async start(isKilled = () => false) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          await product.restart()
          return true
        } catch (fault) {
          if (isKilled()) return false
          if (attempt === startAttempts) throw fault
          await product.kill9()
        }
      }
    },
    isSwapped,
    isRebuilt: async () => (await isSwapped()) && (await readStore.generations()).length === views.length,
    async checkRebuilt() {
      const { live, folded } = await documentsOf(stores)
      expect(live).toEqual(folded)
    },
    liveNumber: async () => numberOf(Object.values((await readStore.catalog()).live)[0]),
    async generation() {
      const { live } = await readStore.catalog()
      if (new Set(Object.values(live).map(numberOf)).size !== 1)
        throw new Error(`More than one generation is live: ${JSON.stringify(live)}`)
      const documents = await documentsOf(stores)
      const [found, wanted] = [documents.live, documents.folded].map((lines) =>
        Object.entries(lines).flatMap(([name, ofOne]) =>
          ofOne.map((line) => (line.includes(written.id) ? `${name} ${written.id}` : `${name} ${line}`)),
        ),
      )
      const text = found?.join('\n') ?? ''
      if (text.includes(stale) && text.includes(fresh))
        throw new Error(`Parts of both generations are live: ${text}`)
      if (text.replaceAll(stale, fresh) !== wanted?.join('\n'))
        throw new Error(`What is live is not whole: ${text} instead of ${wanted?.join('\n')}`)
      return text.includes(stale) ? 'old' : 'new'
    },
    async close() {
      await stores.close()
      await scene.close()
    },
  }
}

/** The answer; `undefined` while the product is down. */
async function whileServed<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (fault) {
    // `fetch` throws this for a connection that is refused or breaks.
    if (!(fault instanceof TypeError)) throw fault
    await pause(20)
    return undefined
  }
}

/** Appends the events of a task that has done its work. */
async function appendTask(
  { log }: OwnStores,
  { id, ownerId, projectId }: { id: string; ownerId: string; projectId: string },
  toolCalls: number,
): Promise<void> {
  const by = () => ({ actor: { kind: 'user', userId: ownerId } as const, commandId: randomUUID() })
  const { execute } = commands(log)
  const stream = taskStream(id)
  const executionId = randomUUID()
  const words = { title: `A ${fresh} title`, description: `${fresh} words` }
  const ids = { taskId: id, messageId: randomUUID(), executionId }
  await execute(task, stream, { ...creating(), ...ids, ...words, ownerId, projectId }, by())
  const fence = { executionId, attempt: 1 }
  await execute(
    task,
    stream,
    { type: 'StartExecution', executionId, afterAttempt: 0, runnerId: 'a runner' },
    by(),
  )
  const progress = Array.from({ length: toolCalls }, (_, index) => {
    const of = { executionId, toolId: `tool ${index + 1}` }
    return [
      ToolStarted.of(
        { ...of, kind: 'run', parentToolId: null },
        { name: 'Bash', target: `call ${index + 1}`, input: fresh },
      ),
      ToolFinished.of(
        { ...of, ok: true, durationMs: 1, exitCode: 0, additions: null, deletions: null },
        { summary: 'passed', output: fresh },
      ),
    ]
  }).flat()
  await execute(task, stream, { type: 'RecordProgress', fence, progress }, by())
  const outcome = { kind: 'completed', exitCode: 0 } as const
  await execute(
    task,
    stream,
    { type: 'EndExecution', fence, outcome, terminal: null, nextExecutionId: randomUUID() },
    by(),
  )
}

const collections = views.map(({ collection }) => collection)

/** The number in the name of a generation; 0 without one. */
function numberOf(generation: Generation | undefined): number {
  return Number(/_g(\d+)$/.exec(generation?.name ?? '')?.[1] ?? 0)
}

const sort = { field: 'id', direction: 'ascending' } as const

async function documentsOf({
  eventStore,
  readStore,
  log,
}: OwnStores): Promise<{ live: Lines; folded: Lines }> {
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-folded-'))
  const own = openSqliteReadStore({ file: join(folder, 'views.sqlite') })
  const linesOf = async (store: ReadStore): Promise<Lines> =>
    Object.fromEntries(
      await Promise.all(
        collections.map(async (name) => {
          const found = await store.find(name, { where: {}, sort, limit: 1_000_000 })
          return [name, found.map((document: Document) => JSON.stringify(document))] as const
        }),
      ),
    )
  try {
    await own.prepare([
      ...auxiliaryCollections,
      ...views.map(({ collection, indexes }) => ({ name: collection, indexes })),
    ])
    const fold = await openFold(views, { store: own, log, logger: logger('silent') })
    for (let after: Position | null = null; ;) {
      const events: Awaited<ReturnType<typeof eventStore.readAll>> = await eventStore.readAll(after, 1_000)
      if (events.length === 0) break
      await fold.fold(events, null)
      after = events.at(-1)?.position ?? after
    }
    return { live: await linesOf(readStore), folded: await linesOf(own) }
  } finally {
    await own.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Waits until the condition holds; throws with what was awaited when it does not in time. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + readableWithinMs; ;) {
    if (await holds()) return
    if (Date.now() > end) throw new Error(`It did not come to be: ${what}`)
    await pause(20)
  }
}
