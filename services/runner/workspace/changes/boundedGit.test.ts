/** Every call of git on a task's files has the time limit of its caller, and ends with it. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeScene, testGit, writeIn, type Scene } from '../../../../tests/runner/workspaceScene.ts'
import type { Git, GitCall } from '../git/git.ts'
import { defaultWorkLimits, openPlainGit, writeTree } from '../saved/plainTree.ts'
import type { Workspace } from '../workspace.ts'
import { withScratchIndex } from './indexDifferences.ts'
import { stageTree } from './stagedTree.ts'

let scene: Scene
let workspace: Workspace
let calls: GitCall[]
const treeGit: Git = (call) => {
  calls.push(call)
  return testGit(call)
}
beforeEach(async () => {
  scene = await makeScene({ 'README.md': '# Sample\n' })
  workspace = await scene.prepare()
  await writeIn(workspace.dir, 'new.txt', 'new\n')
  calls = []
})
afterEach(() => scene.remove())

const { signal } = new AbortController()
const limitsOf = () =>
  calls.map(({ args: [name], timeoutMs, signal: given }) => [name, timeoutMs, given === signal])

test('when the tree is staged', async () => {
  await withScratchIndex(workspace, (index) =>
    stageTree({ git: testGit, treeGit, workspace, timeoutMs: 120_000, signal }, index),
  )
  expect(limitsOf()).toEqual([
    ['update-index', 120_000, true],
    ['diff-files', 120_000, true],
    ['ls-files', 120_000, true],
    ['update-index', 120_000, true],
  ])
})

test('when the tree is staged by a git that has a signal itself', async () => {
  const signalled: Git = (call) => treeGit({ signal, ...call })
  await withScratchIndex(workspace, (index) =>
    stageTree({ git: testGit, treeGit: signalled, workspace }, index),
  )
  expect(calls.map((call) => call.signal === signal)).toEqual([true, true, true, true])
})

test('when the work is saved', async () => {
  await withScratchIndex(workspace, async (index) => {
    const plain = await openPlainGit(testGit, workspace, { index })
    return writeTree({ treeGit, workspace, signal }, plain, defaultWorkLimits)
  })
  expect(limitsOf()).toEqual([
    ['update-index', 300_000, true],
    ['diff-files', 300_000, true],
    ['ls-files', 300_000, true],
    ['update-index', 300_000, true],
    ['write-tree', 300_000, true],
  ])
})
