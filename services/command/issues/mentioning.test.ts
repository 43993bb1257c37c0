/** Comments that name the App: anybody writes them on a public issue, and reading them holds up nothing else. */
import { expect, test } from 'vitest'
import { mentioning } from './mentioning.ts'

const comment = (n: number, who: string, body: string) => ({
  id: `${n}`,
  body,
  author: { id: who, login: who, isBot: false },
  isByOurApp: false,
  writtenAt: '2026-01-31T12:00:00Z',
})
const named = async (comments: readonly ReturnType<typeof comment>[]) =>
  (await mentioning(comments, 'deck')).map(({ id }) => id)

test('of each person the latest that names the App may ask, of all the latest ten', async () => {
  expect(
    await named([
      comment(1, 'grace', '@deck'),
      comment(2, 'grace', '@deck'),
      comment(3, 'grace', 'no'),
      comment(4, 'ada', '@deck'),
      comment(5, 'ada', '> @deck'),
    ]),
  ).toEqual(['2', '4'])
  const many = Array.from({ length: 30 }, (_, n) => comment(n, `p${n}`, '@deck'))
  expect(await named(many)).toEqual(many.slice(-10).map(({ id }) => id))
})

test('between two comments others have their turn', async () => {
  let turns = 0
  let isOver = false
  const turn = () => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const hostile = Array.from({ length: 60 }, (_, n) => comment(n, `p${n}`, `${'<code>`'.repeat(1_200)}@deck`))
  expect(await named(hostile)).toEqual([])
  isOver = true
  expect(turns).toBeGreaterThanOrEqual(60)
})
