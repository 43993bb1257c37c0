// @vitest-environment jsdom
import { describe, expect, test } from 'vitest'
import { rangesOf } from './searchMarks.ts'

function found(html: string, words: string): readonly string[] {
  const content = document.createElement('div')
  content.innerHTML = html
  return rangesOf(content, words).map(String)
}

describe('words that are looked for', () => {
  test('are found in what was said, and not in names, times and buttons', () =>
    expect(found('<b>Ada</b><div data-searched>Ask Ada, or ADA.</div><button>Ada</button>', 'ada')).toEqual([
      'Ada',
      'ADA',
    ]))

  test('are found where they go on in another element', () =>
    expect(found('<div data-searched>re<code>try</code>.ts</div>', 'retry.ts')).toEqual(['retry.ts']))

  test('are not found over the end of a message', () =>
    expect(found('<div data-searched>re</div><div data-searched>try</div>', 'retry')).toEqual([]))

  test('that stand in each other are found once', () =>
    expect(found('<div data-searched>aaaa</div>', 'aa')).toHaveLength(2))
})
