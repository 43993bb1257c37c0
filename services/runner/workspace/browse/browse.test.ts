import { execFileSync } from 'node:child_process'
import { mkdir, rename, rm, symlink, truncate, writeFile, link } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findTestSandbox, treeGits } from '../../../../tests/runner/testSandbox.ts'
import { makeScene, testGit, writeIn, type Scene } from '../../../../tests/runner/workspaceScene.ts'
import { openScratch } from '../../scratch.ts'
import { saveWork } from '../saved/bundle.ts'
import type { Workspace } from '../workspace.ts'
import { commitFiles } from './commitFiles.ts'
import { folderOf, type FileSource } from './fileSource.ts'
import { withSavedWork } from './savedWork.ts'
import { workspaceFiles } from './workspaceFiles.ts'

const ways = treeGits(await findTestSandbox())
let scene: Scene
let workspace: Workspace
beforeEach(async () => {
  scene = await makeScene({
    'README.md': '# Sample\n',
    'src/a.js': 'export const a = 1\n',
    'src/deep/b.js': 'b\n',
    '.gitignore': 'ignored/\n',
  })
  workspace = await scene.prepare()
})
afterEach(() => scene.remove())

const most = 1_000
async function namesIn(source: FileSource, path: string) {
  const found = await source.at(path, most)
  if (found.kind !== 'folder') throw new Error(found.kind)
  return found.entries.map(({ name, kind }) => `${kind} ${name}`)
}

for (const [way, gitFor] of ways)
  describe.skipIf(!gitFor)(`the files of a workspace, listed by git ${way}`, () => {
    let files: FileSource
    beforeEach(() => (files = workspaceFiles(gitFor?.(workspace) ?? testGit, workspace)))

    test('are the tracked and the new ones, folders first, without ignored ones and without .git', async () => {
      await writeIn(workspace.dir, 'new/file.txt', 'new')
      await writeIn(workspace.dir, 'ignored/x', 'x')
      await rm(join(workspace.dir, 'README.md'))
      expect(await namesIn(files, '')).toEqual(['folder new', 'folder src', 'file .gitignore'])
      expect(await namesIn(files, 'src')).toEqual(['folder deep', 'file a.js'])
      expect((await files.paths()).toSorted()).toEqual([
        '.gitignore',
        'README.md',
        'new/file.txt',
        'src/a.js',
        'src/deep/b.js',
      ])
      expect([await files.has('README.md'), await files.has('src/a.js')]).toEqual([false, true])
      for (const path of ['README.md', 'ignored', 'ignored/x', '.git/config', 'src/no.js', 'src/a.js/x'])
        expect(await files.at(path, most)).toEqual({ kind: 'missing' })
    })

    test('have their size and their first bytes', async () => {
      expect(await files.at('src/a.js', 6)).toEqual({ kind: 'file', size: 19, start: Buffer.from('export') })
      await writeFile(join(workspace.dir, 'sparse'), '')
      await truncate(join(workspace.dir, 'sparse'), 1024 ** 3)
      expect(await files.at('sparse', 4)).toEqual({ kind: 'file', size: 1024 ** 3, start: Buffer.alloc(4) })
    })

    test('are never read through a link', async () => {
      await symlink('/etc/passwd', join(workspace.dir, 'passwd'))
      await rename(join(workspace.dir, 'src'), join(scene.root, 'moved'))
      await symlink(join(scene.root, 'moved'), join(workspace.dir, 'src'))
      expect(await files.at('', most)).toMatchObject({
        entries: [
          { name: 'src', kind: 'link' },
          { name: '.gitignore' },
          { name: 'README.md' },
          { name: 'passwd', kind: 'link', target: '/etc/passwd' },
        ],
      })
      expect(await files.at('passwd', most)).toEqual({ kind: 'link', target: '/etc/passwd' })
      expect(await files.at('src', most)).toMatchObject({ kind: 'link' })
      expect(await files.at('src/a.js', most)).toEqual({ kind: 'missing' })
      expect(await files.at('src/deep', most)).toEqual({ kind: 'missing' })
      expect(await files.has('src/a.js')).toBe(false)
    })

    // Attacks files: a hard link, and a repository within the repository.
    test('are not opened when they are pipes, have several names or belong to another repository', async () => {
      await rm(join(workspace.dir, 'README.md'))
      execFileSync('mkfifo', [join(workspace.dir, 'README.md')])
      await link(join(workspace.dir, 'src/a.js'), join(workspace.dir, 'twice'))
      await mkdir(join(workspace.dir, 'nested'))
      execFileSync('git', ['init', '-q', join(workspace.dir, 'nested')])
      await writeIn(workspace.dir, 'nested/inner', 'x')
      expect(await namesIn(files, '')).toEqual([
        'folder src',
        'file .gitignore',
        'other README.md',
        'repository nested',
        'file twice',
      ])
      expect(await files.at('README.md', most)).toEqual({ kind: 'other' })
      expect(await files.at('twice', most)).toEqual({ kind: 'other' })
      expect(await files.at('nested', most)).toEqual({ kind: 'repository' })
      expect(await files.at('nested/inner', most)).toEqual({ kind: 'missing' })
    })

    // Attacks files: names with line breaks, escape sequences, options and patterns of git.
    test('may have any name', async () => {
      const odd = ['new\nline', 'esc\u001B[31m', ' blank ', '*', ':(top)x', '-rf', 'ünï😀']
      for (const name of odd) await writeFile(join(workspace.dir, name), name)
      await writeFile(Buffer.concat([Buffer.from(`${workspace.dir}/`), Buffer.of(0xff, 0x61)]), 'bytes')
      for (const name of odd)
        expect(await files.at(name, most)).toMatchObject({ kind: 'file', start: Buffer.from(name) })
      expect(await files.at('', most)).toMatchObject({
        entries: expect.arrayContaining([expect.objectContaining({ name: '\ufffda', opens: false })]),
      })
    })
  })

