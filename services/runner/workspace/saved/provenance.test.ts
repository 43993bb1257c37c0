import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeScene, testGit, writeIn, type Scene } from '../../../../tests/runner/workspaceScene.ts'
import { gitText } from '../git/git.ts'
import type { Workspace } from '../workspace.ts'
import { saveWork } from './bundle.ts'
import { provenanceOf, type TurnSnapshot } from './provenance.ts'

let scene: Scene
let workspace: Workspace
let turns: TurnSnapshot[] = []
beforeEach(async () => {
  scene = await makeScene({ 'a.txt': 'base one\nbase two\nbase three\n', 'b.txt': 'b\n' })
  workspace = await scene.prepare()
  turns = []
})
afterEach(() => scene.remove())

async function turn(name: string, content: string, path = 'a.txt'): Promise<void> {
  await writeIn(workspace.dir, path, content)
  const saved = await saveWork({
    git: testGit,
    treeGit: testGit,
    workspace,
    keepAs: `refs/flightdeck/turns/${name}`,
  })
  if (saved.kind === 'too_large') throw new Error(saved.message)
  turns.push({ turn: name, work: saved.work })
}
const provenance = (path: string) => {
  const { privateGitDir, startCommit } = workspace
  return provenanceOf({ git: testGit, privateGitDir, startCommit, turns }, path)
}
const told = async (path = 'a.txt') =>
  (await provenance(path))?.ranges.map(({ from, to, turn }) => ({ from, to, turn })) ?? null

describe('the lines of a file', () => {
  test('are those of the turn that wrote them; what was there before is unknown', async () => {
    await turn('first', 'base one\nfirst\nbase two\nbase three\n')
    await turn('second', 'base one\nfirst\nsecond\nsecond too\nbase three\n')
    await turn('third', 'of another file\n', 'c.txt')
    expect(await told()).toEqual([
      { from: 1, to: 1, turn: null },
      { from: 2, to: 2, turn: 'first' },
      { from: 3, to: 4, turn: 'second' },
      { from: 5, to: 5, turn: null },
    ])
    expect(await told('b.txt')).toEqual([{ from: 1, to: 1, turn: null }])
    expect(await told('c.txt')).toEqual([{ from: 1, to: 1, turn: 'third' }])
  })

  test('are those of the content that is named with them', async () => {
    await turn('first', 'x\n', 'a:b.txt')
    const args = ['hash-object', '--stdin']
    expect((await provenance('a:b.txt'))?.blob).toBe(await gitText(testGit, { args, input: 'x\n' }))
  })

  test('that look like blame’s own output are lines all the same', async () => {
    await turn('first', `${'a'.repeat(40)} 1 1 1\nfilename x\n\ttab\n`, 'odd name\n.txt')
    expect(await told('odd name\n.txt')).toEqual([{ from: 1, to: 3, turn: 'first' }])
  })

  test('are not told of a file that is not there, and not before the first turn', async () => {
    expect(await told()).toBeNull()
    await turn('first', 'x\n')
    expect(await told('none.txt')).toBeNull()
    expect(await told('--help')).toBeNull()
  })
})
