import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeProvenanceScene, type ProvenanceScene } from '../../../../tests/runner/provenanceScene.ts'
import { testGit, writeIn } from '../../../../tests/runner/workspaceScene.ts'
import { gitText } from '../git/git.ts'
import { isLongRun } from '../../../../tests/longRun.ts'

const rows = (count: number, changed: Readonly<Record<number, string>> = {}, word = 'row') =>
  Array.from({ length: count }, (_, index) => `${changed[index + 1] ?? `${word} ${index + 1}`}\n`).join('')
const readme = rows(12, {}, 'readme')

let at: ProvenanceScene
beforeEach(async () => {
  at = await makeProvenanceScene({ 'README.md': readme, 'base.txt': rows(6, {}, 'base') })
  await write('w.txt', rows(30))
  await write('README.md', `${readme}from turn one\n`)
  await at.endTurn('one')
  await published()
})
afterEach(() => at.scene.remove())

const write = (path: string, content: string) => writeIn(at.workspace.dir, path, content)
const push = (files: Readonly<Record<string, string | null>>) => at.scene.commit(files, at.workspace.branch)
async function published(): Promise<string> {
  const result = await at.publish()
  if (result.kind !== 'published') throw new Error(JSON.stringify(result))
  return result.headSha
}
/** As the commit's note says it. */
const noted = async (commit: string) =>
  (await at.added(commit)).files.flatMap(({ path, lines }) =>
    lines.map(({ from, to, executionId }) => `${path} ${from}-${to} ${executionId ?? 'unknown'}`),
  )

const onlyRowThree = ['1-2 one', '3-3 unknown', '4-24 one', '25-25 two', '26-30 one']

describe('recorder H6: after a person’s push', () => {
  beforeEach(async () => {
    await push({ 'w.txt': rows(30, { 3: 'by a person' }) })
    await write('w.txt', rows(30, { 25: 'changed' }))
    await at.endTurn('two')
  })

  test('recorder H6: only their lines are unknown, as soon as they are here and in later turns', async () => {
    expect(await at.told('w.txt')).toEqual(['1-24 one', '25-25 two', '26-30 one'])
    const commit = await published()
    expect(await at.told('w.txt')).toEqual(onlyRowThree)
    expect(await noted(commit)).toEqual(['w.txt 25-25 two'])
    await write('other.txt', 'other\n')
    await at.endTurn('three')
    expect(await at.told('w.txt')).toEqual(onlyRowThree)
    expect(await at.told('README.md')).toEqual(['1-12 unknown', '13-13 one'])
    expect(await noted(await published())).toEqual(['other.txt 1-1 three'])
  })

  test('a turn that changes the file after that has its own line only', async () => {
    await published()
    await write('w.txt', rows(30, { 3: 'by a person', 25: 'changed', 10: 'again' }))
    await at.endTurn('three')
    expect(await at.told('w.txt')).toEqual([
      '1-2 one',
      '3-3 unknown',
      '4-9 one',
      '10-10 three',
      '11-24 one',
      '25-25 two',
      '26-30 one',
    ])
    expect(await noted(await published())).toEqual(['w.txt 10-10 three'])
  })

  // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('an undo of what was published gives the lines back to the turns before', async () => {
      await published()
      await at.undo()
      expect(await at.told('w.txt')).toEqual(['1-30 one'])
      await write('w.txt', rows(30, { 7: 'instead' }))
      await at.endTurn('three')
      expect(await at.told('w.txt')).toEqual(['1-6 one', '7-7 three', '8-30 one'])
    })

    test('a workspace that was made anew on the pushed branch knows what was written before', async () => {
      const head = await published()
      Object.assign(at.workspace, { startCommit: head })
      await write('other.txt', 'other\n')
      await at.endTurn('three')
      expect(await at.told('w.txt')).toEqual(onlyRowThree)
    })
  })
})

// Holds findings 1.96.
test('recorder H6: lines that came with a merge of the base branch are nobody’s', async () => {
  await at.scene.commit({ 'README.md': rows(12, { 2: 'new in main' }, 'readme'), 'main.txt': 'main\n' })
  expect(await at.mergeMain()).toBe(true)
  await write('w.txt', rows(30, { 25: 'changed' }))
  await at.endTurn('two')
  expect(await noted(await published())).toEqual(['w.txt 25-25 two'])
  await write('README.md', `${rows(12, { 2: 'new in main' }, 'readme')}from turn one\nfrom turn three\n`)
  await at.endTurn('three')
  expect(await at.told('README.md')).toEqual(['1-12 unknown', '13-13 one', '14-14 three'])
  expect(await at.told('w.txt')).toEqual(['1-24 one', '25-25 two', '26-30 one'])
  expect(await at.told('main.txt')).toEqual(['1-1 unknown'])
})

