import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isBranchName } from '#domain/kernel/names.ts'
import { endedWell } from './git/git.ts'
import { testGit } from '../../../tests/runner/workspaceScene.ts'
import { randomRuns } from '../../../tests/longRun.ts'

const says = async (name: string) =>
  endedWell(await testGit({ args: ['check-ref-format', `refs/heads/${name}`] }))

const good = ['main', 'a/b', 'ä/日本', 'a.b', 'a@b', '@', 'a-', 'lock', 'x'.repeat(200), 'a\u0085b']
const bad = ['', '/a', 'a/', 'a//b', '.a', 'a/.b', 'a.', 'a.lock', 'a.lock/b', 'a..b', 'a@{b', 'a b', '*']
const signs = ['~', '^', ':', '?', '*', '[', '\\', '\n', '\x7f', ' '].map((sign) => `a${sign}b`)
test.each([...good, ...bad, ...signs])('%j is a branch when git says so', async (name) => {
  expect(isBranchName(name)).toBe(await says(name))
  expect(isBranchName(name)).toBe(good.includes(name))
})

test.each(['-a', '--upload-pack=x', 'HEAD', 'a\0b'])('%j never is', (name) => {
  expect(isBranchName(name)).toBe(false)
})

test('git and we agree on any name', async () => {
  const parts = ['a', 'B', '.', '/', '@', '{', '-', '~', ' ', '\t', '\\', '.lock', 'é']
  const names = fc
    .array(fc.constantFrom(...parts), { maxLength: 7 })
    .map((chosen) => chosen.join(''))
    .filter((name) => !name.startsWith('-'))
  await fc.assert(
    fc.asyncProperty(names, async (name) => {
      expect(isBranchName(name)).toBe(await says(name))
    }),
    { numRuns: randomRuns(150) },
  )
})
