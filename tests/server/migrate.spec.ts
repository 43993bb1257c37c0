/**
 * `npm start -- migrate`: the data folder of an earlier version is carried to shared engines, and the command is killed twice on the way. Then both
 * ends verify alike, and the product on the shared engines shows what the folder's had shown.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lockFile } from '#platform/engines/sqlite.ts'
import { runProduct, startProduct } from '../product.ts'
import { serverEntry } from '../product/server.ts'
import { forMongo, startSharedEngines, type SharedEngines } from '../servers/sharedEngines.ts'
import { startEventStoreDb } from '../standins/eventStoreDb.ts'
import { archives, eventsOf, recorded, unpackKept, type KeptFolder } from './keptFolder.ts'
import { openStoppedProduct } from './stoppedProduct.ts'
import { hasEnded } from './scene.ts'

const mongo = await forMongo()
const [archive = ''] = archives

/** Without positions, which belong to the event store. */
const unplaced = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(recorded(value)), (name, member: unknown) =>
    name === 'position' && typeof member === 'string' ? null : member,
  )

describe.skipIf('missing' in mongo)('migrate', () => {
  let kept: KeptFolder
  let engines: SharedEngines
  let embedded: Readonly<Record<string, string>>
  beforeAll(async () => {
    if ('missing' in mongo) return
    engines = await startSharedEngines(mongo.server)
    kept = await unpackKept(archive)
    const masterKey = (await readFile(join(kept.dataDir, 'master.key'), 'utf8')).trim()
    embedded = { PATH: process.env['PATH'] ?? '', DATA_DIR: kept.dataDir, MASTER_KEY: masterKey }
  })
  afterAll(async () => {
    await engines?.close()
    await rm(kept?.folder ?? '', { recursive: true, force: true })
  })

  const migrate = (env: Readonly<Record<string, string>> = {}) =>
    runProduct({ ...embedded, ...engines.env, ...env }, ['migrate'])
  const verify = (env: Readonly<Record<string, string>> = {}) =>
    runProduct({ ...embedded, ...env }, ['verify'])
  const stored = () => engines.eventStore.copy().filter(({ stream }) => !stream.startsWith('$'))

  /** Kills it before it gets the answer to the append of this number. */
  async function killedAtAppend(number: number): Promise<void> {
    const isSilent = engines.eventStore.silentAfter(number)
    const child = spawn(process.execPath, [serverEntry, 'migrate'], {
      env: { ...embedded, ...engines.env },
      stdio: 'ignore',
    })
    const ended = once(child, 'close')
    await isSilent
    child.kill('SIGKILL')
    expect((await ended)[1]).toBe('SIGKILL')
    engines.eventStore.answerAgain()
  }

  /** Changes the files of the event store while it is down. */
  async function putBack(records: ReturnType<SharedEngines['eventStore']['copy']>): Promise<void> {
    engines.eventStore.kill()
    engines.eventStore.putBack(records)
    await engines.eventStore.restart()
  }

  test('is refused without an engine or a folder, with another master key, and while the folder is in use', async () => {
    const refused = async (env: Readonly<Record<string, string>>, why: RegExp) =>
      expect(await migrate(env)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(why) })
    for (const name of ['EVENTSTORE_URL', 'MONGODB_URL', 'NATS_URL'])
      await refused({ [name]: '' }, /^Set EVENTSTORE_URL, MONGODB_URL and NATS_URL/)
    await refused({ DATA_DIR: join(kept.folder, 'nowhere') }, /^There is no data folder at .*nowhere/)
    const keyless = join(kept.folder, 'keyless')
    await cp(kept.dataDir, keyless, { recursive: true })
    await rm(join(keyless, 'vault.sqlite'))
    await refused({ DATA_DIR: keyless }, /^The data folder at .*keyless has no keys \(vault\.sqlite\)/)
    await refused({ MASTER_KEY: randomBytes(32).toString('base64') }, /sealed with another master key/)
    const release = lockFile(join(kept.dataDir, 'lock'))
    await refused({}, /is in use by another Flightdeck/)
    release?.()
    expect(stored()).toEqual([])
  })

  test('is refused by an event store with another log', async () => {
    const other = await startEventStoreDb()
    try {
      const address = { EVENTSTORE_URL: `esdb://127.0.0.1:${other.port}?tls=false` }
      // Whatever opens an empty log begins it.
      await verify({ ...engines.env, ...address })
      expect(other.events).toBe(1)
      expect(await migrate(address)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /^EventStoreDB already has another log, which begins with log-main @ 0/,
        ),
      })
      expect(other.events).toBe(1)
    } finally {
      other.kill()
    }
  })

  test('killed twice, it goes on: both ends verify alike, and the product on the engines shows what was there', async () => {
    const folder = await openStoppedProduct(kept.dataDir)
    await folder.vault.putSecret('user:erased', 'TOKEN', 'erased')
    await folder.vault.putSecret('user:changed', 'TOKEN', 'first')
    await folder.vault.putSecret('user:changed', 'REMOVED', 'removed')
    await folder.vault.putSecret('user:changed', 'REMOVED_EARLY', 'removed')
    await folder.close()

    // Keys and blobs come first: here no event was carried yet.
    await killedAtAppend(1)
    await putBack([])
    const early = await openStoppedProduct(kept.dataDir)
    await early.vault.removeSecret('user:changed', 'REMOVED_EARLY')
    await early.close()
    await killedAtAppend(20)

    // What is in the way is named, and nothing is copied over it.
    const whole = engines.eventStore.copy()
    const changed = stored().at(-2)
    await putBack(
      whole.map((record) =>
        record === changed ? { ...record, data: Buffer.from('{"data":{},"content":null}') } : record,
      ),
    )
    const place = `${changed?.stream} @ ${changed?.revision}`
    expect(await migrate()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `EventStoreDB has ${place} where the data folder has ${place}, and they differ`,
      ),
    })
    await putBack(whole)

    // The product may have run in between.
    const again = await openStoppedProduct(kept.dataDir)
    await again.vault.destroy('user:erased')
    await again.vault.putSecret('user:changed', 'TOKEN', 'second')
    await again.vault.removeSecret('user:changed', 'REMOVED')
    await again.close()
    await killedAtAppend(20)

    // MongoDB may be away for longer than one call waits for it.
    engines.eventStore.fallSilent()
    // The stores of MongoDB are open when the first call reaches EventStoreDB.
    const isWaiting = engines.eventStore.unanswered()
    const carrying = migrate()
    await isWaiting
    await engines.mongo.shut()
    engines.eventStore.answerAgain()
    await pause(7_000)
    await engines.mongo.open()
    const carried = await carrying
    expect(carried).toMatchObject({ code: 0 })
    expect(carried.stdout).toMatch(
      /the same at both ends: \d+ events in \d+ streams, \d+ blobs, \d+ keys and secrets/,
    )
    expect(carried.stdout).toContain(`: ${stored().length} events`)
    const [here, there] = [await verify(), await verify(engines.env)]
    expect(here).toMatchObject({ code: 0, stdout: expect.stringMatching(/^The log is whole: .* seals hold/) })
    expect(there).toEqual(here)

    const events = await readFile(join(kept.dataDir, 'events.sqlite'))
    const env = { ALLOWED_USERS: '*', ADMINS: 'ada', ...embedded, ...engines.env }
    const product = await startProduct({ dataDir: kept.dataDir, env })
    try {
      const ada = await product.signIn('ada', { onboarding: 'left' })
      const { ids, answers, bundles } = kept.expected
      for (const [path, answer] of Object.entries(answers))
        await expect
          .poll(async () => {
            const { status, body } = await ada.api('GET', path)
            return { path, status, body: unplaced(body) }
          })
          .toMatchObject({ path, status: 200, body: unplaced(answer) })
      for (const [taskId, lines] of Object.entries(bundles)) {
        const { text } = await ada.api('GET', `/tasks/${taskId}/audit`)
        expect(eventsOf(text.trimEnd().split('\n'))).toEqual(eventsOf(lines))
      }
      const [taskId = ''] = ids.tasks
      const before = await ada.taskOnce(taskId, hasEnded)
      await ada.api('POST', `/tasks/${taskId}/chat`, { message: 'Go on' })
      await ada.taskOnce(
        taskId,
        (now) => hasEnded(now) && (now.execution?.turn ?? 0) > (before.execution?.turn ?? 0),
      )
      await product.terminate()
      expect(await verify(engines.env)).toMatchObject({ code: 0 })
      // Nothing more is taken from the folder, which is as it was.
      expect(await migrate()).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^Flightdeck has already run on these engines/),
      })
      expect(await readFile(join(kept.dataDir, 'events.sqlite'))).toEqual(events)
      // The queue knows positions of the log that was there, so it must be empty too.
      await putBack([])
      const emptied = { MONGODB_URL: engines.env.MONGODB_URL.replace('?', '_2?') }
      expect(await migrate(emptied)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /^Flightdeck has already run on these engines, .* MongoDB and NATS\.$/m,
        ),
      })

      // The way back: seals that are newer than the folder's log are known to be those of what it gave up.
      expect(await verify()).toMatchObject({ code: 1, stdout: expect.stringContaining('seal-') })
      expect(await runProduct(embedded, ['restored'])).toMatchObject({ code: 0 })
      expect(await verify()).toMatchObject({ code: 0 })
    } finally {
      await product.stop()
    }
  })
})
