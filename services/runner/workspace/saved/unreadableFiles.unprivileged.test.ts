import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeScene, testGit, testPath, writeIn, type Scene } from '../../../../tests/runner/workspaceScene.ts'
import { readChanges } from '../changes/changes.ts'
import type { Workspace } from '../workspace.ts'
import { saveWork } from './bundle.ts'
import { restoreInPlace } from './restoreInPlace.ts'

// This file runs in a process of its own, which gives up root here.
if (process.getuid?.() === 0) {
  process.setgroups?.([])
  process.setgid?.(27_000)
  process.setuid?.(27_000)
}

let scene: Scene
let workspace: Workspace
beforeEach(async () => {
  scene = await makeScene({ 'README.md': '# Sample\n', 'a.txt': 'a\n' })
  workspace = await scene.prepare()
})
afterEach(() => scene.remove())

test('files that this server cannot read are listed, left out of snapshots, and left alone by a restore', async () => {
  const on = { git: testGit, treeGit: testGit, workspace }
  const first = await saveWork({ ...on, keepAs: 'refs/flightdeck/turns/first' })
  if (first.kind === 'too_large') throw new Error(first.message)
  for (const name of ['a.txt', 'new.key', 'readable.txt']) await writeIn(workspace.dir, name, 'new\n')
  for (const name of ['a.txt', 'new.key']) await chmod(join(workspace.dir, name), 0)

  const unread = { diff: '\\ The file cannot be read.\n' }
  expect(await readChanges({ ...on, baseBranch: 'main', from: 'tree' })).toMatchObject({
    files: [
      { fileName: 'readable.txt', status: 'untracked', additions: 1 },
      { fileName: 'a.txt', status: 'modified', ...unread },
      { fileName: 'new.key', status: 'untracked', ...unread },
    ],
    total: 3,
  })
  expect(await saveWork(on)).toMatchObject({ kind: 'saved', leftOut: ['a.txt', 'new.key'] })
  expect(await restoreInPlace({ ...on, path: testPath, target: first.work })).toEqual({
    kind: 'restored',
    files: [{ path: 'readable.txt', change: 'deleted' }],
    kept: ['a.txt'],
  })
})
