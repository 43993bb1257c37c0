import { chmod, lstat, mkdir, readdir, readFile, readlink, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeScene, testGit, testPath, writeIn, type Scene } from '../../../../tests/runner/workspaceScene.ts'
import { readChanges } from '../changes/changes.ts'
import { gitOrThrow } from '../git/git.ts'
import type { Workspace } from '../workspace.ts'
import { saveWork } from './bundle.ts'
import { previewRestore, restoreInPlace } from './restoreInPlace.ts'

let scene: Scene
let workspace: Workspace
beforeEach(async () => {
  scene = await makeScene({ 'README.md': '# Sample\n', 'a.txt': 'a\n', '.gitignore': 'ignored/\n' })
  workspace = await scene.prepare()
})
afterEach(() => scene.remove())

/** Takes a snapshot; only the private git directory keeps it. */
async function snapshot(name: string): Promise<string> {
  const keepAs = `refs/flightdeck/turns/${name}`
  const saved = await saveWork({ git: testGit, treeGit: testGit, workspace, keepAs })
  if (saved.kind === 'too_large') throw new Error(saved.message)
  return saved.work
}
const restore = (target: string) =>
  restoreInPlace({ git: testGit, treeGit: testGit, path: testPath, workspace, target })
const preview = (target: string) => previewRestore({ git: testGit, treeGit: testGit, workspace, target })

async function files(): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {}
  for (const entry of await readdir(workspace.dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(workspace.dir.length + 1)
    if (entry.isDirectory() || name.startsWith('.git/')) continue
    const { mode } = await lstat(path)
    found[name] = entry.isSymbolicLink()
      ? `link ${await readlink(path)}`
      : `${mode & 0o100 ? 'x' : '-'} ${(await readFile(path)).toString('latin1')}`
  }
  return found
}
const write = (name: string, content: string | Buffer) => writeIn(workspace.dir, name, content)
const remove = (name: string) => rm(join(workspace.dir, name), { recursive: true })

