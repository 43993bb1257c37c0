// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { completedOf, pendingAfter, someAre, type PendingEvent, type PendingImage } from './pendingImages.ts'

const image = (id: string): PendingImage => ({
  id,
  file: new File(['x'], `${id}.png`, { type: 'image/png' }),
  preview: `blob:${id}`,
  upload: { kind: 'uploading', progress: 0 },
})
const completed = (id: string): PendingEvent => ({
  type: 'changed',
  id,
  upload: { kind: 'completed', image: { id, url: `/${id}`, name: id, size: 1, type: 'image/png' } },
})
const failed = (id: string): PendingEvent => ({
  type: 'changed',
  id,
  upload: { kind: 'error', reason: 'It is damaged.' },
})
const after = (...events: readonly PendingEvent[]) =>
  events.reduce(pendingAfter, [image('a'), image('b'), image('c')])

test('images go from uploading to completed or error, and keep the order in which they were attached', () => {
  const images = after(completed('c'), failed('b'), completed('a'))
  expect(images.map(({ id, upload }) => [id, upload.kind])).toEqual([
    ['a', 'completed'],
    ['b', 'error'],
    ['c', 'completed'],
  ])
})

test('those with an error, and those under way, are not sent', () => {
  const images = after(completed('c'), failed('b'))
  expect(completedOf(images).map(({ id }) => id)).toEqual(['c'])
  expect(someAre(images, 'uploading')).toBe(true)
  expect(someAre(after({ type: 'removed', ids: ['a', 'b', 'c'] }), 'uploading')).toBe(false)
})

test('one that was removed while it was uploaded does not come back', () => {
  expect(after({ type: 'removed', ids: ['b'] }, completed('b')).map(({ id }) => id)).toEqual(['a', 'c'])
})
