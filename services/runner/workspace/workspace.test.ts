import { lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commitOf, gitOrThrow, gitText } from './git/git.ts'
import { commitAndPush } from './publish/publish.ts'
import { makeScene, testGit, testPath, testTaskId } from '../../../tests/runner/workspaceScene.ts'
import type { Scene } from '../../../tests/runner/workspaceScene.ts'
import { openSandboxUsers } from './sandboxUsers.ts'
import {
  completeWorkspace,
  evictWorkspace,
  findWorkspace,
  hasWorkspace,
  isEvicted,
  removeWorkspace,
} from './workspace.ts'

let scene: Scene
beforeEach(async () => {
  scene = await makeScene({ 'README.md': '# Sample\n', 'src/a.js': 'export const a = 1\n' })
})
afterEach(() => scene.remove())

describe('a workspace', () => {
  test('has the base checked out on the working branch, for the agent and for us', async () => {
    const workspace = await scene.prepare()
    const start = await commitOf(testGit, scene.remote, 'refs/heads/main')
    expect(workspace.startCommit).toBe(start)
    expect(await readFile(join(workspace.dir, 'src/a.js'), 'utf8')).toBe('export const a = 1\n')

    const ours = { gitDir: workspace.privateGitDir, workTree: workspace.dir }
    expect(await gitText(testGit, { ...ours, args: ['status', '--porcelain', '--branch'] })).toBe(
      `## ${workspace.branch}`,
    )
    // By the index alone, without a look into any file.
    expect(await gitText(testGit, { ...ours, args: ['diff-files'] })).toBe('')
    // Where the agent runs, its alternate is there; here the mirror stands in for it.
    const agents = {
      gitDir: join(workspace.dir, '.git'),
      workTree: workspace.dir,
      env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: workspace.mirrorObjects },
    }
    expect(await gitText(testGit, { ...agents, args: ['status', '--porcelain', '--branch'] })).toBe(
      `## ${workspace.branch}`,
    )
    expect(await gitText(testGit, { ...agents, args: ['rev-parse', 'main', 'origin/main', 'HEAD'] })).toBe(
      `${start}\n${start}\n${start}`,
    )
    for (const [key, value] of [
      ['user.name', 'claude'],
      ['remote.origin.url', 'http://localhost:8081/ada/sample.git'],
      ['core.checkStat', 'minimal'],
    ] as const)
      expect(await gitText(testGit, { ...agents, args: ['config', key] })).toBe(value)
    expect(await readFile(join(workspace.dir, '.git/objects/info/alternates'), 'utf8')).toBe(
      '/mirror/objects\n',
    )
  })

  test('belongs to a user of the task alone, when root makes it', async () => {
    const workspace = await scene.prepare()
    const { uid } = await lstat(join(workspace.dir, '.git/index'))
    expect(uid).toBe(
      process.getuid?.() === 0
        ? (await openSandboxUsers(scene.root).userOf(testTaskId)).uid
        : process.getuid?.(),
    )
    expect((await lstat(join(workspace.dir, 'src/a.js'))).uid).toBe(uid)
    expect((await lstat(workspace.homeDir)).uid).toBe(uid)
    for (const name of await readdir(workspace.dir, { recursive: true }))
      expect([name, (await lstat(join(workspace.dir, name))).uid]).toEqual([name, uid])
    for (const name of ['.', 'HEAD', 'index'])
      expect((await lstat(join(workspace.privateGitDir, name))).uid).toBe(process.getuid?.())
    for (const dir of [workspace.dir, workspace.homeDir, workspace.privateGitDir])
      expect((await stat(dir)).mode & 0o777).toBe(0o700)
  })

  test('is made once: asked for again, it is found with what was written into it', async () => {
    const workspace = await scene.prepare()
    await writeFile(join(workspace.dir, 'new.txt'), 'kept')
    await scene.commit({ 'README.md': '# Moved on\n' })
    expect(await scene.prepare()).toEqual(workspace)
    expect(await readFile(join(workspace.dir, 'new.txt'), 'utf8')).toBe('kept')
    expect(
      await findWorkspace(testGit, {
        root: scene.root,
        taskId: testTaskId,
        mirror: await scene.refresh(),
      }),
    ).toEqual(workspace)
  })

  test('that is half-made is made anew', async () => {
    const workspace = await scene.prepare()
    await rm(join(scene.root, 'tasks', testTaskId, 'ready.json'))
    await rm(join(workspace.privateGitDir, 'HEAD'))
    await writeFile(join(workspace.dir, 'half.txt'), '')
    const again = await scene.prepare()
    expect(again).toEqual(workspace)
    await expect(lstat(join(again.dir, 'half.txt'))).rejects.toThrow('ENOENT')
  })

  test.each([
    ['cannot be read', (marker: string) => rm(marker).then(() => mkdir(marker)), 'EISDIR'],
    ['was cut off', (marker: string) => writeFile(marker, '{"version":1,"branch"'), 'is damaged'],
    ['is of a newer version', (marker: string) => writeFile(marker, '{"version":2}'), 'of a newer version'],
  ])('whose mark %s is left alone', async (_why, spoil, told) => {
    const { dir } = await scene.prepare()
    await writeFile(join(dir, 'mine.txt'), 'mine\n')
    await spoil(join(scene.root, 'tasks', testTaskId, 'ready.json'))
    await expect(scene.prepare()).rejects.toThrow(told)
    await expect(hasWorkspace(scene.root, testTaskId)).rejects.toThrow(told)
    expect(await readFile(join(dir, 'mine.txt'), 'utf8')).toBe('mine\n')
  })

  test('that waits for what was saved is none until that is restored', async () => {
    const found = async () =>
      findWorkspace(testGit, { root: scene.root, taskId: testTaskId, mirror: await scene.refresh() })
    const workspace = await scene.prepare({ isToBeRestored: true })
    await writeFile(join(workspace.dir, 'half.txt'), '')
    expect(await hasWorkspace(scene.root, testTaskId)).toBe(false)
    expect(await found()).toBeUndefined()
    const again = await scene.prepare({ isToBeRestored: true })
    await expect(lstat(join(again.dir, 'half.txt'))).rejects.toThrow('ENOENT')
    await completeWorkspace(scene.root, again)
    expect(await found()).toEqual(workspace)
  })

  test('that waits for what was saved keeps the home that an eviction left', async () => {
    const { homeDir } = await scene.prepare()
    await writeFile(join(homeDir, 'session'), 'mine\n')
    await evictWorkspace(scene.root, testTaskId, testPath)
    for (let n = 0; n < 2; n++) await scene.prepare({ isToBeRestored: true })
    expect(await readFile(join(homeDir, 'session'), 'utf8')).toBe('mine\n')
    expect(await isEvicted(scene.root, testTaskId)).toBe(true)
    await completeWorkspace(scene.root, await scene.prepare({ isToBeRestored: true }))
    expect(await isEvicted(scene.root, testTaskId)).toBe(false)
  })

  test('takes up a working branch that the host already has', async () => {
    const pushed = await scene.commit({ 'README.md': '# From before\n' }, 'flightdeck/a-task-12345678')
    const workspace = await scene.prepare()
    expect(workspace.startCommit).toBe(pushed)
    expect(await readFile(join(workspace.dir, 'README.md'), 'utf8')).toBe('# From before\n')
  })

  test('is made at the commit that it began from before, where its base is gone', async () => {
    const { startCommit } = await scene.prepare({ baseBranch: 'main' })
    const lastBase = startCommit ?? ''
    await removeWorkspace(scene.root, testTaskId, testPath)
    await scene.commit({ 'other.txt': '' }, 'other')
    await gitOrThrow(testGit, { gitDir: scene.remote, args: ['update-ref', '-d', 'refs/heads/main'] })
    await expect(scene.prepare()).rejects.toThrow('no_such_branch')
    await expect(scene.prepare({ lastBase: 'e'.repeat(40) })).rejects.toThrow('no_such_branch')
    expect(await scene.prepare({ lastBase })).toMatchObject({ startCommit, baseBranch: 'main' })
  })

  test('of an empty repository starts with its first branch', async () => {
    const empty = await makeScene()
    const workspace = await empty.prepare()
    expect(workspace).toMatchObject({ branch: 'main', startCommit: null })
    const head = await readFile(join(workspace.dir, '.git/HEAD'), 'utf8')
    expect(head).toBe('ref: refs/heads/main\n')
    await empty.remove()
  })

  test('works on a branch that can stand beside those of the host', async () => {
    await scene.commit({ 'x.txt': 'x\n' }, 'flightdeck')
    const workspace = await scene.prepare({ baseBranch: 'flightdeck' })
    expect(workspace.branch).toBe('flightdeck-a-task-12345678')
    await writeFile(join(workspace.dir, 'new.txt'), 'new\n')
    const published = await commitAndPush({
      git: testGit,
      treeGit: testGit,
      workspace,
      message: 'Work',
      author: { name: 'Ada', email: 'ada@example.com' },
      secrets: [],
      url: scene.remote,
    })
    expect(published).toMatchObject({ kind: 'published', pushed: true })
    expect(await scene.prepare({ baseBranch: 'flightdeck' })).toEqual(workspace)
  })

  test('asks for a branch that there is, by a name that a branch can have', async () => {
    await expect(scene.prepare({ baseBranch: 'missing' })).rejects.toThrow('no_such_branch')
    for (const baseBranch of ['--upload-pack=x', '-b', '', 'a..b', 'a b', 'HEAD', 'a\nb', 'a.lock'])
      await expect(scene.prepare({ baseBranch })).rejects.toThrow('invalid_branch')
    await expect(scene.prepare({ taskId: '../elsewhere' })).rejects.toThrow(RangeError)
  })

  test('can be taken away, whatever is in it', async () => {
    const workspace = await scene.prepare()
    await symlink('/etc', join(workspace.dir, 'etc'))
    await mkdir(join(workspace.dir, 'closed'), { mode: 0o000 })
    await removeWorkspace(scene.root, testTaskId, testPath)
    await expect(lstat(workspace.dir)).rejects.toThrow('ENOENT')
    expect((await stat('/etc')).isDirectory()).toBe(true)
    await removeWorkspace(scene.root, testTaskId, testPath)
  })

  test('is checked out without running a filter or leaving through a link', async () => {
    await scene.commit({
      '.gitattributes': '* filter=evil\n',
      '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = ext::sh\n',
    })
    const workspace = await scene.prepare()
    expect(await readFile(join(workspace.dir, 'README.md'), 'utf8')).toBe('# Sample\n')
  })
})
