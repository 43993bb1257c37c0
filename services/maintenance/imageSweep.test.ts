/** How uploaded images are copied into messages, and how uploads are removed, with real engines. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { imageTexts } from '#domain/api/images.ts'
import { image } from '#domain/image.ts'
import { imageStream, scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import type { NamedImage } from '#domain/task/commands.ts'
import { task } from '#domain/task/task.ts'
import { imagesView } from '#domain/views/images.ts'
import { sealedBlobs, type SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { creating } from '../../tests/domain/creating.ts'
import { imageId, taskId } from '../../tests/domain/ids.ts'
import { cause, eventually, openTestEngines, somebody, type TestEngines } from '../../tests/server/engines.ts'
import { withImages } from '../command/attachImages.ts'
import { startImageSweep, sweepImages } from './imageSweep.ts'
import { foldView } from '../../tests/domain/fold.ts'

let engines: TestEngines
let blobs: SealedBlobs
/** Hashes of the blobs that were put and not removed. */
let stored: Set<string>
let now: Date
const other = { kind: 'user', userId: '00000000-a000-4000-8000-000000000002' } as const

beforeEach(async () => {
  engines = await openTestEngines()
  now = new Date()
  stored = new Set()
  const sealed = sealedBlobs(engines)
  blobs = {
    ...sealed,
    async put(scope, bytes) {
      const ref = await sealed.put(scope, bytes)
      stored.add(ref.hash)
      return ref
    },
    async remove(ref) {
      await sealed.remove(ref)
      stored.delete(ref.hash)
    },
  }
})
afterEach(() => engines.close())

async function upload(n: number, owner: { readonly userId: string } = somebody): Promise<string> {
  const id = imageId(n)
  const stream = imageStream(id)
  const blob = await blobs.put(scopeOfStream(stream), Buffer.from(`pixels ${n}`))
  const facts = {
    imageId: id,
    ownerId: owner.userId,
    mediaType: 'image/png',
    width: 6,
    height: 4,
    blob,
  } as const
  const command = { type: 'UploadImage', image: facts, name: `${n}.png` } as const
  await engines.commands.execute(image, stream, command, { actor: somebody, commandId: randomUUID() })
  return id
}

/** Makes a task with images, as the route does. */
function create(imageIds: readonly string[], commandId: string = randomUUID()) {
  const request = { actor: somebody, user: { id: somebody.userId }, commandId }
  const attaching = { taskId: taskId(1), messageId: creating().messageId, imageIds, request }
  return withImages({ ...engines, blobs }, attaching, (images) =>
    engines.commands.execute(task, taskStream(taskId(1)), { ...creating(), images }, cause(commandId)),
  )
}

const queued = async (): Promise<readonly NamedImage[]> => {
  const events = await engines.log.read(taskStream(taskId(1)), 0, 100)
  return events.flatMap((event) =>
    event.type === 'MessageQueued'
      ? event.data.images.map((facts, index) => ({ ...facts, name: event.content?.imageNames[index] ?? '' }))
      : [],
  )
}
const stateOf = async (id: string) => (await engines.commands.load(image, imageStream(id))).state
const missing = (n: number) => ({
  code: 'invalid_input',
  field: `images.${n}`,
  message: imageTexts.missing,
})

describe('an image that is attached', () => {
  test('is a copy under the key of the task, with its name apart', async () => {
    await create([await upload(1), await upload(2)])
    const images = await queued()
    expect(images.map(({ name }) => name)).toEqual(['1.png', '2.png'])
    const [first] = images
    if (!first) throw new Error('There is no image.')
    const read = await blobs.get(scopeOfStream(taskStream(taskId(1))), first.blob)
    expect(Buffer.from(read ?? []).toString()).toBe('pixels 1')
    expect(await stateOf(imageId(1))).toMatchObject({ kind: 'kept', isAttached: true })
  })

  test('goes with the key of its task', async () => {
    await create([await upload(1)])
    const [first] = await queued()
    if (!first) throw new Error('There is no image.')
    const scope = scopeOfStream(taskStream(taskId(1)))
    await engines.vault.destroy(scope)
    expect(await blobs.get(scope, first.blob)).toBeUndefined()
  })

  test('stays when what was uploaded is discarded', async () => {
    await create([await upload(1)])
    await engines.vault.destroy(scopeOfStream(imageStream(imageId(1))))
    const [first] = await queued()
    if (!first) throw new Error('There is no image.')
    expect(await blobs.get(scopeOfStream(taskStream(taskId(1))), first.blob)).toBeDefined()
  })

  test('must be one’s own and not discarded: the refusal is the same, and nothing is left', async () => {
    const own = await upload(1)
    const theirs = await upload(2, other)
    const gone = await upload(3)
    const discard = { type: 'DiscardImage' } as const
    await engines.commands.execute(image, imageStream(gone), discard, cause())
    const erased = await upload(4)
    await engines.vault.destroy(scopeOfStream(imageStream(erased)))
    const before = new Set(stored)
    for (const wrong of [theirs, gone, erased, imageId(9)])
      await expect(create([own, wrong])).rejects.toMatchObject(missing(1))
    expect(stored).toEqual(before)
    expect(await engines.log.read(taskStream(taskId(1)), 0, 10)).toEqual([])
    expect(await stateOf(own)).toMatchObject({ isAttached: false })
  })

  test('is taken back when the message is refused', async () => {
    await create([await upload(1)])
    const second = await upload(2)
    const before = new Set(stored)
    await expect(create([second])).rejects.toMatchObject({ code: 'already_exists' })
    expect(stored).toEqual(before)
    expect(await stateOf(second)).toMatchObject({ isAttached: false })
  })

  test('is not taken back when nobody knows whether the message came to be', async () => {
    const id = await upload(1)
    const before = stored.size
    const request = { actor: somebody, user: { id: somebody.userId }, commandId: randomUUID() }
    const attaching = { taskId: taskId(1), messageId: '', imageIds: [id], request }
    const broken = withImages({ ...engines, blobs }, attaching, () => Promise.reject(new Error('no answer')))
    await expect(broken).rejects.toThrow('no answer')
    expect(stored.size).toBe(before + 1)
  })

  test('is attached once by a command that is repeated, also when it is discarded by then', async () => {
    const commandId = randomUUID()
    const id = await upload(1)
    const first = await create([id], commandId)
    const before = new Set(stored)
    await engines.commands.execute(image, imageStream(id), { type: 'DiscardImage' }, cause())
    await engines.vault.destroy(scopeOfStream(imageStream(id)))
    const again = await create([id], commandId)
    expect(again).toMatchObject({ repeated: true, position: first.position })
    expect(stored).toEqual(before)
    expect(await queued()).toHaveLength(1)
  })

  test('is attached once by a command that comes many times at once', async () => {
    const commandId = randomUUID()
    const id = await upload(1)
    await Promise.all(Array.from({ length: 5 }, () => create([id], commandId)))
    const images = await queued()
    expect(images).toHaveLength(1)
    // The blobs of the upload and of one copy.
    expect(stored.size).toBe(2)
    expect(stored).toContain(images[0]?.blob.hash)
  })
})

