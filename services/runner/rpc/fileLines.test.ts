import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readLines } from './fileLines.ts'
import { gitText } from '../workspace/git/git.ts'
import { makeScene, testGit, testTaskId, writeIn, type Scene } from '../../../tests/runner/workspaceScene.ts'
import { privateGitOf, type Workspace } from '../workspace/workspace.ts'

const long = Array.from({ length: 40 }, (_, n) => `line ${n + 1}\n`).join('')

let scene: Scene
let workspace: Workspace
beforeAll(async () => {
  scene = await makeScene({
    'long.txt': long,
    'open.txt': 'no end',
    'wide.txt': `${'w'.repeat(3_000)}\n`,
    'much.txt': `${'m'.repeat(1_999)}\n`.repeat(200),
    'huge.txt': 'h'.repeat(11_000_000),
  })
  workspace = await scene.prepare()
})
afterAll(() => scene?.remove())

const read = async (path: string, from: number, to: number) => {
  const blob = await gitText(testGit, {
    gitDir: workspace.privateGitDir,
    args: ['rev-parse', `HEAD:${path}`],
  })
  return readLines(testGit, { gitDir: privateGitOf(scene.root, testTaskId), blob, from, to })
}

describe('lines of a file as it was', () => {
  test('are those that were asked for, however far the work has gone on', async () => {
    await writeIn(workspace.dir, 'long.txt', 'nothing of it is left\n')
    expect(await read('long.txt', 3, 5)).toEqual({ lines: ['line 3', 'line 4', 'line 5'], total: 40 })
  })

  test('end where the file ends', async () => {
    expect(await read('long.txt', 39, 60)).toEqual({ lines: ['line 39', 'line 40'], total: 40 })
    expect(await read('long.txt', 41, 60)).toEqual({ lines: [], total: 40 })
    expect(await read('open.txt', 1, 9)).toEqual({ lines: ['no end'], total: 1 })
  })

  test('are cut where they are long, and fewer where they come to much', async () => {
    expect((await read('wide.txt', 1, 1))?.lines[0]).toBe(`${'w'.repeat(2_000)}…`)
    expect(await read('much.txt', 1, 200)).toMatchObject({ total: 200, lines: { length: 50 } })
  })

  test('are not told of a file that is too large, of what is not there, and of what is no content’s name', async () => {
    expect(await read('huge.txt', 1, 1)).toBeUndefined()
    for (const blob of ['0123456789'.repeat(4), 'HEAD:long.txt', '--batch', ''])
      expect(
        await readLines(testGit, { gitDir: workspace.privateGitDir, blob, from: 1, to: 2 }),
      ).toBeUndefined()
  })
})
