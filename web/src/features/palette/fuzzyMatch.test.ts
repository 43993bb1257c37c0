import { describe, expect, test } from 'vitest'
import { match } from './fuzzyMatch.ts'

/** The text with the matching parts in brackets; `null` when it does not match. */
function marked(text: string, query: string): string | null {
  const found = match(text, query)
  if (found === null) return null
  let at = 0
  let out = ''
  for (const [from, to] of found.marks) {
    out += `${text.slice(at, from)}[${text.slice(from, to)}]`
    at = to
  }
  return out + text.slice(at)
}

describe('what is typed', () => {
  test.each([
    ['Make webhook deliveries idempotent', 'web', 'Make [web]hook deliveries idempotent'],
    ['Make webhook deliveries idempotent', 'ID make', '[Make] webhook deliveries [id]empotent'],
    ['helios-labs/web-console', 'web', 'helios-labs/[web]-console'],
    // The match is at the beginning of a word rather than within an earlier word.
    ['Cobweb for the web', 'web', 'Cobweb for the [web]'],
    ['New project', 'nwp', '[N]e[w] [p]roject'],
    ['New project', 'new ew', '[New] project'],
    ['İstanbul web', 'web', 'İstanbul [web]'],
    ['Any task', '', 'Any task'],
  ])('in %s: %s is %s', (text, query, shown) => expect(marked(text, query)).toBe(shown))

  test.each([
    ['Make webhook deliveries', 'webx'],
    ['Make webhook deliveries', 'make nothing'],
    // The text has these letters, but spread over the whole sentence.
    ['Why does the nightly import drop the last row of a file without a newline', 'web'],
    // No word begins with these letters.
    ['Rename', 'nm'],
  ])('is not in %s: %s', (text, query) => expect(match(text, query)).toBeNull())

  test('matches best at the beginning, then at that of a word, then within one, then in letters', () => {
    const scores = ['web console', 'a web', 'cobweb', 'wide edge bar'].map(
      (text) => match(text, 'web')?.score,
    )
    expect(scores).toEqual([4, 3, 2, 1])
  })
})