describe('a restore in place', () => {
  test('brings every byte, link and mode back, with new files, those deleted, and those an agent committed', async () => {
    await write('.gitattributes', '*.txt text=auto eol=crlf ident\n')
    await write('crlf.txt', 'one\r\ntwo\n$Id$\n')
    await write('bytes.bin', Buffer.from([0, 255, 13, 10, 0]))
    await write('näme with "quotes"\n.txt', 'odd\n')
    await write('run.sh', '#!/bin/sh\n')
    await chmod(join(workspace.dir, 'run.sh'), 0o755)
    await symlink('/nowhere', join(workspace.dir, 'link'))
    await remove('a.txt')
    const before = await files()
    const target = await snapshot('first')

    await write('crlf.txt', 'other\n')
    await remove('bytes.bin')
    await remove('link')
    await write('link/now/a/folder', 'x\n')
    await write('later.txt', 'later\n')
    await write('a.txt', 'back\n')
    await remove('run.sh')
    await mkdir(join(workspace.dir, 'run.sh'))
    const other = await files()
    const back = await snapshot('second')
    expect(await restore(target)).toMatchObject({ kind: 'restored', kept: [] })
    expect(await files()).toEqual(before)
    expect(await restore(back)).toMatchObject({ kind: 'restored', kept: [] })
    expect(await files()).toEqual(other)
  })

  test('shows before what it does, and then does just that', async () => {
    const target = await snapshot('first')
    await write('later.txt', 'later\n')
    await write('README.md', '# Other\n')
    await remove('a.txt')
    const before = await files()
    const shown = await preview(target)
    expect(shown).toEqual({
      kind: 'restored',
      kept: [],
      files: [
        { path: 'README.md', change: 'modified' },
        { path: 'a.txt', change: 'added' },
        { path: 'later.txt', change: 'deleted' },
      ],
    })
    expect(await files()).toEqual(before)
    expect(await restore(target)).toEqual(shown)
    expect(await preview(target)).toEqual({ kind: 'restored', kept: [], files: [] })
  })

  test('touches nothing that git ignores, whichever way the rules have changed', async () => {
    await write('ignored/old', 'old\n')
    await write('data.txt', 'as it was\n')
    await write('folder', 'a file then\n')
    const target = await snapshot('first')
    await write('.gitignore', 'ignored/\ndata.txt\nfolder/\n')
    await write('data.txt', 'precious\n')
    await remove('folder')
    await write('folder/precious', 'precious\n')
    await write('ignored/old', 'precious\n')
    expect(await restore(target)).toMatchObject({ kind: 'restored', kept: ['data.txt', 'folder'] })
    expect(await files()).toMatchObject({
      'data.txt': '- precious\n',
      'folder/precious': '- precious\n',
      'ignored/old': '- precious\n',
      '.gitignore': '- ignored/\n',
    })
  })

  test('keeps what was ignored out of the changes once its rules are taken back, and on the disk once they return', async () => {
    const changed = async () => {
      const changes = await readChanges({ git: testGit, treeGit: testGit, workspace, baseBranch: 'main' })
      return changes.kind === 'changes' && changes.files.map(({ fileName }) => fileName)
    }
    const target = await snapshot('first')
    await write('.gitignore', 'ignored/\nprivate/\n*.key\n')
    await write('private/key', 'precious\n')
    await write('dir/odd [x] *\\.key', 'precious\n')
    const back = await snapshot('second')
    expect(await restore(target)).toMatchObject({ files: [{ path: '.gitignore', change: 'modified' }] })
    await write('dir/new', 'new\n')
    expect(await changed()).toEqual(['dir/new'])
    await restore(back)
    expect(await files()).toMatchObject({
      'private/key': '- precious\n',
      'dir/odd [x] *\\.key': '- precious\n',
    })
    await write('.gitignore', 'ignored/\n')
    expect(await changed()).toEqual(['dir/odd [x] *\\.key', 'private/key'])
  })

  test('writes files of the base again as its attributes say', async () => {
    await scene.remove()
    scene = await makeScene({
      '.gitattributes': '*.bat eol=crlf\n',
      'run.bat': 'one\n',
      'other.bat': 'one\n',
    })
    workspace = await scene.prepare()
    await write('other.bat', 'changed\n')
    const before = await files()
    expect(before['run.bat']).toBe('- one\r\n')
    const target = await snapshot('first')
    await write('run.bat', 'two\r\n')
    await remove('other.bat')
    await restore(target)
    expect(await files()).toEqual(before)
  })

  test('leaves repositories of their own, files that are too large and the agent’s git alone', async () => {
    const target = await snapshot('first')
    const nested = join(workspace.dir, 'nested')
    await gitOrThrow(testGit, { args: ['init', '--quiet', '--', nested] })
    const from = ['remote', 'add', 'origin', 'https://x.example/a']
    await gitOrThrow(testGit, { gitDir: join(nested, '.git'), args: from })
    await write('nested/file', 'theirs\n')
    await write('large.bin', Buffer.alloc(33 * 1024 ** 2))
    const head = await readFile(join(workspace.dir, '.git/HEAD'), 'utf8')
    await restore(target)
    expect(await readFile(join(nested, 'file'), 'utf8')).toBe('theirs\n')
    expect((await lstat(join(workspace.dir, 'large.bin'))).size).toBe(33 * 1024 ** 2)
    expect(await readFile(join(workspace.dir, '.git/HEAD'), 'utf8')).toBe(head)
  })

  test('writes through no link that was put in the place of a folder', async () => {
    await write('sub/file.txt', 'mine\n')
    const target = await snapshot('first')
    await remove('sub')
    const outside = join(scene.root, 'outside')
    await mkdir(outside)
    await symlink(outside, join(workspace.dir, 'sub'))
    await restore(target)
    expect(await readdir(outside)).toEqual([])
    expect(await readFile(join(workspace.dir, 'sub/file.txt'), 'utf8')).toBe('mine\n')
  })
})
