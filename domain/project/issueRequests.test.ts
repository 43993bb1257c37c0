/** Which parts of an issue request a task, and which never do. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { requestsOf, isMentionedIn, isUnsure, mayMention, type SearchedIssue } from './issueRequests.ts'
import { defaultIssueRule } from './issueRule.ts'

const time = (minute: number) => `2026-01-31T12:${String(minute).padStart(2, '0')}:00Z`
const ada = { id: '1', login: 'ada', isBot: false }
const grace = { id: '2', login: 'grace', isBot: false }
const bot = { id: '3', login: 'ci[bot]', isBot: true }

const asking = (change: Partial<SearchedIssue> = {}): SearchedIssue => ({
  issue: {
    body: 'It is broken.',
    author: ada,
    isByOurApp: false,
    createdAt: time(1),
    edit: null,
    labels: ['Flightdeck'],
  },
  labelEvents: [{ label: 'Flightdeck', isSet: true, at: time(2), actor: grace, isByOurApp: false }],
  comments: [],
  ...change,
})
const comment = (body: string, change: Partial<SearchedIssue['comments'][number]> = {}) => ({
  id: '7',
  body,
  author: grace,
  isByOurApp: false,
  writtenAt: time(5),
  edit: null,
  ...change,
})
const rule = { ...defaultIssueRule, on: true }
const said = (of: SearchedIssue, change: Partial<Parameters<typeof requestsOf>[1]> = {}) =>
  requestsOf(of, {
    rule,
    since: { on: time(0), label: time(0), mentions: time(0) },
    slug: 'deck',
    ...change,
  }).map(
    ({ trigger, author, commentId }) =>
      `${trigger} ${author.login}${commentId === null ? '' : ` ${commentId}`}`,
  )

describe('the label', () => {
  const set = (label: string, isSet: boolean, minute: number, actor: typeof ada | null) => ({
    label,
    isSet,
    at: time(minute),
    actor,
    isByOurApp: false,
  })
  test('counts for who set it, not for who wrote the issue', () =>
    expect(said(asking())).toEqual(['label grace']))
  test('counts for who set it last', () =>
    expect(
      said(
        asking({
          labelEvents: [
            set('flightdeck', true, 2, ada),
            set('flightdeck', false, 3, grace),
            set('FLIGHTDECK', true, 4, grace),
          ],
        }),
      ),
    ).toEqual(['label grace']))
  test('is nothing where the issue does not have it any more', () => {
    expect(said(asking({ issue: { ...asking().issue, labels: [] } }))).toEqual([])
    expect(
      said(asking({ labelEvents: [set('flightdeck', true, 2, ada), set('flightdeck', false, 3, ada)] })),
    ).toEqual([])
  })
  test('is nothing where another label was set', () =>
    expect(said(asking({ labelEvents: [set('bug', true, 2, ada)] }))).toEqual([]))
  test('is nothing by a bot, by an account that is gone, and by our own App', () => {
    for (const event of [
      set('flightdeck', true, 2, bot),
      set('flightdeck', true, 2, null),
      { ...set('flightdeck', true, 2, ada), isByOurApp: true },
    ])
      expect(said(asking({ labelEvents: [event] }))).toEqual([])
  })
  test('is nothing where it was set before the rule was on', () =>
    expect(said(asking(), { since: { on: time(0), label: time(9), mentions: time(0) } })).toEqual([]))
})

describe('a mention', () => {
  const mentioned = (body: string, change: Partial<SearchedIssue['comments'][number]> = {}) =>
    asking({ labelEvents: [], comments: [comment(body, change)] })
  test('in a comment counts for who wrote it', () =>
    expect(said(mentioned('@deck please'))).toEqual(['mention grace 7']))
  test('in the issue counts for its author', () =>
    expect(said(asking({ labelEvents: [], issue: { ...asking().issue, body: 'Hi @deck' } }))).toEqual([
      'mention ada',
    ]))
  test('is nothing where the rule says so, and where there is no App', () => {
    expect(said(mentioned('@deck'), { rule: { ...rule, mentions: false } })).toEqual([])
    expect(said(mentioned('@deck'), { slug: null })).toEqual([])
  })
  test('is nothing by a bot, by our own App, and in what we wrote', () => {
    expect(said(mentioned('@deck', { author: bot }))).toEqual([])
    expect(said(mentioned('@deck', { author: null }))).toEqual([])
    expect(said(mentioned('@deck', { isByOurApp: true }))).toEqual([])
    expect(said(mentioned('@deck <!-- flightdeck:x -->'))).toEqual([])
  })
  test('is nothing in words that a bot, somebody else or an account that is gone changed last', () => {
    for (const by of [bot, ada, null])
      expect(said(mentioned('@deck', { edit: { at: time(6), by } }))).toEqual([])
    const issue = { ...asking().issue, body: 'Hi @deck' }
    expect(said(asking({ labelEvents: [], issue: { ...issue, edit: { at: time(6), by: grace } } }))).toEqual(
      [],
    )
    expect(said(asking({ labelEvents: [], issue: { ...issue, edit: { at: time(6), by: ada } } }))).toEqual([
      'mention ada',
    ])
  })
  test('counts from when its author changed it last', () => {
    const edit = { at: time(6), by: grace }
    const since = { on: time(0), label: time(0), mentions: time(8) }
    expect(said(mentioned('@deck', { edit }), { since })).toEqual([])
    expect(said(mentioned('@deck', { edit: { ...edit, at: time(8) } }), { since })).toEqual([
      'mention grace 7',
    ])
  })
  test('by others pushes nobody out, however often they write', () => {
    const comments = [
      comment('@deck', { id: '1', author: grace, writtenAt: time(3) }),
      ...Array.from({ length: 50 }, (_, n) =>
        comment('@deck', { id: `${n + 2}`, author: ada, writtenAt: time(4) }),
      ),
    ]
    expect(said(asking({ labelEvents: [], comments }))).toEqual(['mention grace 1', 'mention ada 51'])
  })
  test('by ten others pushes out neither a comment nor the issue itself', () => {
    const others = Array.from({ length: 10 }, (_, n) =>
      comment('@deck', { id: `${n}`, author: { id: `x${n}`, login: `x${n}`, isBot: false } }),
    )
    const issue = { ...asking().issue, body: 'Hi @deck' }
    const comments = [comment('@deck', { id: '99', author: grace }), ...others]
    expect(said(asking({ labelEvents: [], issue, comments }))).toEqual(
      expect.arrayContaining(['mention ada', 'mention grace 99']),
    )
  })
})

describe('comments that may name the App', () => {
  const may = (comments: SearchedIssue['comments']) =>
    mayMention(comments, 'deck').map(({ author, comments: theirs }) => [
      author,
      ...theirs.map(({ id }) => id),
    ])
  test('are those of people in which its name stands, of whom wrote last first, the latest first', () =>
    expect(
      may([
        comment('@deck', { id: '1' }),
        comment('> @Deck', { id: '2' }),
        comment('no', { id: '3' }),
        comment('@deck', { id: '4', author: bot }),
        comment('@deck', { id: '5', author: ada }),
      ]),
    ).toEqual([
      [ada.id, '5'],
      [grace.id, '2', '1'],
    ]))
})

test('a long text is read so far and no further', () => {
  expect(isMentionedIn(`@deck ${'a '.repeat(30_000)}`, 'deck')).toBe(true)
  expect(isMentionedIn(`${'a '.repeat(30_000)} @deck`, 'deck')).toBe(false)
})

describe('of lists that were cut', () => {
  const without = asking({ labelEvents: [] })
  test('it is not sure who set the label where they do not tell', () => {
    expect(isUnsure(without, true, 'flightdeck')).toBe(true)
    expect(isUnsure(asking(), true, 'flightdeck')).toBe(false)
    expect(isUnsure(without, true, 'other')).toBe(false)
    expect(isUnsure(without, false, 'flightdeck')).toBe(false)
  })
})

test.each([
  ['@deck', true],
  ['@Deck, please.', true],
  ['please @deck[bot] do it', true],
  ['(@deck)', true],
  ['> quoted\n\n@deck', true],
  ['@decks', false],
  ['@deck-two', false],
  ['@deck/team', false],
  ['mail me at a@deck', false],
  ['a@deck.example', false],
  ['@deck.example', false],
  ['look: `@deck`', false],
  ['``a ` @deck``', false],
  ['```\n@deck\n```', false],
  ['```\n@deck', false],
  ['~~~\n@deck\n~~~', false],
  ['````\n```\n@deck\n````', false],
  ['    @deck', false],
  ['> @deck', false],
  ['> a\n> > @deck', false],
  ['<!-- @deck -->', false],
  ['deck', false],
  ['- item\n- @deck', true],
  ['1. @deck', true],
  ['- a\n\n  @deck', true],
  ['# @deck', true],
  ['> # quoted\n@deck', true],
  ['> a\n- @deck', true],
  ['> a\n***\n@deck', true],
  ['> ```\n> a\n> ```\n@deck', true],
  ['a `b` @deck `c`', true],
  ['\\` @deck `', true],
  ['```js @deck```', false],
  ['a ` tick\n\n@deck `', true],
  ['a ` tick\n\nsee `please @deck now`', false],
  ['> quoted\n@deck', false],
  ['> quoted\n  @deck\nand so on', false],
  ['> - quoted\n@deck', false],
  ['- > quoted\n  @deck', false],
  ['- > quoted\n@deck', false],
  ['- a\n  > @deck', false],
  ['- ```\n  @deck\n  ```', false],
  ['- a\n\n  ```\n  @deck\n  ```', false],
  ['1. a\n\n   ~~~\n   @deck\n   ~~~', false],
  ['- ```\n  a\n  ```\n- @deck', true],
  ['- - ```\n    @deck\n    ```', false],
  ['- a\n\n      @deck', false],
  ['    ```\n\n```\n@deck\n```', false],
  ['\t@deck', false],
  ['-\t```\n\t@deck\n\t```', false],
  ['<blockquote>@deck</blockquote>', false],
  ['<blockquote>\n\n@deck\n\n</blockquote>', false],
  ['<BLOCKQUOTE cite="x">\n@deck', false],
  ['<blockquote>a</blockquote>\n\n@deck', true],
  ['<blockquote><blockquote>a</blockquote>@deck</blockquote>', false],
  ['<code>@deck</code>', false],
  ['<pre><code>\n@deck\n</code></pre>', false],
  ['see `<code>`\n\n@deck', true],
  ['<q>@deck</q>', false],
  ['Map<codec> @deck', true],
])('%j names the App: %s', (body, isNamed) => expect(isMentionedIn(body, 'deck')).toBe(isNamed))

test('what is made to be long to read is read in steps that grow with its length', () => {
  const hostile = [
    '>',
    '> ',
    '- ',
    '`',
    '``` `',
    '<code ',
    '<code',
    '<q>',
    '</q>',
    '[',
    '* * ',
    '\n',
    ' ',
    '\t',
    '- ```\n',
    '>\n',
    '\\`',
    '~~~\n',
    '1. ',
  ]
  const text = fc
    .array(fc.constantFrom(...hostile), { minLength: 1, maxLength: 4 })
    .map((parts) => `${parts.join('').repeat(Math.ceil(20_000 / parts.join('').length))}@deck`)
  // So many are read within the time limit of a test only where none takes long.
  fc.assert(
    fc.property(text, (body) => {
      expect(isMentionedIn(body, 'deck')).toBeTypeOf('boolean')
    }),
    { numRuns: 200 },
  )
})
