/** Comments that name the App: anybody may write them on a public issue, and reading them delays nothing else. */
import { expect, test } from 'vitest'
import { mentionsOf } from './mentions.ts'

const comment = (n: number, who: string, body: string) => ({
  id: `${n}`,
  body,
  author: { id: who, login: who, isBot: false },
  isByOurApp: false,
  writtenAt: '2026-01-31T12:00:00Z',
})
type Comment = ReturnType<typeof comment>
const many = (count: number, of: (n: number) => Comment) => Array.from({ length: count }, (_, n) => of(n))
/** Reads the mentions in the comments. Accounts whose ids begin with `here` belong to people on this server. */
async function read(comments: readonly Comment[]) {
  const isHere = async (id: string) => id.startsWith('here')
  const { comments: found, leftOut } = await mentionsOf(comments, 'deck', isHere)
  const known = leftOut.known.map(({ id }) => id)
  return { ids: found.map(({ id }) => id), leftOut: { ...leftOut, known } }
}
const nobody = { known: [], isAnybody: false }
const others = { known: [], isAnybody: true }

test('of each person the latest three that name the App may ask, of all people the latest ten', async () => {
  expect(
    await read([
      comment(1, 'grace', '@deck'),
      comment(2, 'grace', '@deck'),
      comment(3, 'grace', 'no'),
      comment(4, 'ada', '@deck'),
      comment(5, 'ada', '> @deck'),
    ]),
  ).toEqual({ ids: ['1', '2', '4'], leftOut: nobody })
  const often = many(9, (n) => comment(n, 'grace', n === 7 ? '`@deck`' : '@deck'))
  expect(await read(often)).toEqual({ ids: ['5', '6', '8'], leftOut: nobody })
  const [first, last] = [comment(0, 'grace', '@deck'), comment(20, 'grace', '@deck')]
  const quotes = many(10, (n) => comment(n + 1, 'grace', '> @deck'))
  expect((await read([first, ...quotes.slice(1), last])).ids).toEqual(['0', '20'])
  expect((await read([first, ...quotes, last])).ids).toEqual(['20'])
  const strangers = many(30, (n) => comment(n, `p${n}`, '@deck'))
  expect(await read(strangers)).toEqual({
    ids: strangers.slice(-10).map(({ id }) => id),
    leftOut: others,
  })
})

test('strangers push out nobody who is known here, however many there are and however often they write', async () => {
  const first = comment(1, 'here', '@deck please')
  const each = many(500, (n) => comment(n + 2, `p${n}`, '+1 @deck'))
  const one = many(500, (n) => comment(n + 2, 'p', '> @deck'))
  for (const rest of [each.slice(0, 10), each, one]) expect((await read([first, ...rest])).ids).toContain('1')
  expect(await read([first, ...each.slice(0, 9)])).toMatchObject({ leftOut: nobody })
})

test('people who are known here push each other out where they are too many, and it says so', async () => {
  const all = many(11, (n) => comment(n, `here${n}`, '@deck'))
  expect(await read(all)).toEqual({
    ids: all.slice(1).map(({ id }) => id),
    leftOut: { known: ['here0'], isAnybody: true },
  })
  const quotes = many(101, (n) => comment(n, 'here', '`@deck`'))
  expect(await read(quotes)).toEqual({ ids: [], leftOut: { known: ['here'], isAnybody: true } })
})

test('nobody is left out of whom one was read, however often they write', async () => {
  const often = many(150, (n) => comment(n, 'here', '@deck'))
  expect(await read(often)).toEqual({ ids: ['147', '148', '149'], leftOut: nobody })
  const further = many(150, (n) => comment(n, 'here', n === 149 ? '@deck' : '`@deck`'))
  expect(await read(further)).toEqual({ ids: ['149'], leftOut: nobody })
})

test('nobody is left out all of whose comments were read', async () => {
  const first = comment(0, 'here first', '`@deck`')
  const quotes = many(100, (n) => comment(n + 1, `here${n}`, '`@deck`'))
  expect(await read([first, ...quotes])).toEqual({
    ids: [],
    leftOut: { known: ['here first'], isAnybody: true },
  })
  expect(await read([...quotes, comment(101, 'here99', '`@deck`')])).toEqual({
    ids: [],
    leftOut: { known: ['here99'], isAnybody: true },
  })
  // Only 100 of the 120 comments are searched, so each of the three people has comments that were not.
  const three = many(120, (n) => comment(n, `here${n % 3}`, '`@deck`'))
  expect(await read(three)).toEqual({
    ids: [],
    leftOut: { known: ['here2', 'here1', 'here0'], isAnybody: true },
  })
})

test('nobody pushes themselves out by what they quote afterwards', async () => {
  const quotes = many(40, (n) => comment(n + 2, 'ada', '> @deck please\n\nStill waiting.'))
  expect(await read([comment(1, 'ada', '@deck please'), ...quotes])).toEqual({
    ids: ['1'],
    leftOut: nobody,
  })
})

test('whether people are known is not asked where all of them have room', async () => {
  const isHere = async () => {
    throw new Error('This is not to be asked.')
  }
  expect((await mentionsOf([comment(1, 'ada', '@deck')], 'deck', isHere)).comments).toHaveLength(1)
})

test('a hundred texts are read at most, and between two others have their turn', async () => {
  let turns = 0
  let isOver = false
  const turn = () => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const hostile = many(200, (n) => comment(n, `p${n}`, `${'<code>`'.repeat(1_200)}@deck`))
  expect(await read(hostile)).toEqual({ ids: [], leftOut: others })
  isOver = true
  expect(turns).toBeGreaterThanOrEqual(100)
  expect(turns).toBeLessThan(200)
})
