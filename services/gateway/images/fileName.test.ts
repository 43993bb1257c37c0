/** The names of people's files are made harmless. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dispositionOf, nameOf } from './fileName.ts'

describe('a name', () => {
  test.each([
    ['plan.png', 'plan.png'],
    ['Plan of the house.PNG', 'Plan of the house.png'],
    ['größe ✓.png', 'größe ✓.png'],
    ['/etc/passwd', 'passwd.png'],
    ['..\\..\\plan.png', 'plan.png'],
    ['page.html', 'page.html.png'],
    ['picture.jpg', 'picture.jpg.png'],
    ['', 'image.png'],
    ['.png', 'image.png'],
    ['  ', 'image.png'],
    ['a\r\nset-cookie: b.png', 'aset-cookie: b.png'],
    ['gnp.\u202etxt.png', 'gnp.txt.png'],
    ['a\0\ud800b.png', 'ab.png'],
  ])('that is told as %j is %j', (told, name) => expect(nameOf(told, 'image/png')).toBe(name))

  test('keeps each ending that is true of its type', () => {
    expect(nameOf('a.jpeg', 'image/jpeg')).toBe('a.jpeg')
    expect(nameOf('a.JPG', 'image/jpeg')).toBe('a.jpg')
    expect(nameOf('a.png', 'image/webp')).toBe('a.png.webp')
  })

  test('is one line of at most 200 characters, and stays itself', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (told) => {
        const name = nameOf(told, 'image/gif')
        expect([...name].length).toBeLessThanOrEqual(200)
        expect(name).toMatch(/^[^/\\\n\r\0]+\.gif$/)
        expect(name).not.toMatch(/\p{Surrogate}/u)
        expect(nameOf(name, 'image/gif')).toBe(name)
      }),
    ))
})

test('a header names any name in letters that a header may have', () =>
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (told) => {
      const name = nameOf(told, 'image/png')
      const header = dispositionOf(name)
      expect(header).toMatch(/^inline; filename\*=UTF-8''[\w%.~-]+$/)
      expect(decodeURIComponent(header.split("''")[1] ?? '')).toBe(name)
    }),
  ))
