/** kill -9 of the product after each step of rebuilding and swapping its read models, on SQLite, while it answers and writes. */
import { DatabaseSync } from '@photostructure/sqlite'
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ownFolder } from '../../product.ts'
import { note } from '../../report/notes.ts'
import { pointsOf } from '../../server/faults/pointsOf.ts'
import { openRebuildScene, until, type RebuildScene } from '../../server/rebuildScene.ts'

const preload = fileURLToPath(new URL('../../server/faults/killRebuild.js', import.meta.url))
/** More than are moved or removed in one transaction. */
const toolCalls = 300
/** After each such kill the product goes on to the end; else it is killed at the next step of what it begins anew. */
const recoveredEvery = 4
/** More steps than there are. */
const never = 100_000

let scene: RebuildScene
let folder = ''
let order = ''
beforeAll(async () => {
  folder = await ownFolder()
  order = join(folder, 'order')
  const config = { engines: { eventStore: null, mongo: null, nats: null }, masterKey: undefined }
  const env = { KILL_REBUILD: order }
  scene = await openRebuildScene({ preload, env }, (dataDir) => ({ dataDir, ...config }), toolCalls)
})
afterAll(async () => {
  await scene?.close()
  await rm(folder, { recursive: true, force: true })
})

const at = (name: string) => join(scene.product.dataDir, name)

/** Has the process killed after its n-th step from here on, or after its first one of that kind. */
async function arm(point: number | string): Promise<void> {
  const [at, kind] = typeof point === 'number' ? [point, null] : [never, point]
  await rm(`${order}.steps`, { force: true })
  await writeFile(order, JSON.stringify({ at, kind, live: await scene.liveNumber() }))
}

/** The order to kill is there as long as it was not carried out. */
const isArmed = () => existsSync(order)

async function steps(): Promise<readonly string[]> {
  return (await readFile(`${order}.steps`, 'utf8').catch(() => '')).trimEnd().split('\n')
}

/** What a rebuild keeps beside the read models while it runs. */
async function asides(): Promise<readonly string[]> {
  return (await readdir(scene.product.dataDir)).filter((name) => name.includes('.part'))
}

/** Marks what is live as old, and asks for all of it to be rebuilt. The product must be down. */
async function wantAll(): Promise<void> {
  // As a rebuild left it that was killed on a machine with more cores.
  for (const left of ['part7', 'part7-wal']) await writeFile(at(`views.sqlite.${left}`), 'left')
  const db = new DatabaseSync(at('views.sqlite'), { timeout: 5_000 })
  try {
    await scene.wantAll(async (stored, from, to) => {
      db.prepare(`UPDATE "docs_${stored}" SET body = replace(body, ?, ?)`).run(from, to)
    })
  } finally {
    db.close()
  }
}

const isDone = async () => (await scene.isRebuilt()) && (await asides()).length === 0

/** Rebuilds once without a kill, and gives the steps of that. */
async function stepsOfAll(): Promise<readonly string[]> {
  await scene.product.kill9()
  await wantAll()
  await arm(never)
  await scene.start()
  await until('it is rebuilt and tidied up', async () => (await isDone()) && isTidy(await steps()))
  await rm(order)
  await scene.product.terminate()
  await scene.checkRebuilt()
  return steps()
}

/** The last of them is that the log of writes is emptied. */
const isTidy = (list: readonly string[]) => list.at(-1) === 'main, views: empty the write-ahead log'

const tidyWithinMs = 10_000

interface Killed {
  /** The kinds of steps after which it was killed, in their order. */
  readonly at: string[]
  /** Which read models were live then, and how often. */
  readonly live: { old: number; new: number }
  /** How often all was rebuilt to the end, and checked. */
  made: number
}

/** Has it killed at the point of a rebuild, and perhaps rebuild to the end; false when it got to the end without coming to the point. */
async function killAt(point: number | string, goesOn: boolean, killed: Killed): Promise<boolean> {
  const { product } = scene
  // What was begun before a kill is begun anew, and killed again.
  if (await scene.isSwapped()) await wantAll()
  await arm(point)
  const disturbing = scene.disturb()
  await scene.start(() => !isArmed())
  await until('it is killed or done', async () => !isArmed() || (await isDone()))
  // Emptying the log of writes comes last, and waits until nobody reads.
  const tidyBy = performance.now() + tidyWithinMs
  while (isArmed() && performance.now() < tidyBy && !isTidy(await steps())) await delay(20)
  const wasKilled = !isArmed()
  if (wasKilled) {
    await product.kill9()
    const generation = await scene.generation()
    killed.at.push((await steps()).at(-1) ?? '')
    killed.live[generation] += 1
    if (generation === 'new' || goesOn) {
      await scene.start()
      await until(`it is rebuilt after step ${point}, ${killed.at.at(-1)}`, isDone)
    }
  } else await rm(order)
  await disturbing.stop()
  if (await isDone()) {
    await product.terminate()
    await scene.checkRebuilt()
    killed.made += 1
  }
  return wasKilled
}

test('wherever the product is killed while it rebuilds, each answer is of one whole generation, and what was begun is made good', async () => {
  const { counts } = scene
  const whole = await stepsOfAll()
  const kinds = new Set(whole)
  const begun = performance.now()
  const killed: Killed = { at: [], live: { old: 0, new: 0 }, made: 0 }
  for (const [index, n] of pointsOf(whole).entries())
    if (!(await killAt(n, index % recoveredEvery === 0, killed))) break
  // What is written meanwhile adds steps: the numbers do not lead to each kind.
  for (const kind of kinds) if (!killed.at.includes(kind)) await killAt(kind, true, killed)
  expect([...kinds].filter((kind) => !killed.at.includes(kind))).toEqual([])
  expect(await killAt(never, true, killed)).toBe(false)
  const seconds = Math.round((performance.now() - begun) / 1_000)
  const { at: hit, live, made } = killed
  note(
    'kill -9 at each step of a rebuild on SQLite',
    `${hit.length} kills at ${new Set(hit).size} kinds of steps, of ${whole.length} steps, in ${seconds} s: ` +
      `${live.old} left the old read models live, ${live.new} the new ones; ${made} times it went on to the end; ` +
      `${counts.reads} reads (${counts.old} of the old ones) and ${counts.writes} writes meanwhile`,
  )
  expect(live.old).toBeGreaterThan(0)
  expect(live.new).toBeGreaterThan(0)
})
