/** `tests/data/attacks.md` lists what tests attempt against the parts that show, run or keep what an agent or a repository has made. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { attacked, attacksIn, attacksPage } from './attacksPage.ts'
import { isNamed } from './tally.ts'

const root = join(import.meta.dirname, '../..')
const attacks = ['services', 'tests']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  .filter((file) => /\.(?:spec|test)\.ts$/.test(file))
  .toSorted()
  .flatMap((file) => attacksIn(readFileSync(join(root, file), 'utf8'), file))

test('the page of the attacks is as it is generated', async () => {
  await expect(attacksPage(attacks)).toMatchFileSnapshot('../data/attacks.md')
})

test('each attack is above a test that runs, on a part that there is, and is there once', () => {
  expect(attacks.filter(({ title }) => title === null)).toEqual([])
  expect(attacks.filter(({ part }) => !Object.hasOwn(attacked, part))).toEqual([])
  const attempts = attacks.map(({ part, attempt }) => `${part}: ${attempt}`)
  expect(attempts.filter((attempt, index) => attempts.indexOf(attempt) !== index)).toEqual([])
})

test('several attacks are read above one test', () => {
  const source =
    "describe('a group', () => {\n  // Attacks files: one.\n  // Attacks files: two.\n  test('holds', () => {})\n})"
  const attack = { part: 'files', file: 'a.test.ts', title: 'a group › holds' }
  expect(attacksIn(source, 'a.test.ts')).toEqual([
    { ...attack, attempt: 'one' },
    { ...attack, attempt: 'two' },
  ])
  expect(attacksIn('// Attacks files: one.\nconst one = 1', 'a.test.ts')).toMatchObject([{ title: null }])
})

test.each([
  ['a group > a ticket expires', 'a group › a %s expires', true],
  ['a group on bubblewrap > holds', 'a group on ${kind}', true],
  ['of node, a version is known', '$name, no version', false],
  ['another a group > holds', 'a group', false],
])('%s is counted for the title %s: %s', (fullName, title, isCounted) =>
  expect(isNamed(fullName, title)).toBe(isCounted),
)
