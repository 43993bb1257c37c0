/** What of an issue asks for a task, and what never does. */
import { describe, expect, test } from 'vitest'
import { asksOf, isMentionedIn, type Asking } from './issueAsks.ts'
import { defaultIssueRule } from './issueRule.ts'

const time = (minute: number) => `2026-01-31T12:${String(minute).padStart(2, '0')}:00Z`
const ada = { id: '1', login: 'ada', isBot: false }
const grace = { id: '2', login: 'grace', isBot: false }
const bot = { id: '3', login: 'ci[bot]', isBot: true }

const asking = (change: Partial<Asking> = {}): Asking => ({
  issue: {
    body: 'It is broken.',
    author: ada,
    isByOurApp: false,
    createdAt: time(1),
    editedAt: null,
    labels: ['Flightdeck'],
  },
  labelEvents: [{ label: 'Flightdeck', isSet: true, at: time(2), actor: grace, isByOurApp: false }],
  comments: [],
  ...change,
})
const comment = (body: string, change: Partial<Asking['comments'][number]> = {}) => ({
  id: '7',
  body,
  author: grace,
  isByOurApp: false,
  writtenAt: time(5),
  ...change,
})
const rule = { ...defaultIssueRule, on: true }
const said = (of: Asking, change: Partial<Parameters<typeof asksOf>[1]> = {}) =>
  asksOf(of, { rule, since: time(0), slug: 'deck', ...change }).map(
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
    expect(said(asking(), { since: time(9) })).toEqual([]))
})

describe('a mention', () => {
  const mentioned = (body: string, change: Partial<Asking['comments'][number]> = {}) =>
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
  test('by others pushes nobody out, however often they write', () => {
    const comments = [
      comment('@deck', { id: '1', author: grace, writtenAt: time(3) }),
      ...Array.from({ length: 50 }, (_, n) =>
        comment('@deck', { id: `${n + 2}`, author: ada, writtenAt: time(4) }),
      ),
    ]
    expect(said(asking({ labelEvents: [], comments }))).toEqual(['mention grace 1', 'mention ada 51'])
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
])('%j names the App: %s', (body, isNamed) => expect(isMentionedIn(body, 'deck')).toBe(isNamed))
