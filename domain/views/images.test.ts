/** Uploaded images, as the limit on waiting ones and the sweep of old ones read them. */
import { expect, test } from 'vitest'
import { imageId, messageId, taskId, userId } from '../../tests/domain/ids.ts'
import { erased, moment, recorded } from '../../tests/domain/recorded.ts'
import { ImageAttached, ImageDiscarded, ImageUploaded, type ImageEvent } from '../image.ts'
import { imagesView } from './images.ts'
import type { AnyRecorded } from './view.ts'
import { foldView } from '../../tests/domain/fold.ts'

const stream = `image-${imageId(1)}`
const uploaded = ImageUploaded.of(
  {
    imageId: imageId(1),
    ownerId: userId(1),
    mediaType: 'image/png',
    width: 60,
    height: 40,
    blob: { hash: 'a'.repeat(64), size: 1_234 },
  },
  { name: 'plan.png' },
)
const attached = ImageAttached.of({ taskId: taskId(1), messageId: messageId(1) })
const folded = (...events: readonly ImageEvent[]) =>
  foldView(
    imagesView,
    new Map(),
    events.map((event, revision) =>
      erased(recorded(event, { revision, stream, position: `4${revision}` }) as AnyRecorded),
    ),
  ).get(imageId(1))

test('an image waits until a message has it, also when its name was erased', () => {
  expect(folded(uploaded)).toEqual({
    id: imageId(1),
    owner: userId(1),
    isWaiting: true,
    uploadedAt: moment,
    order: '40'.padStart(20, '0'),
    position: '40',
    version: 0,
  })
  expect(folded(uploaded, attached)).toMatchObject({ isWaiting: false, version: 1, position: '40' })
})

test('an image that was discarded is gone', () =>
  expect(folded(uploaded, attached, ImageDiscarded.of({}))).toBeUndefined())