// Holds findings 1.97.
test('recorder H6: a person who rewrites the branch and pushes it by force gets only what they wrote', async () => {
  await at.scene.commit({ 'base.txt': rows(6, { 1: 'new in main' }, 'base') })
  const changed = `${rows(12, { 3: 'by a person' }, 'readme')}from turn one\n`
  await push({ 'README.md': changed })
  await at.squashOntoMain()
  await write('w2.txt', 'two\n')
  await at.endTurn('two')
  expect(await noted(await published())).toEqual(['w2.txt 1-1 two'])
  for (const _ of ['before the next turn', 'after it']) {
    expect(await at.told('w.txt')).toEqual(['1-30 one'])
    expect(await at.told('w2.txt')).toEqual(['1-1 two'])
    expect(await at.told('README.md')).toEqual(['1-12 unknown', '13-13 one'])
    await at.endTurn('three')
  }
})

// Holds findings 1.99.
test('recorder H6: a file that a person renames and changes keeps the turns of its other lines', async () => {
  await push({ 'w.txt': null, 'v.txt': rows(30, { 3: 'by a person' }) })
  await write('w2.txt', 'two\n')
  await at.endTurn('two')
  await published()
  expect(await at.told('v.txt')).toEqual(['1-2 one', '3-3 unknown', '4-30 one'])
  await write('v.txt', rows(30, { 3: 'by a person', 9: 'three' }))
  await at.endTurn('three')
  expect(await at.told('v.txt')).toEqual(['1-2 one', '3-3 unknown', '4-8 one', '9-9 three', '10-30 one'])
  expect(await at.told('w.txt')).toEqual([])
})

// Holds findings 1.98.
describe('recorder H6: what a rewritten branch brings back is of who wrote it', () => {
  const toldNowAndLater = async (path: string) => {
    const now = await at.told(path)
    await write('other.txt', 'other\n')
    await at.endTurn('later')
    return [now, await at.told(path)]
  }
  const twice = (lines: readonly string[]) => [lines, lines]
  beforeEach(() => at.squashOntoMain())

  test('a file that a turn renamed meanwhile', async () => {
    await rename(join(at.workspace.dir, 'w.txt'), join(at.workspace.dir, 'v.txt'))
    await at.endTurn('two')
    expect(await noted(await published())).toEqual(['v.txt 1-30 one'])
    expect(await at.told('v.txt')).toEqual(['1-30 one'])
    expect(await toldNowAndLater('w.txt')).toEqual(twice(['1-30 one']))
  })

  test('a file that the person renamed and changed', async () => {
    await push({ 'w.txt': null, 'v.txt': rows(30, { 3: 'by a person' }) })
    await rm(join(at.workspace.dir, 'w.txt'))
    await write('w2.txt', 'two\n')
    await at.endTurn('two')
    await published()
    expect(await toldNowAndLater('v.txt')).toEqual(twice(['1-2 one', '3-3 unknown', '4-30 one']))
  })

  test('a line that a turn took out meanwhile', async () => {
    await write('README.md', readme)
    await at.endTurn('two')
    await published()
    expect(await toldNowAndLater('README.md')).toEqual(twice(['1-12 unknown', '13-13 one']))
  })
})

// These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
  describe('recorder H6: a person’s lines that are like those that a turn has taken out', () => {
    const block = (name: string) =>
      `function ${name}() {\n  if (here) {\n    return null\n  }\n  return here\n}\n`
    const end = '// The end.\n'
    let head: string
    const otherWork = async (turn: string) => {
      await write('other.txt', `${turn}\n`)
      await at.endTurn(turn)
      await published()
    }
    beforeEach(async () => {
      await write('code.ts', block('first') + block('second') + end)
      await at.endTurn('two')
      head = await published()
    })

    test('are theirs', async () => {
      await write('code.ts', block('first') + end)
      await at.endTurn('three')
      await published()
      await push({ 'code.ts': block('first') + end + block('theirs') })
      await otherWork('four')
      expect(await at.told('code.ts')).toEqual(['1-7 two', '8-13 unknown'])
    })

    test('are theirs on a branch whose last commit they replaced', async () => {
      await otherWork('three')
      const args = ['update-ref', `refs/heads/${at.workspace.branch}`, head]
      await gitText(testGit, { gitDir: at.scene.remote, args })
      await push({ 'code.ts': block('first') + block('second') + end + block('theirs') })
      await write('code.ts', block('first') + end)
      await at.endTurn('four')
      await published()
      expect(await at.told('code.ts')).toEqual(['1-7 two', '8-13 unknown'])
    })
  })
})

test('recorder M8: of a renamed file the path at the time of writing is known', async () => {
  await rename(join(at.workspace.dir, 'w.txt'), join(at.workspace.dir, 'say "x".txt'))
  await at.endTurn('two')
  await rename(join(at.workspace.dir, 'say "x".txt'), join(at.workspace.dir, 'ü.txt'))
  await write('ü.txt', rows(30, { 5: 'three' }))
  await at.endTurn('three')
  await rm(join(at.workspace.dir, 'base.txt'))
  const ranges = (await at.provenance('ü.txt'))?.ranges ?? []
  expect(ranges.map(({ from, to, turn, path }) => [from, to, turn, path])).toEqual([
    [1, 4, 'one', 'w.txt'],
    [5, 5, 'three', 'ü.txt'],
    [6, 30, 'one', 'w.txt'],
  ])
})
