import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultDiffLimits, readChanges } from '../../../services/runner/workspace/changes/changes.ts'
import type { Changes } from '../../../services/runner/workspace/changes/changes.ts'
import { makeScene, testGit } from '../../runner/workspaceScene.ts'
import type { Scene } from '../../runner/workspaceScene.ts'
import type { Workspace } from '../../../services/runner/workspace/workspace.ts'

/** 10,000 changed files, half of them new, with 50 MB of lines that are new. */
describe('10,000 changed files and a diff of 50 MB', () => {
  let scene: Scene
  let workspace: Workspace
  let changes: Changes
  let grownBy: number
  beforeAll(async () => {
    const names = Array.from({ length: 10_000 }, (_, n) => `d${n % 100}/f${n}.txt`)
    scene = await makeScene(Object.fromEntries(names.slice(0, 5_000).map((name) => [name, `${name}\n`])))
    workspace = await scene.prepare()
    const text = 'what this line says is of no account at all\n'.repeat(114)
    for (const name of names) {
      mkdirSync(join(workspace.dir, name, '..'), { recursive: true })
      writeFileSync(join(workspace.dir, name), `${name} changed\n${text}`)
    }
    const before = process.memoryUsage.rss()
    changes = await readChanges({ git: testGit, treeGit: testGit, workspace, baseBranch: 'main' })
    grownBy = process.memoryUsage.rss() - before
  }, 120_000)
  afterAll(() => scene.remove())

  const shown = () => (changes.kind === 'changes' ? changes : undefined)

  test('are told of as far as the limits go, and said to be cut', () => {
    expect(shown()?.truncated).toBe(true)
    expect(shown()?.files).toHaveLength(defaultDiffLimits.files)
  })

  test('a file whose diff did not fit says so in its place', () => {
    const last = shown()?.files.at(-1)
    expect(last?.diff).toBe('\\ There are too many changes to show this diff.\n')
    expect(last?.additions).toBe(115)
  })

  test('are held in no more memory than the limits say', () => {
    const kept = shown()?.files.reduce((sum, { diff }) => sum + Buffer.byteLength(diff), 0) ?? 0
    expect(kept).toBeLessThan(defaultDiffLimits.totalBytes + defaultDiffLimits.files * 100)
    expect(grownBy).toBeLessThan(150_000_000)
  })
})
