import { execFileSync } from 'node:child_process'
import { lstat, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Finished } from '#platform/childProcess.ts'
import { findTestSandbox, treeGits } from '../../../../tests/runner/testSandbox.ts'
import { prerequisitesOf, restoreWork, saveWork } from './bundle.ts'
import { defaultWorkLimits } from './plainTree.ts'
import type { SaveRequest } from './bundle.ts'
import { readChanges } from '../changes/changes.ts'
import { commitOf, gitOrThrow, gitText } from '../git/git.ts'
import type { Git } from '../git/git.ts'
import { commitAndPush } from '../publish/publish.ts'
import { firstCases } from '../../../../tests/longRun.ts'
import { makeScene, testGit, testPath, writeIn } from '../../../../tests/runner/workspaceScene.ts'
import type { Scene } from '../../../../tests/runner/workspaceScene.ts'
import { openSandboxUsers } from '../sandboxUsers.ts'
import type { Workspace } from '../workspace.ts'

const ways = treeGits(await findTestSandbox())
const author = { name: 'Ada', email: 'ada@example.com' }

for (const [way, gitFor] of ways)
  describe.skipIf(!gitFor)(`work saved by git ${way}`, () => {
    let scene: Scene
    let workspace: Workspace
    beforeEach(async () => {
      scene = await makeScene({ 'README.md': '# Sample\n', 'a.txt': 'a\n', '.gitignore': 'ignored/\n' })
      workspace = await scene.prepare()
    })
    afterEach(() => scene.remove())

    const save = (asked: Partial<SaveRequest> = {}) =>
      saveWork({ git: testGit, treeGit: gitFor?.(workspace) ?? testGit, workspace, ...asked })
    const saved = async (asked: Partial<SaveRequest> = {}) => {
      const result = await save(asked)
      if (result.kind !== 'saved') throw new Error(result.kind)
      return result
    }
    /** On a runner that never saw the task. */
    const restoreElsewhere = async (bundle: Uint8Array) => {
      const other = await scene.prepare({ taskId: 'on-another-runner' })
      return { other, result: await restoreWork({ git: testGit, path: testPath, workspace: other, bundle }) }
    }
    const commit = (url = scene.remote) =>
      commitAndPush({ git: testGit, treeGit: testGit, workspace, message: 'Work', author, secrets: [], url })

    test('goes on elsewhere: what was committed and not pushed, changed, new and taken away', async () => {
      await writeIn(workspace.dir, 'committed.txt', 'committed\n')
      await commit(join(scene.root, 'nowhere.git'))
      await writeIn(workspace.dir, 'committed.txt', 'changed after\n')
      await writeIn(workspace.dir, 'new/file.txt', 'new\n')
      await writeIn(workspace.dir, 'ignored/large', 'can be made again\n')
      await rm(join(workspace.dir, 'a.txt'))
      const { bundle, leftOut } = await saved()
      expect(leftOut).toEqual([])

      const { other, result } = await restoreElsewhere(bundle)
      const head = await commitOf(testGit, workspace.privateGitDir, 'HEAD')
      expect(result).toEqual({ kind: 'restored', head, leftOut: [] })
      expect(await commitOf(testGit, other.privateGitDir, `refs/heads/${other.branch}`)).toBe(head)
      const read = (of: Workspace) =>
        readChanges({ git: testGit, treeGit: testGit, workspace: of, baseBranch: 'main' })
      expect(await read(other)).toEqual(await read(workspace))
      expect(await readdir(other.dir)).not.toContain('ignored')
      const index = (of: Workspace) =>
        gitText(testGit, { gitDir: of.privateGitDir, args: ['ls-files', '--stage'] })
      expect(await index(other)).toBe(await index(workspace))

      const published = await commitAndPush({
        git: testGit,
        treeGit: testGit,
        workspace: other,
        message: 'The rest',
        author,
        secrets: [],
        url: scene.remote,
      })
      expect(published).toMatchObject({ kind: 'published', pushed: true })
      const listed = ['ls-tree', '-r', '--name-only', other.branch]
      expect(await gitText(testGit, { gitDir: scene.remote, args: listed })).toBe(
        '.gitignore\nREADME.md\ncommitted.txt\nnew/file.txt',
      )
    })

    test('belongs to the user of the sandbox where it goes on', async () => {
      await writeIn(workspace.dir, 'new/file.txt', 'new\n')
      const { other } = await restoreElsewhere((await saved()).bundle)
      const uid =
        process.getuid?.() === 0
          ? (await openSandboxUsers(scene.root).userOf(other.taskId)).uid
          : process.getuid?.()
      expect((await lstat(join(other.dir, 'new/file.txt'))).uid).toBe(uid)
      expect((await lstat(join(other.dir, 'new'))).uid).toBe(uid)
    })

    test('leaves the workspace as it is, with no object more', async () => {
      await writeIn(workspace.dir, 'new.txt', 'new\n')
      const listing = async () => (await readdir(workspace.privateGitDir, { recursive: true })).sort()
      const before = await listing()
      await saved()
      expect(await listing()).toEqual(before)
    })

    test('is told to be the same when it is', async () => {
      await writeIn(workspace.dir, 'new.txt', 'new\n')
      const { work } = await saved()
      expect(await save({ last: work })).toEqual({ kind: 'unchanged', work, leftOut: [] })
      await writeIn(workspace.dir, 'new.txt', 'newer\n')
      expect((await save({ last: work })).kind).toBe('saved')
    })

    test('holds nothing of the base', async () => {
      const noise = Buffer.from(Array.from({ length: 300_000 }, (_, n) => (n * n * 31) % 251))
      await scene.commit({ 'noise.bin': noise })
      workspace = await scene.prepare({ taskId: 'after-the-noise' })
      await writeIn(workspace.dir, 'new.txt', 'new\n')
      expect((await saved()).bundle.length).toBeLessThan(2_000)
    })

    test('is refused above the limits, and large files are left out and told of', async () => {
      await writeIn(workspace.dir, 'large.bin', Buffer.alloc(50_000, 'large'))
      await writeIn(workspace.dir, 'small.txt', 'small\n')
      const { bundle, leftOut } = await saved({ limits: { ...defaultWorkLimits, fileBytes: 10_000 } })
      expect(leftOut).toEqual(['large.bin'])
      const { other } = await restoreElsewhere(bundle)
      expect((await readdir(other.dir)).sort()).toEqual([
        '.git',
        '.gitignore',
        'README.md',
        'a.txt',
        'small.txt',
      ])
      const few = { ...defaultWorkLimits, newFiles: 1 }
      expect(await save({ limits: few })).toMatchObject({ kind: 'too_large' })
      expect(await save({ limits: { ...defaultWorkLimits, bundleBytes: 100 } })).toMatchObject({
        kind: 'too_large',
      })
    })

    test('of an empty repository goes on in an empty one', async () => {
      const empty = await makeScene()
      workspace = await empty.prepare()
      await writeIn(workspace.dir, 'first.txt', 'first\n')
      const { bundle } = await saved()
      const other = await empty.prepare({ taskId: 'on-another-runner' })
      const result = await restoreWork({ git: testGit, path: testPath, workspace: other, bundle })
      expect(result).toEqual({ kind: 'restored', head: null, leftOut: [] })
      expect(await readFile(join(other.dir, 'first.txt'), 'utf8')).toBe('first\n')
      await empty.remove()
    })
  })