describe('the files of a commit', () => {
  const opened = () => commitFiles(testGit, workspace.mirrorDir, workspace.startCommit ?? '')

  test('are listed, found and read', async () => {
    const files = opened()
    expect(await namesIn(files, '')).toEqual(['folder src', 'file .gitignore', 'file README.md'])
    expect(await namesIn(files, 'src')).toEqual(['folder deep', 'file a.js'])
    expect(await files.at('src/a.js', 6)).toEqual({ kind: 'file', size: 19, start: Buffer.from('export') })
    expect(await files.at('src/none', most)).toEqual({ kind: 'missing' })
    expect(await files.paths()).toEqual(['.gitignore', 'README.md', 'src/a.js', 'src/deep/b.js'])
  })

  test('are those that were saved, when the workspace is gone', async () => {
    await writeIn(workspace.dir, 'new/file.txt', 'kept')
    await symlink('/etc/passwd', join(workspace.dir, 'passwd'))
    const saved = await saveWork({ git: testGit, treeGit: testGit, workspace })
    if (saved.kind !== 'saved') throw new Error(saved.kind)
    const mirror = { dir: workspace.mirrorDir, objects: workspace.mirrorObjects }
    const git = { git: testGit, scratch: await openScratch('browse.test') }
    const read = await withSavedWork(git, { bundle: saved.bundle, mirror }, async (gitDir, commit) => {
      const files = commitFiles(testGit, gitDir, commit)
      return [await files.at('new/file.txt', most), await files.at('passwd', most), await namesIn(files, '')]
    })
    expect(read).toEqual([
      { kind: 'file', size: 4, start: Buffer.from('kept') },
      { kind: 'link', target: '/etc/passwd' },
      ['folder new', 'folder src', 'file .gitignore', 'file README.md', 'link passwd'],
    ])
    const none = withSavedWork(git, { bundle: Buffer.from('no bundle'), mirror }, async () => 'read')
    expect(await none).toBeUndefined()
  })
})

test('a folder lists so many entries, describes only those, and says how many it leaves out', async () => {
  let described = 0
  const children = Array.from({ length: 100_000 }, (_, n) => ({
    name: Buffer.from(String(n).padStart(6, '0')),
    isFolder: false,
  }))
  const folder = await folderOf(children, ({ name }) => {
    described += 1
    return name.equals(Buffer.from('000001')) ? undefined : { kind: 'file', size: 1, target: null }
  })
  expect(folder.entries).toHaveLength(1_000)
  expect(folder.entries[1]?.name).toBe('000002')
  expect([described, folder.leftOut]).toEqual([1_001, 98_999])
  const long = children.map((child) => ({ ...child, name: Buffer.alloc(255, 1) }))
  const short = await folderOf(long, () => ({ kind: 'file', size: 1, target: null }))
  expect(JSON.stringify(short.entries).length).toBeLessThan(700_000)
  expect(short.entries.length + short.leftOut).toBe(100_000)
  // A message of NATS has at most a megabyte, and each of these names and targets has three bytes for a code unit.
  const wide = Array.from({ length: 1_000 }, () => ({ name: Buffer.alloc(255, 0xff), isFolder: false }))
  const target = '山'.repeat(200)
  const fitting = await folderOf(wide, () => ({ kind: 'link', size: null, target }))
  expect(Buffer.byteLength(JSON.stringify(fitting))).toBeLessThan(700_000)
  expect(fitting.entries.length + fitting.leftOut).toBe(1_000)
})