describe('an uploaded image', () => {
  const day = 86_400_000
  const sweep = () =>
    sweepImages({ ...engines, blobs, clock: { now: () => now }, ids: { uuid: randomUUID } }, day)
  const shown = (id: string) => engines.documents.get(imagesView, id)

  /** Writes the documents of all images into the read store, as the projector does. */
  async function project(): Promise<void> {
    const { collection } = imagesView
    const stored = (await engines.eventStore.readAll(null, 5_000)).filter(imagesOnly)
    const events = await Promise.all(stored.map(engines.log.open))
    const documents = foldView(imagesView, new Map(), events)
    const position = events.at(-1)?.position ?? '0'
    const changes = [...new Set(events.flatMap((event) => imagesView.touches(event)))].map((id) => {
      const document = documents.get(id)
      return document === undefined
        ? ({ kind: 'remove', collection, id, position } as const)
        : ({ kind: 'put', collection, document: { ...document }, position } as const)
    })
    await engines.readStore.apply(changes, { projection: 'main', position })
  }
  const imagesOnly = ({ stream }: { readonly stream: string }) => stream.startsWith('image-')

  test('is discarded a day after it came, bytes, key and name, attached or not', async () => {
    const [waiting, attached] = [await upload(1), await upload(2)]
    await create([attached])
    const copies = (await queued()).map(({ blob }) => blob.hash)
    await project()
    expect([await shown(waiting), await shown(attached)]).toMatchObject([
      { isWaiting: true },
      { isWaiting: false },
    ])
    await sweep()
    expect(await stateOf(waiting)).toMatchObject({ kind: 'kept' })
    now = new Date(now.getTime() + day + 60_000)
    await sweep()
    for (const id of [waiting, attached]) {
      expect(await stateOf(id)).toEqual({ kind: 'discarded', ownerId: somebody.userId })
      const [uploaded] = await engines.log.read(imageStream(id), 0, 1)
      expect(uploaded).toMatchObject({ type: 'ImageUploaded', content: null })
      await project()
      expect(await shown(id)).toBeUndefined()
    }
    expect([...stored]).toEqual(copies)
  })

  test('is discarded also when a sweep was broken off in the middle of it', async () => {
    const id = await upload(1)
    await project()
    await engines.vault.destroy(scopeOfStream(imageStream(id)))
    now = new Date(now.getTime() + 2 * day)
    await sweep()
    expect(await stateOf(id)).toMatchObject({ kind: 'discarded' })
    expect(stored.size).toBe(0)
    await sweep()
    expect(await engines.log.read(imageStream(id), 0, 10)).toHaveLength(2)
  })

  test('is one of many that are discarded in one sweep, and younger ones stay', async () => {
    const ids: string[] = []
    for (let n = 1; n <= 230; n += 1) ids.push(await upload(n))
    await project()
    const uploaded = await Promise.all(
      ids.map(async (id) => Date.parse((await engines.log.read(imageStream(id), 0, 1))[0]?.at ?? '')),
    )
    const last = uploaded[219] ?? 0
    now = new Date(last + day)
    await sweep()
    const kinds = (await Promise.all(ids.map(stateOf))).map(({ kind }) => kind)
    expect(kinds).toEqual(uploaded.map((at) => (at <= last ? 'discarded' : 'kept')))
  })

  test('is discarded by the sweep that runs, until it is stopped', async () => {
    const sweepEngines = { ...engines, blobs, ids: { uuid: randomUUID } }
    const running = await startImageSweep(sweepEngines, { keptMs: 0, intervalMs: 5 })
    const first = await upload(1)
    await project()
    await eventually('it is discarded', async () => (await stateOf(first)).kind === 'discarded')
    await running.stop()
    const second = await upload(2)
    await project()
    expect(await stateOf(second)).toMatchObject({ kind: 'kept' })
  })
})
