/** An uploaded image waits, is attached, and is discarded, each at most once. */
import { describe, expect, test } from 'vitest'
import { erased, moment, recorded } from '../tests/domain/recorded.ts'
import { given } from '../tests/domain/given.ts'
import { imageId, messageId, taskId, userId } from '../tests/domain/ids.ts'
import { ImageAttached, ImageDiscarded, ImageUploaded, image } from './image.ts'

const facts = {
  imageId: imageId(1),
  ownerId: userId(1),
  mediaType: 'image/png',
  width: 60,
  height: 40,
  blob: { hash: 'a'.repeat(64), size: 1_234 },
} as const
const uploaded = ImageUploaded.of(facts, { name: 'plan.png' })
const attached = ImageAttached.of({ taskId: taskId(1), messageId: messageId(1) })
const discarded = ImageDiscarded.of({})

const upload = { type: 'UploadImage', image: facts, name: 'plan.png' } as const
const attach = { type: 'AttachImage', taskId: taskId(1), messageId: messageId(1) } as const
const discard = { type: 'DiscardImage' } as const

describe('an upload', () => {
  test('keeps the image, its name apart from its facts', () => given(image).when(upload).then([uploaded]))
  test.each([
    ['kept', [uploaded]],
    ['attached', [uploaded, attached]],
    ['discarded', [uploaded, discarded]],
  ] as const)('takes no id that an image has: %s', (_, past) =>
    given(image, past).when(upload).thenRefused('already_exists'),
  )
})

describe('an attachment', () => {
  test('is noted', () => given(image, uploaded).when(attach).then([attached]))
  test('is noted once', () => given(image, uploaded, attached).when(attach).thenNothing())
  test('that was made just before the end of the image needs no note', () =>
    given(image, uploaded, discarded).when(attach).thenNothing())
  test('needs an image', () => given(image).when(attach).thenRefused('not_found'))
})

describe('discarding', () => {
  test('ends an image, attached or not', () => {
    given(image, uploaded).when(discard).then([discarded])
    given(image, uploaded, attached).when(discard).then([discarded])
  })
  test('again does nothing', () => given(image, uploaded, discarded).when(discard).thenNothing())
  test('needs an image', () => given(image).when(discard).thenRefused('not_found'))
})

test('an image is known by its owner, its name and when it came', () => {
  expect(given(image, uploaded).state).toEqual({
    kind: 'kept',
    ...facts,
    name: 'plan.png',
    uploadedAt: moment,
    isAttached: false,
  })
  expect(given(image, uploaded, attached).state).toMatchObject({ isAttached: true })
  expect(given(image, uploaded, discarded).state).toEqual({ kind: 'discarded', ownerId: userId(1) })
})

test('an image whose name was erased is still there', () =>
  expect(
    image.evolve(image.initial, erased(recorded(uploaded, { revision: 0, stream: `image-${imageId(1)}` }))),
  ).toMatchObject({ kind: 'kept', name: '', width: 60 }))
