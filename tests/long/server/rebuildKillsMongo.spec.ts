/**
 * kill -9 of the product after each write of a rebuild of its read models, and of their swap, to MongoDB, while it answers and is written
 * to. A gate before the server counts the writes; the one that the process is killed at is done, and its answer is lost.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { BSON, MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { StoredCatalog } from '#platform/ports/catalog.ts'
import { note } from '../../report/notes.ts'
import { gateBefore, startMongoServer } from '../../servers/mongodb.ts'
import { commandFrom, oneAtATime } from '../../servers/oneAtATime.ts'
import { withDatabase } from '../../servers/sharedEngines.ts'
import { pointsOf } from '../../server/faults/pointsOf.ts'
import { openRebuildScene, until, type RebuildScene } from '../../server/rebuildScene.ts'

const server = await startMongoServer()
afterAll(() => server.close())
/** The stand-in looks through a whole collection for each write. */
const toolCalls = 20
/** After each such kill the product goes on to the end; else it is killed at the next step of what it begins anew. */
const recoveredEvery = 4

/** The writes of a rebuild since the last start. */
interface Count {
  readonly steps: string[]
  /** The process is killed at the step of this number, or at the first one of this kind. */
  readonly at: number | string
  /** The number of the generation that was live when it began: what the projector writes to it all the time is not counted. */
  readonly live: number
  begun: number
  isOver: boolean
}

const Update = z.object({ u: z.object({ body: z.string() }) })

/** The step that a command is; `undefined` for what is no step of a rebuild. */
function stepOf(message: Buffer, count: Count): string | undefined {
  const command = documentAt(message, commandFrom)
  const [[name = '', collection] = []] = Object.entries(command)
  if (collection === 'catalog') return catalogStep(message, count)
  if (typeof collection !== 'string' || !collection.startsWith('docs_')) return undefined
  if (name === 'drop') return 'drop a collection'
  if (name === 'createIndexes') return 'make an index'
  return collection.endsWith(`_g${count.live}`) ? undefined : `${name} documents`
}

/** https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/#op_msg */
function documentAt(message: Buffer, from: number): BSON.Document {
  return BSON.deserialize(message.subarray(from, from + message.readInt32LE(from)))
}

function catalogStep(message: Buffer, count: Count): string | undefined {
  // The driver sends what is written in a section of its own: its kind, its length, its name, and the documents.
  const section = commandFrom + message.readInt32LE(commandFrom)
  const update = Update.parse(documentAt(message, message.indexOf(0, section + 1 + 4) + 1))
  const { building, last, live, wanted } = StoredCatalog.parse(JSON.parse(update.u.body))
  if (building === null)
    return wanted.length === 0 && Object.keys(live).length > 0 ? 'catalog: swap' : 'catalog: start'
  if (last !== count.begun) {
    count.begun = last
    return 'catalog: begin'
  }
  // It comes once a second.
  return count.steps.at(-1) === 'catalog: progress' ? undefined : 'catalog: progress'
}

