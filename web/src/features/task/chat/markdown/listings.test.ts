import { describe, expect, test } from 'vitest'
import { withListings } from './listings.ts'

describe('lines with their numbers', () => {
  test.each([
    ['an arrow', '1→const a = 1\n2→const b = 2'],
    ['a bar', ' 9 | const a = 1\n10 | const b = 2'],
    ['a tab', '     1\tconst a = 1\n     2\tconst b = 2'],
  ])('behind which there is %s are a code block', (_, listing) =>
    expect(withListings(`Here it is:\n${listing}\nThat is all.`)).toBe(
      `Here it is:\n\`\`\`\n${listing}\n\`\`\`\nThat is all.`,
    ),
  )

  test.each([
    ['one line alone', '1→const a = 1'],
    ['numbers that do not follow each other', '1→a\n5→b\n3→c'],
    ['a list', '1. one\n2. two'],
    ['a table', '| 1 | a |\n| 2 | b |'],
    ['what is in a code block already', '```\n1→a\n2→b\n```'],
  ])('%s stay as they are', (_, text) => expect(withListings(text)).toBe(text))

  test('that hold a fence are in a longer one', () =>
    expect(withListings('1→```\n2→text')).toBe('````\n1→```\n2→text\n````'))
})
