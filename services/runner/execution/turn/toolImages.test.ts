/** Which images of a tool are kept; other content is only counted. */
import { expect, test } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import { checkImage } from '#platform/images/reencode.ts'
import { logger } from '#platform/log.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { executionId, taskId } from '../../../../tests/domain/ids.ts'
import { picture } from '../../../../tests/server/pictures.ts'
import { toolImages } from './toolImages.ts'

const run = { taskId: taskId(1), executionId: executionId(1) }
const quiet = logger('silent')

function keeping(check = checkImage, fails = false) {
  const stored: [scope: string, bytes: number][] = []
  const blobs = {
    async put(scope: string, { byteLength: size }: Uint8Array) {
      if (fails) throw new Error('The store is away.')
      stored.push([scope, size])
      return { hash: 'a'.repeat(64), size }
    },
  }
  return { stored, keep: toolImages({ blobs, checkImage: check, logger: quiet }, run) }
}
const base64 = (bytes: Buffer | string) => Buffer.from(bytes).toString('base64')

test('a picture is kept under the key of its task, with an id of its own', async () => {
  const { stored, keep } = keeping()
  const { data } = await keep('toolu_1', [
    base64(await picture('image/png', 60, 40)),
    base64(await picture('image/webp', 30, 20)),
  ])
  expect(data).toMatchObject({ executionId: run.executionId, toolId: 'toolu_1', leftOut: 0 })
  expect(data.images).toMatchObject([
    { mediaType: 'image/png', width: 60, height: 40 },
    { mediaType: 'image/webp', width: 30, height: 20 },
  ])
  expect(new Set(data.images.map(({ imageId }) => imageId)).size).toBe(2)
  expect(stored.map(([scope]) => scope)).toEqual([`task:${run.taskId}`, `task:${run.taskId}`])
})

test.each([
  ['an SVG', async () => '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'],
  ['words', async () => 'nothing to see'],
  ['a picture of too many pixels', () => picture('image/png', 8_001, 1)],
  ['half a picture', async () => (await picture('image/png', 60, 40)).subarray(0, 90)],
])('%s is not kept, and the next one is', async (_, made) => {
  const { keep } = keeping()
  const good = base64(await picture('image/png', 6, 4))
  const { data } = await keep('toolu_1', [base64(await made()), good])
  expect(data).toMatchObject({ images: [{ width: 6 }], leftOut: 1 })
})

test('while the store is away, a call waits for one of its pictures only', async () => {
  let puts = 0
  const put = async () => {
    puts += 1
    throw new EngineUnavailable('the store')
  }
  const keep = toolImages({ blobs: { put }, checkImage, logger: quiet }, run)
  const images = [base64(await picture('image/png', 6, 4)), base64(await picture('image/png', 6, 4))]
  expect((await keep('toolu_1', images)).data).toMatchObject({ images: [], leftOut: 2 })
  expect(puts).toBe(1)
})

test('more than eight pictures of a call, and more than 20 MB of a run, are only counted', async () => {
  const big = { bytes: Buffer.alloc(3_000_000), mediaType: 'image/png', width: 1, height: 1 } as const
  const { stored, keep } = keeping(async () => big)
  const call = async (toolId: string, count: number) => {
    const { images, leftOut } = (
      await keep(
        toolId,
        Array.from({ length: count }, () => 'AAAA'),
      )
    ).data
    return [images.length, leftOut]
  }
  expect(await call('one', 3)).toEqual([3, 0])
  expect(await call('two', 5)).toEqual([3, 2])
  expect(stored).toHaveLength(6)
  const small = keeping(async () => ({ ...big, bytes: Buffer.alloc(1) }))
  const many = await small.keep(
    'three',
    Array.from({ length: 11 }, () => 'AAAA'),
  )
  expect([many.data.images.length, many.data.leftOut]).toEqual([8, 3])
})

test('once a run has its 20 MB, or has had a hundred pictures decoded, no more are decoded', async () => {
  const decodedOf = async (size: number, calls: number) => {
    let decoded = 0
    const { keep } = keeping(async () => {
      decoded += 1
      return { bytes: Buffer.alloc(size), mediaType: 'image/png', width: 1, height: 1 } as const
    })
    for (let call = 0; call < calls; call += 1)
      await keep(
        `call ${call}`,
        Array.from({ length: 8 }, () => 'AAAA'),
      )
    return decoded
  }
  expect(await decodedOf(5_000_000, 2)).toBe(4)
  expect(await decodedOf(1, 14)).toBe(100)
})

test('what is too long to be a picture is not even decoded', async () => {
  const { keep } = keeping(async () => {
    throw new Fault('internal', 'It was decoded.')
  })
  expect((await keep('toolu_1', ['A'.repeat(14_000_004)])).data).toMatchObject({ images: [], leftOut: 1 })
})

test('the run goes on when a picture cannot be stored', async () => {
  const { keep } = keeping(checkImage, true)
  const { data } = await keep('toolu_1', [base64(await picture('image/png', 6, 4))])
  expect(data).toMatchObject({ images: [], leftOut: 1 })
})