describe.skipIf(!server.isThere)(`on ${server.what}`, () => {
  let scene: RebuildScene
  let client: MongoClient
  let end = async () => {}
  let count: Count | undefined
  /** Kills the product, and resolves when it is gone. */
  let killed: Promise<void> | undefined

  function onWritten(message: Buffer): 'answer' | 'silence' {
    if (count === undefined) return 'answer'
    const step = count.isOver ? undefined : stepOf(message, count)
    if (step !== undefined) count.steps.push(step)
    if (step !== undefined && (count.steps.length === count.at || step === count.at)) {
      count.isOver = true
      killed = scene.product.kill9()
    }
    return count.isOver ? 'silence' : 'answer'
  }

  beforeAll(async () => {
    const { gate, url } = await gateBefore(server, oneAtATime(onWritten))
    const database = `flightdeck_test_${randomUUID().replaceAll('-', '')}`
    const masterKey = randomBytes(32).toString('base64')
    const mongo = withDatabase(server.url, database)
    client = await MongoClient.connect(mongo)
    const env = { MONGODB_URL: withDatabase(url, database), MASTER_KEY: masterKey }
    const config = { engines: { eventStore: null, mongo, nats: null }, masterKey }
    end = async () => {
      await scene?.close()
      await client.db().dropDatabase()
      await client.close()
      await gate.shut()
    }
    scene = await openRebuildScene({ env }, (dataDir) => ({ dataDir, ...config }), toolCalls)
  }, 300_000)
  afterAll(() => end())

  /** Marks what is live as old, and asks for all of it to be rebuilt. The product must be down. */
  async function wantAll(): Promise<void> {
    await scene.wantAll(async (stored, from, to) => {
      const collection = client.db().collection<{ _id: string }>(`docs_${stored}`)
      for (const { _id, ...rest } of await collection.find().toArray())
        await collection.replaceOne({ _id }, JSON.parse(JSON.stringify(rest).replaceAll(from, to)))
    })
  }

  /** Counts from here on, up to the step at which the product is killed. */
  async function arm(at: number | string): Promise<Count> {
    killed = undefined
    return (count = { at, steps: [], live: await scene.liveNumber(), begun: 0, isOver: false })
  }

  async function stepsOfAll(): Promise<readonly string[]> {
    await scene.product.kill9()
    await wantAll()
    const { steps } = await arm(Infinity)
    await scene.start()
    await until('it is rebuilt and tidied up', scene.isRebuilt)
    count = undefined
    await scene.product.terminate()
    await scene.checkRebuilt()
    return steps
  }

  /** The kinds of writes after which it was killed, which read models were live then, and how often all was rebuilt to the end and checked. */
  const hit: string[] = []
  const live = { old: 0, new: 0 }
  let made = 0

  /** Has it killed at the point of a rebuild; false when it was swapped without coming to the point. */
  async function killAt(point: number | string, goesOn: boolean): Promise<boolean> {
    const { product } = scene
    // What was begun before a kill is begun anew, and killed again.
    if (await scene.isSwapped()) await wantAll()
    const { steps } = await arm(point)
    const disturbing = scene.disturb()
    await scene.start(() => killed !== undefined)
    await until('it is killed or done', async () => killed !== undefined || (await scene.isRebuilt()))
    const wasKilled = killed !== undefined
    await killed
    count = undefined
    const generation = wasKilled ? await scene.generation() : 'new'
    if (wasKilled) {
      hit.push(steps.at(-1) ?? '')
      live[generation] += 1
      if (generation === 'new' || goesOn) {
        await scene.start()
        await until(`it is swapped after step ${point}, ${hit.at(-1)}`, scene.isSwapped)
      }
    }
    await disturbing.stop()
    if (await scene.isSwapped()) {
      // A running one keeps the old generation for calls under way; one that starts removes it at once.
      await product.kill9()
      await scene.start()
      await until(`all else is removed after step ${point}, ${hit.at(-1)}`, scene.isRebuilt)
      await product.terminate()
      await scene.checkRebuilt()
      made += 1
    }
    return wasKilled
  }

  test('wherever the product is killed while it rebuilds, each answer is of one whole generation, and what was begun is made good', async () => {
    const whole = await stepsOfAll()
    const kinds = [...new Set(whole)]
    const begun = performance.now()
    for (const [index, n] of pointsOf(whole).entries())
      if (!(await killAt(n, index % recoveredEvery === 0))) break
    // What is written meanwhile adds steps: the numbers do not lead to each kind.
    for (const kind of kinds) if (!hit.includes(kind)) await killAt(kind, true)
    expect(kinds.filter((kind) => !hit.includes(kind))).toEqual([])
    expect(await killAt(Infinity, true)).toBe(false)
    const seconds = Math.round((performance.now() - begun) / 1_000)
    const { counts } = scene
    note(
      'kill -9 at each step of a rebuild on MongoDB',
      `${server.what}: ${hit.length} kills at ${new Set(hit).size} kinds of steps, of ${whole.length} steps, in ${seconds} s: ` +
        `${live.old} left the old read models live, ${live.new} the new ones; ${made} times it went on to the end; ` +
        `${counts.reads} reads (${counts.old} of the old ones) and ${counts.writes} writes meanwhile`,
    )
    expect(live.old).toBeGreaterThan(0)
    expect(live.new).toBeGreaterThan(0)
  })
})