describe('a bundle that is restored', () => {
  let scene: Scene
  let workspace: Workspace
  beforeEach(async () => {
    scene = await makeScene({ 'README.md': '# Sample\n' })
    workspace = await scene.prepare()
  })
  afterEach(() => scene.remove())

  const restore = (bundle: Uint8Array, to = workspace) =>
    restoreWork({ git: testGit, path: testPath, workspace: to, bundle })
  const made = async () => {
    const result = await saveWork({ git: testGit, treeGit: testGit, workspace })
    if (result.kind !== 'saved') throw new Error(result.kind)
    return result.bundle
  }

  test('stands where the bundle was made, also when the branch went on at the host', async () => {
    await writeIn(workspace.dir, 'ours.txt', 'ours\n')
    await commitAndPush({
      git: testGit,
      treeGit: testGit,
      workspace,
      message: 'Work',
      author,
      secrets: [],
      url: scene.remote,
    })
    const bundle = await made()
    await scene.commit({ 'theirs.txt': 'theirs\n' }, workspace.branch)
    const other = await scene.prepare({ taskId: 'on-another-runner' })
    expect(await readdir(other.dir)).toContain('theirs.txt')
    const result = await restore(bundle, other)
    expect(result).toMatchObject({
      kind: 'restored',
      head: await commitOf(testGit, workspace.privateGitDir, 'HEAD'),
    })
    expect((await readdir(other.dir)).sort()).toEqual(['.git', 'README.md', 'ours.txt'])
  })

  test('names the commits that it needs, and of an empty repository none', async () => {
    const needs = await scene.commit({ 'b.txt': 'b\n' })
    workspace = await scene.prepare({ taskId: 'later' })
    await writeIn(workspace.dir, 'ours.txt', `\n\n-${'a'.repeat(40)} no commit\n`)
    expect(prerequisitesOf(await made())).toEqual([needs])
    const empty = await makeScene()
    workspace = await empty.prepare()
    await writeIn(workspace.dir, 'first.txt', 'first\n')
    expect(prerequisitesOf(await made())).toEqual([])
    await empty.remove()
    expect(prerequisitesOf(Buffer.from('no bundle\n\n'))).toBeUndefined()
    expect(prerequisitesOf(Buffer.from('# v2 git bundle\n'))).toBeUndefined()
  })

  test('of a history that is gone from the host is told of', async () => {
    await scene.commit({ 'b.txt': 'b\n' })
    workspace = await scene.prepare({ taskId: 'later' })
    await writeIn(workspace.dir, 'ours.txt', 'ours\n')
    const bundle = await made()
    const rewritten = await makeScene({ 'README.md': '# Another history\n' })
    const other = await rewritten.prepare()
    expect(await restore(bundle, other)).toMatchObject({ kind: 'base_gone' })
    await rewritten.remove()
  })

  describe('of a history that is gone from the host, in a workspace from before', () => {
    let bundle: Buffer
    let rewritten: Scene
    let other: Workspace
    beforeEach(async () => {
      await scene.commit({ 'b.txt': 'b\n' })
      workspace = await scene.prepare({ taskId: 'later' })
      await writeIn(workspace.dir, 'ours.txt', 'ours\n')
      bundle = await made()
      rewritten = await makeScene({ 'README.md': '# Another history\n' })
      other = await rewritten.prepare()
      // What it began with is its own now, and no longer at the host.
      await gitOrThrow(testGit, { gitDir: other.privateGitDir, args: ['repack', '-a', '-d', '-q'] })
      const anew = await rewritten.commit({ 'README.md': '# A third history\n' }, 'anew')
      await gitOrThrow(testGit, { gitDir: rewritten.remote, args: ['update-ref', 'refs/heads/main', anew] })
      await rm(other.mirrorDir, { recursive: true })
      await rewritten.refresh()
      if (await commitOf(testGit, other.mirrorDir, `${other.startCommit}`))
        throw new Error('the mirror has it')
    })
    afterEach(() => rewritten.remove())

    test('is told of', async () => {
      expect(await restore(bundle, other)).toMatchObject({ kind: 'base_gone' })
    })

    test('is not given up where nothing can be read of the mirror', async () => {
      await rename(other.mirrorObjects, `${other.mirrorObjects}.away`)
      await mkdir(other.mirrorObjects)
      await expect(restore(bundle, other)).rejects.toMatchObject({ name: 'GitFault' })
    })
  })

  const damages = [
    ['of another kind', () => Buffer.from('no bundle')],
    ['cut off', async () => (await made()).subarray(0, -30)],
    ['cut off in its head', async () => (await made()).subarray(0, 30)],
    ['with more behind it', async () => Buffer.concat([await made(), Buffer.from('more')])],
    [
      'with a line that is no reference',
      async () => Buffer.from((await made()).toString('latin1').replace('\n-', '\n-z'), 'latin1'),
    ],
    [
      'with a sum that is not its own',
      async () => Buffer.from((await made()).map((b, n, all) => (n === all.length - 1 ? b ^ 1 : b))),
    ],
    [
      'with a byte that is not as it was',
      async () => Buffer.from((await made()).map((b, n, all) => (n === all.length - 40 ? b ^ 1 : b))),
    ],
  ] as const
  test.each(firstCases(damages, 3))('is read as a whole or not at all: %s', async (_, bundle) => {
    await writeIn(workspace.dir, 'ours.txt', 'ours\n')
    const bytes = await bundle()
    const other = await scene.prepare({ taskId: 'on-another-runner' })
    expect(await restore(bytes, other)).toMatchObject({ kind: 'unreadable' })
    expect((await readdir(other.dir)).sort()).toEqual(['.git', 'README.md'])
  })

  const noSpace = { code: 128, stderr: Buffer.from('fatal: write error: No space left on device\n') }
  const halts: readonly (readonly [string, string, Partial<Finished>])[] = [
    ['takes too long to be imported', 'bundle', { endedBy: 'time_limit', code: null }],
    ['fills the disk when it is imported', 'bundle', noSpace],
    ['is imported by a git that is killed', 'bundle', { code: null, signal: 'SIGKILL' }],
    ['takes too long to be checked', 'rev-list', { endedBy: 'time_limit', code: null }],
    [
      'is checked where an object cannot be read',
      'rev-list',
      { code: 128, stderr: Buffer.from('fatal: x\n') },
    ],
    ['fills the disk when it is checked out', 'read-tree', noSpace],
    ['is stopped', 'read-tree', { endedBy: 'aborted', code: null }],
  ]
  test.each(firstCases(halts, 3))('is not taken for unreadable when it %s', async (_, command, ends) => {
    await writeIn(workspace.dir, 'ours.txt', 'ours\n')
    const bundle = await made()
    const other = await scene.prepare({ taskId: 'on-another-runner', isToBeRestored: true })
    const git: Git = async (call) =>
      call.args[0] === command ? { ...(await testGit({ args: ['version'] })), ...ends } : testGit(call)
    const restoring = restoreWork({ git, path: testPath, workspace: other, bundle })
    await expect(restoring).rejects.toMatchObject({ name: 'GitFault' })
    const again = await scene.prepare({ taskId: 'on-another-runner', isToBeRestored: true })
    expect(await restore(bundle, again)).toMatchObject({ kind: 'restored' })
  })

  const lacks = (commit: string) => `error: Repository lacks these prerequisite commits:\nerror: ${commit} \n`
  const mirrorFaults: readonly (readonly [
    string,
    (other: Workspace, end: Finished, needs: string) => Promise<string>,
  ])[] = [
    ['is away', async ({ mirrorDir }) => mirrorDir],
    ['has no packs or objects', async ({ mirrorObjects }) => mirrorObjects],
    [
      'could not be read for a moment',
      async (_other, end, needs) => {
        const stderr = Buffer.from(lacks(needs))
        Object.assign(end, { code: 1, stderr })
        return ''
      },
    ],
    [
      'is said to lack a commit beside another error',
      async (_other, end) => {
        const stderr = Buffer.from(`error: unable to open a pack\n${lacks('a'.repeat(40))}`)
        Object.assign(end, { code: 1, stderr })
        return ''
      },
    ],
    [
      'has no base of a delta',
      async (_other, end) => {
        Object.assign(end, { code: 128, stderr: Buffer.from('fatal: pack has 1 unresolved delta\n') })
        return ''
      },
    ],
  ]
  test.each(firstCases(mirrorFaults, 3))('is not given up where the mirror %s', async (_, spoil) => {
    const needs = await scene.commit({ 'b.txt': 'b\n' })
    workspace = await scene.prepare({ taskId: 'later' })
    await writeIn(workspace.dir, 'ours.txt', 'ours\n')
    const bundle = await made()
    const other = await scene.prepare({ taskId: 'on-another-runner', isToBeRestored: true })
    let away = ''
    const git: Git = async (call) => {
      if (call.args[0] !== 'bundle') return testGit(call)
      const end = { ...(await testGit({ args: ['version'] })) }
      away = await spoil(other, end, needs)
      if (away === '') return end
      await rename(away, `${away}.away`)
      return testGit(call)
    }
    const restoring = restoreWork({ git, path: testPath, workspace: other, bundle })
    await expect(restoring).rejects.toMatchObject({ name: 'GitFault' })
    if (away !== '') await rename(`${away}.away`, away)
    const again = await scene.prepare({ taskId: 'on-another-runner', isToBeRestored: true })
    expect(await restore(bundle, again)).toMatchObject({ kind: 'restored' })
  })

  test('writes into no git directory and through no link, and runs nothing', async () => {
    const note = JSON.stringify({ version: 1, branch: workspace.branch, leftOut: [] })
    const gitDir = scene.remote
    const blob = await gitText(testGit, { gitDir, args: ['hash-object', '-w', '--stdin'], input: 'evil\n' })
    const target = await gitText(testGit, {
      gitDir,
      args: ['hash-object', '-w', '--stdin'],
      input: scene.root,
    })
    const mktree = (entries: readonly string[]) =>
      gitText(testGit, {
        gitDir,
        args: ['mktree', '-z'],
        input: entries.map((entry) => `${entry}\0`).join(''),
      })
    const folder = await mktree([`100644 blob ${blob}\tran`])
    const trees = [
      await mktree([`040000 tree ${folder}\t.git`]),
      await mktree([`040000 tree ${folder}\t..`]),
      await mktree([`100644 blob ${blob}\tgit~1`]),
      await mktree([`120000 blob ${target}\tout`, `040000 tree ${folder}\tout`]),
    ]
    const kinds: string[] = []
    for (const [n, tree] of trees.entries()) {
      const env = {
        GIT_AUTHOR_NAME: 'x',
        GIT_AUTHOR_EMAIL: 'x',
        GIT_COMMITTER_NAME: 'x',
        GIT_COMMITTER_EMAIL: 'x',
      }
      const parent = await gitText(testGit, { gitDir, args: ['rev-parse', 'main'] })
      const work = await gitText(testGit, {
        gitDir,
        env,
        args: ['commit-tree', '-p', parent, '-F', '-', tree],
        input: note,
      })
      await gitOrThrow(testGit, { gitDir, args: ['update-ref', 'refs/flightdeck/work', work] })
      const call = { gitDir, args: ['bundle', 'create', '--version=2', '-', 'refs/flightdeck/work', '^main'] }
      const { stdout } = await gitOrThrow(testGit, call)
      const other = await scene.prepare({ taskId: `hostile-${n}` })
      const before = await readdir(join(other.dir, '.git'))
      kinds.push((await restore(stdout, other)).kind)
      expect(await readdir(join(other.dir, '.git'))).toEqual(before)
      expect(await readdir(join(scene.root, 'tasks', other.taskId))).not.toContain('ran')
      expect(await readdir(scene.root)).not.toContain('ran')
    }
    // Of a link and a folder by one name, git writes one.
    expect(kinds).toEqual(['unreadable', 'unreadable', 'unreadable', 'restored'])
  })

  test('runs no filter and no hook that its files name', async () => {
    await writeIn(workspace.dir, '.gitattributes', '* filter=evil diff=evil merge=evil\n')
    await writeIn(workspace.dir, 'x.txt', 'x\n')
    const bundle = await made()
    const other = await scene.prepare({ taskId: 'on-another-runner' })
    const mark = `sh -c 'touch ${scene.root}/ran; cat'`
    // Were any of our git directories to be trusted with settings, these would run.
    for (const key of ['filter.evil.smudge', 'filter.evil.clean'])
      execFileSync('git', ['config', '--file', join(other.dir, '.git/config'), key, mark], {
        env: { PATH: testPath },
      })
    expect(await restore(bundle, other)).toMatchObject({ kind: 'restored' })
    expect(await readFile(join(other.dir, 'x.txt'), 'utf8')).toBe('x\n')
    expect(await readdir(scene.root)).not.toContain('ran')
  })
})
