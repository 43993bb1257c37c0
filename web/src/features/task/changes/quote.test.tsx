import * as fc from 'fast-check'
import { renderToStaticMarkup } from 'react-dom/server'
import ReactMarkdown from 'react-markdown'
import { describe, expect, test } from 'vitest'
import type { DiffLine } from './diff/parseDiff.ts'
import { commentMessage, placeOf } from './commentMessage.ts'

const line = (over: Partial<DiffLine>): DiffLine => ({
  kind: 'context',
  before: 4,
  after: 5,
  text: 'return',
  counterpart: null,
  noNewline: false,
  ...over,
})

describe('a comment on lines', () => {
  test('quotes file and lines, and then says what was written', () => {
    const lines = [
      line({ kind: 'deleted', before: 41, after: null, text: '  post(url)' }),
      line({ kind: 'added', before: null, after: 41, text: '  post(endpoint)' }),
      line({ before: 42, after: 42, text: '}' }),
    ]
    expect(commentMessage('src/a b.ts', lines, ' Give up after 8 attempts\n')).toBe(
      [
        '> `src/a b.ts:41-42`',
        '>',
        '> ```diff',
        '> -  post(url)',
        '> +  post(endpoint)',
        '>  }',
        '> ```',
        '',
        'Give up after 8 attempts',
      ].join('\n'),
    )
  })

  test('on what was deleted names the lines as they were', () => {
    const gone = line({ kind: 'deleted', before: 7, after: null })
    expect(placeOf([gone])).toEqual({ place: '7', isBefore: true })
    expect(commentMessage('a.ts', [gone], 'Why?')).toContain('`a.ts:7` (old)')
  })

  test('quotes no more than can be read, and says how much more there is', () => {
    const many = Array.from({ length: 500 }, (_, n) => line({ after: n + 1 }))
    expect(commentMessage('a.ts', many, 'All of it')).toContain('\n> and 380 more lines\n')
    const wide = [line({ text: 'x'.repeat(20_000) })]
    expect(commentMessage('a.ts', wide, 'Too wide').length).toBeLessThan(200)
  })

  test('shows what cannot be seen and ends no line where the file has none', () => {
    const message = commentMessage('bi\u202Edi\nx.ts', [line({ text: 'a\u2028b\rc\u0000\td\r' })], 'Look')
    expect(message).toContain('`bi\\u{202e}di\\u{a}x.ts:5`')
    expect(message).toContain('>  a\\u{2028}b\\u{d}c\\u{0}\td\n')
  })

  test('cannot be left by a name or a line, whatever is in them', () => {
    const nasty = fc.string({
      unit: fc.constantFrom('`', '``', '```', '~~~', '>', ' ', '\n', '\r', '#', '-', '<b>', '*', 'a', '\\'),
      maxLength: 30,
    })
    fc.assert(
      fc.property(
        nasty.filter((name) => name !== ''),
        fc.array(nasty, { minLength: 1, maxLength: 5 }),
        (name, texts) => {
          const lines = texts.map((text) => line({ text }))
          const html = renderToStaticMarkup(
            <ReactMarkdown>{commentMessage(name, lines, 'THE COMMENT')}</ReactMarkdown>,
          )
          // The message has one quotation, with one code span and one code block; only the comment is outside of it.
          expect(html).toMatch(
            /^<blockquote>\n<p><code>[^]*?<\/code><\/p>\n<pre><code class="language-diff">[^]*<\/code><\/pre>\n<\/blockquote>\n<p>THE COMMENT<\/p>$/,
          )
          expect(html.match(/<(?!\/)/g)).toHaveLength(6)
        },
      ),
      { numRuns: 100 },
    )
  })
})
