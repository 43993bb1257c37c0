/** Which blobs are removed and which are kept, with real engines: the log decides. */
import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BlobRef } from '#domain/kernel/ids.schema.ts'
import type { AnyEvent } from '#domain/kernel/event.ts'
import { imageStream, scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import type { DomainEvent } from '#domain/events.ts'
import { ImageDiscarded, ImageUploaded } from '#domain/image.ts'
import { MessageQueued, TaskDeleted, WorkSaved, WorkspaceChanged } from '#domain/task/events.ts'
import { quarantine } from '#platform/eventlog/quarantine.ts'
import { sealedBlobs, type SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { executionId, imageId, messageId, taskId, userId } from '../../tests/domain/ids.ts'
import { cause, eventually, openTestEngines, type TestEngines } from '../../tests/server/engines.ts'
import { startBlobSweep, sweepBlobs, type BlobSweepEngines, type Sweeping } from './blobSweep.ts'

const dayMs = 86_400_000

let engines: TestEngines
let blobs: SealedBlobs
/** How far the sweep's clock is ahead, in ms. */
let laterMs: number
let told: string[]
beforeEach(async () => {
  engines = await openTestEngines()
  blobs = sealedBlobs(engines)
  laterMs = dayMs + 60_000
  told = []
})
afterEach(() => engines.close())

function sweeping(others: Partial<BlobSweepEngines> = {}): BlobSweepEngines {
  const tell = (_: unknown, message: string) => void told.push(message)
  const logger: BlobSweepEngines['logger'] = Object.assign(Object.create(engines.logger), {
    info: () => undefined,
    warn: tell,
    error: tell,
  })
  return { ...engines, blobs, logger, clock: { now: () => new Date(Date.now() + laterMs) }, ...others }
}
const sweep = (others?: Partial<BlobSweepEngines>, how?: Sweeping) => sweepBlobs(sweeping(others), how)

const task = taskStream(taskId(1))
const put = (stream = task) => blobs.put(scopeOfStream(stream), randomBytes(20))
const isThere = async ({ hash }: BlobRef) => (await engines.blobs.get(hash)) !== undefined
const areThere = (refs: readonly BlobRef[]) => Promise.all(refs.map(isThere))

async function append(stream: string, ...events: readonly DomainEvent[]): Promise<void> {
  await engines.log.append(stream, await engines.log.headOf(stream), events, cause())
}

const facts = (n: number, blob: BlobRef) =>
  ({ imageId: imageId(n), mediaType: 'image/png', width: 6, height: 4, blob }) as const
const uploaded = (n: number, blob: BlobRef) =>
  ImageUploaded.of({ ...facts(n, blob), ownerId: userId(1) }, { name: 'a.png' })
const queued = (blob: BlobRef) =>
  MessageQueued.of(
    {
      messageId: messageId(1),
      kind: 'turn',
      agent: 'claude',
      images: [{ ...facts(1, blob), uploadedAt: '2025-01-01T00:00:00.000Z' }],
    },
    { message: 'a', imageNames: ['a.png'] },
  )
const saved = (bundle: BlobRef, session: BlobRef | null = null) =>
  WorkSaved.of(
    {
      executionId: executionId(1),
      bundle,
      session: session && { agent: 'claude', blob: session },
    },
    { work: 'a'.repeat(40) },
  )
const changed = (blob: BlobRef | null) =>
  WorkspaceChanged.of(
    {
      executionId: executionId(1),
      files: 1,
      additions: 1,
      deletions: 0,
      ahead: 0,
      behind: 0,
      truncated: false,
      blob,
    },
    { currentBranch: 'a', baseBranch: 'main', tree: null },
  )

describe('a blob', () => {
  test('that no event names goes when it is a day old, and not before', async () => {
    await append(task, changed(null))
    const orphan = await put()
    laterMs = dayMs - 60_000
    await sweep()
    expect(await isThere(orphan)).toBe(true)
    laterMs = dayMs + 60_000
    await sweep()
    expect(await isThere(orphan)).toBe(false)
    expect(told).toEqual([])
  })

  test('that an event names stays: images, changes, saved work and sessions', async () => {
    const image = await put(imageStream(imageId(2)))
    const refs = [await put(), await put(), await put(), await put()] as const
    const [inMessage, diff, bundle, session] = refs
    await append(imageStream(imageId(2)), uploaded(2, image))
    await append(task, queued(inMessage), changed(diff), saved(bundle, session), changed(null))
    await sweep()
    expect(await areThere([image, ...refs])).toEqual([true, true, true, true, true])
  })

  test('that a deleted task or a discarded image names goes, and no other task’s', async () => {
    const image = await put(imageStream(imageId(2)))
    const [first, last, others] = [await put(), await put(), await put(taskStream(taskId(2)))]
    await append(imageStream(imageId(2)), uploaded(2, image), ImageDiscarded.of({}))
    await append(task, changed(first), saved(last), TaskDeleted.of({}))
    await append(taskStream(taskId(2)), changed(others))
    await append(taskStream(taskId(3)), TaskDeleted.of({}))
    await sweep()
    expect(await areThere([image, first, last, others])).toEqual([false, false, false, true])
  })

  test('that two streams name stays while one of them lives', async () => {
    const shared = await put()
    await append(task, changed(shared), TaskDeleted.of({}))
    await append(taskStream(taskId(2)), changed(shared))
    await sweep()
    expect(await isThere(shared)).toBe(true)
  })

  test('that an event of a newer version names, in whatever place, stays', async () => {
    const ref = await put()
    const data = { kept: { deeply: [{ inside: ref.hash }] } }
    await appendRaw('later-1', { type: 'KeptLater', data, content: null })
    await sweep()
    expect(await isThere(ref)).toBe(true)
  })

  test('that is named while the sweep lists stays', async () => {
    await append(task, changed(null))
    const ref = await put()
    async function* list(putBefore: Date) {
      for await (const hash of blobs.list(putBefore)) {
        await append(task, changed(ref))
        yield hash
      }
    }
    await sweep({ blobs: { ...blobs, list } })
    expect(await isThere(ref)).toBe(true)
  })

  test('is removed only while it is as old as when it was listed: one that is put again stays', async () => {
    await append(task, changed(null))
    await put()
    const ages: (Date | undefined)[] = []
    const list: SealedBlobs['list'] = (putBefore) => {
      ages.push(putBefore)
      return blobs.list(putBefore)
    }
    const remove: SealedBlobs['remove'] = async (_, putBefore) => void ages.push(putBefore)
    const now = new Date(Date.now() + 2 * dayMs)
    await sweep({ blobs: { list, remove }, clock: { now: () => now } })
    const dayBefore = new Date(now.getTime() - dayMs)
    expect(ages).toEqual([dayBefore, dayBefore])
  })

  test('that cannot be removed holds up none of the others, and is tried again', async () => {
    await append(task, changed(null))
    const refs = [await put(), await put(), await put()]
    const [stuck] = refs
    const remove: SealedBlobs['remove'] = async (ref, putBefore) => {
      if (ref.hash === stuck?.hash) throw new Error('the disk fails here')
      await blobs.remove(ref, putBefore)
    }
    await sweep({ blobs: { ...blobs, remove } })
    expect(await areThere(refs)).toEqual([true, false, false])
    expect(told).toEqual(['failed to remove an unreferenced blob'])
    await sweep()
    expect(await areThere(refs)).toEqual([false, false, false])
  })

  test('goes also where others cannot be listed, and that is told', async () => {
    await append(task, changed(null))
    const ref = await put()
    async function* list(putBefore: Date) {
      yield* blobs.list(putBefore)
      throw new Error('a folder cannot be read')
    }
    await expect(sweep({ blobs: { ...blobs, list } })).rejects.toThrow('a folder cannot be read')
    expect(await isThere(ref)).toBe(false)
  })

  test('is one of more than are looked for at once', async () => {
    const refs = await Promise.all(Array.from({ length: 25 }, () => put()))
    await append(task, ...refs.filter((_, n) => n % 2 === 0).map((ref) => changed(ref)))
    let readings = 0
    const readAll: TestEngines['eventStore']['readAll'] = (after, limit) => {
      if (after === null) readings += 1
      return engines.eventStore.readAll(after, limit)
    }
    await sweep({ eventStore: { readAll } }, { blobsAtOnce: 10 })
    expect(await areThere(refs)).toEqual(refs.map((_, n) => n % 2 === 0))
    expect(readings).toBe(3)
  })

  test('that one of a thousand events names is found wherever the event is', async () => {
    const refs = [await put(), await put(), await put()]
    const [first, middle, last] = refs.map((ref) => changed(ref))
    const others = Array.from({ length: 300 }, () => changed(null))
    for (const named of [first, middle, last])
      if (named) await append(task, ...others, named, ...others.slice(0, 30))
    const orphan = await put()
    await sweep()
    expect(await areThere([...refs, orphan])).toEqual([true, true, true, false])
  })
})

describe('nothing is removed', () => {
  test('for a week by a log that does not go on from where it was, such as an older copy or another', async () => {
    const started = Date.now()
    const all = await many(3)
    await append(task, changed(await put()))
    await sweep()
    // The log is replaced by an older copy that lacks the latest events. Their blob is still stored.
    const older = all.at(1)?.position ?? ''
    const ref = await put()
    const readAll: TestEngines['eventStore']['readAll'] = async (after, limit) =>
      (await engines.eventStore.readAll(after, limit)).filter(({ position }) => position <= older)
    const days = async (n: number) => {
      const now = new Date(started + n * dayMs)
      await sweep({ eventStore: { readAll }, clock: { now: () => now } })
    }
    await days(2)
    expect(told).toEqual([expect.stringContaining('the log was replaced or restored')])
    await days(3)
    await days(8.9)
    expect(await isThere(ref)).toBe(true)
    expect(told).toHaveLength(1)
    await days(9.1)
    expect(await isThere(ref)).toBe(false)
  })

  test('by a log without an event', async () => {
    const ref = await put()
    await sweep()
    expect(await isThere(ref)).toBe(true)
  })

  test('while events are missing from a history: they may be put back, with what they name', async () => {
    const { readStore } = engines
    await append(task, changed(null))
    const ref = await put()
    await readStore.prepare([quarantine])
    const flawed = { id: task, revision: 3, type: 'WorkSaved', reason: 'broken_chain' }
    const at = { collection: quarantine.name, position: '9' } as const
    await readStore.apply([{ kind: 'put', ...at, document: flawed }], null)
    await sweep()
    expect(await isThere(ref)).toBe(true)
    expect(told).toEqual([expect.stringContaining('while a stream is damaged')])
    await readStore.apply([{ kind: 'remove', ...at, id: task }], null)
    await sweep()
    expect(await isThere(ref)).toBe(false)
  })

  test('once the sweep is stopped, also in the middle of the log', async () => {
    await many(600)
    const ref = await put()
    const stopping = new AbortController()
    const readAll: TestEngines['eventStore']['readAll'] = (after, limit) => {
      if (after !== null) stopping.abort()
      return engines.eventStore.readAll(after, limit)
    }
    await sweep({ eventStore: { readAll } }, { signal: stopping.signal })
    expect(stopping.signal.aborted).toBe(true)
    expect(await isThere(ref)).toBe(true)
  })

  /** Appends `count` events. Returns the first `count` events of the log. */
  async function many(count: number) {
    await append(task, ...Array.from({ length: count }, () => changed(null)))
    return engines.eventStore.readAll(null, count)
  }
})

test('the sweep that runs removes them, outlives a fault, and ends when it is stopped', async () => {
  await append(task, changed(null))
  const ref = await put()
  const failing = await startBlobSweep(
    sweeping({ eventStore: { readAll: () => Promise.reject(new Error('it is away')) } }),
  )
  await eventually('it is told', () => told.includes('failed to remove unreferenced blobs'))
  await failing.stop()
  expect(await isThere(ref)).toBe(true)
  const running = await startBlobSweep(sweeping())
  await eventually('it is removed', async () => !(await isThere(ref)))
  await running.stop()
})

/** Appends an event of an unknown kind, as another version of Flightdeck might. */
async function appendRaw(stream: string, { type, data }: AnyEvent): Promise<void> {
  await engines.eventStore.append(stream, -1, [
    {
      id: randomUUID(),
      stream,
      revision: 0,
      type,
      version: 1,
      at: new Date().toISOString(),
      data,
      content: null,
      meta: {
        ...cause(),
        correlationId: randomUUID(),
        causationId: null,
        follows: null,
        content: null,
        prev: '',
        hash: 'a'.repeat(64),
      },
    },
  ])
}
