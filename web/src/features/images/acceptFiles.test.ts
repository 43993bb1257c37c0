// @vitest-environment jsdom
import { describe, expect, test } from 'vitest'
import { choose, maxImages } from './acceptFiles.ts'

const megabyte = 1_048_576
/** A file that claims this size, without the bytes. */
function file(name: string, type: string, size = 10): File {
  return Object.defineProperty(new File(['x'], name, { type }), 'size', { value: size })
}
const names = (files: readonly File[]) => files.map(({ name }) => name)

describe('of files that are given', () => {
  test('JPEG, JPG, PNG, GIF and WebP of at most 10 MB are taken, in their order', () => {
    const good = [
      file('a.jpeg', 'image/jpeg'),
      file('b.jpg', 'image/jpg'),
      file('c.png', 'image/png', 10 * megabyte),
      file('d.gif', 'image/gif'),
      file('e.WEBP', ''),
    ]
    expect(choose(good, 0, 5)).toEqual({ accepted: good, refusals: [] })
  })

  test.each([
    ['Only JPEG, PNG, GIF, and WebP images are allowed', file('a.svg', 'image/svg+xml')],
    ['Only JPEG, PNG, GIF, and WebP images are allowed', file('a.txt', '')],
    ['Image size must be less than 10MB', file('a.png', 'image/png', 10 * megabyte + 1)],
  ])('one is left with %j, and the others are taken', (sentence, bad) => {
    const good = file('good.png', 'image/png')
    const { accepted, refusals } = choose([bad, good], 0, 5)
    expect(names(accepted)).toEqual(['good.png'])
    expect(refusals).toEqual([sentence])
  })

  test('those beyond what may be attached are left, and it is said how many', () => {
    const files = ['a', 'b', 'c'].map((name) => file(`${name}.png`, 'image/png'))
    const some = choose(files, 3, maxImages.compact)
    expect(names(some.accepted)).toEqual(['a.png', 'b.png'])
    expect(some.refusals).toEqual(['Up to 5 images. 1 image was not attached.'])
    expect(choose(files, 3, maxImages.message)).toMatchObject({
      accepted: [],
      refusals: ['Up to 3 images. 3 images were not attached.'],
    })
  })

  // Holds contract 5.8b, 9.11b.
  test('a dashboard takes 5, a message 3, and where nothing else is said 999 are', () => {
    expect(maxImages).toEqual({ compact: 5, message: 3, full: 999 })
  })
})
