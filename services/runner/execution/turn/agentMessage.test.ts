/** The images of a message in the form in which an agent gets them. */
import { randomBytes } from 'node:crypto'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import type { NamedImage } from '#domain/task/commands.ts'
import type { SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { sampleImage } from '../../../../tests/domain/creating.ts'
import { taskId } from '../../../../tests/domain/ids.ts'
import { animation, picture } from '../../../../tests/server/pictures.ts'
import { imagesForAgent } from './agentMessage.ts'

/** The form in which an agent gets one image of these bytes. */
async function given(
  bytes: Buffer,
  facts: Pick<NamedImage, 'width' | 'height'> & Partial<Pick<NamedImage, 'mediaType'>>,
) {
  const blob = { ...sampleImage().blob, size: bytes.byteLength }
  const image = { ...sampleImage(), ...facts, blob }
  const blobs: Pick<SealedBlobs, 'get'> = {
    get: async (scope) => (scope === `task:${taskId(1)}` ? bytes : undefined),
  }
  const images = await imagesForAgent({ blobs }, taskId(1), [image])
  return images?.[0]
}

const sizeOf = async (base64: string) => {
  const { format, width, height, pages } = await sharp(Buffer.from(base64, 'base64')).metadata()
  return { format, width, height, pages }
}

test('an image goes byte for byte where a model takes it', async () => {
  const bytes = await picture('image/png', 2_000, 30)
  expect(await given(bytes, { width: 2_000, height: 30 })).toEqual({
    mediaType: 'image/png',
    base64: bytes.toString('base64'),
  })
})

test('one that is too wide or too high is made smaller, in its shape', async () => {
  const wide = await given(await picture('image/png', 4_000, 1_000), { width: 4_000, height: 1_000 })
  expect(wide?.mediaType).toBe('image/webp')
  expect(await sizeOf(wide?.base64 ?? '')).toMatchObject({ format: 'webp', width: 2_000, height: 500 })
  const high = await given(await picture('image/png', 30, 8_000), { width: 30, height: 8_000 })
  expect(await sizeOf(high?.base64 ?? '')).toMatchObject({ height: 2_000 })
})

test('one that has too many bytes is written with fewer', async () => {
  const noise = { raw: { width: 1_000, height: 1_000, channels: 3 } } as const
  const bytes = await sharp(randomBytes(3_000_000), noise).png().toBuffer()
  expect(bytes.byteLength).toBeGreaterThan(2_000_000)
  const image = await given(bytes, { width: 1_000, height: 1_000 })
  expect(await sizeOf(image?.base64 ?? '')).toMatchObject({ width: 1_000, height: 1_000 })
  expect(image?.base64.length).toBeLessThan(2_000_000)
})

test('of a large animation it is the first frame', async () => {
  const bytes = await animation('image/gif', 3, 2_400, 300)
  const image = await given(bytes, { mediaType: 'image/gif', width: 2_400, height: 300 })
  expect(await sizeOf(image?.base64 ?? '')).toEqual({ format: 'webp', width: 2_000, height: 250 })
})

test('a GIF is given in a form that every model takes, however small it is', async () => {
  const bytes = await animation('image/gif', 3, 24, 30)
  const image = await given(bytes, { mediaType: 'image/gif', width: 24, height: 30 })
  expect(image?.mediaType).toBe('image/webp')
  expect(await sizeOf(image?.base64 ?? '')).toEqual({ format: 'webp', width: 24, height: 30 })
})

test('none is given when one of them is gone', async () => {
  const blobs: Pick<SealedBlobs, 'get'> = {
    get: async (_, { hash }) => (hash === sampleImage(1).blob.hash ? Buffer.from('x') : undefined),
  }
  expect(await imagesForAgent({ blobs }, taskId(1), [sampleImage(1), sampleImage(2)])).toBeUndefined()
})
