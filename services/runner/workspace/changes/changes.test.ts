import { execFileSync } from 'node:child_process'
import { chmod, link, rename, rm, symlink, truncate, unlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findTestSandbox, treeGits } from '../../../../tests/runner/testSandbox.ts'
import { currentBranchOf, defaultDiffLimits, readChanges } from './changes.ts'
import type { ChangedFile } from './treeDiff.ts'
import type { Changes } from './changes.ts'
import { makeScene, testGit, testPath, writeIn } from '../../../../tests/runner/workspaceScene.ts'
import type { Scene } from '../../../../tests/runner/workspaceScene.ts'
import type { Workspace } from '../workspace.ts'
import { isLongRun } from '../../../../tests/longRun.ts'

const ways = treeGits(await findTestSandbox())
const long = Array.from({ length: 40 }, (_, n) => `line ${n}\n`).join('')

for (const [way, gitFor] of ways)
  describe.skipIf(!gitFor)(`changes read by git ${way}`, () => {
    let scene: Scene
    let workspace: Workspace
    beforeEach(async () => {
      scene = await makeScene({
        'README.md': '# Sample\n',
        'src/a.js': 'export const a = 1\n',
        'long.txt': long,
        'image.bin': Uint8Array.of(0, 1, 2, 3),
        '.gitignore': 'ignored/\n',
      })
      workspace = await scene.prepare()
    })
    afterEach(() => scene.remove())

    const read = (baseBranch = 'main', limits = defaultDiffLimits): Promise<Changes> =>
      readChanges({ git: testGit, treeGit: gitFor?.(workspace) ?? testGit, workspace, baseBranch, limits })
    const files = async (limits = defaultDiffLimits): Promise<readonly ChangedFile[]> => {
      const changes = await read('main', limits)
      if (changes.kind !== 'changes') throw new Error(changes.kind)
      return changes.files
    }
    const summary = async () => (await files()).map(({ status, fileName }) => `${status} ${fileName}`).sort()

    test('a clean tree has none', async () => {
      expect(await read()).toEqual({
        kind: 'changes',
        tree: null,
        currentBranch: workspace.branch,
        baseBranch: 'main',
        head: workspace.startCommit,
        ahead: 0,
        behind: 0,
        files: [],
        total: 0,
        truncated: false,
      })
    })

    test('artifacts are none, whatever the agent tells git about them', async () => {
      await writeIn(workspace.dir, '.gitignore', 'ignored/\n!.flightdeck\n!artifacts\n')
      await writeIn(workspace.dir, '.flightdeck/artifacts/a/shot.png', 'x')
      await writeIn(workspace.dir, '.flightdeck/notes.md', 'x')
      expect(await summary()).toEqual(['modified .gitignore', 'untracked .flightdeck/notes.md'])
      execFileSync('git', ['init', '--quiet', join(workspace.dir, '.flightdeck')])
      expect(await summary()).toEqual(['modified .gitignore', 'untracked .flightdeck/notes.md'])
      await rm(join(workspace.dir, '.flightdeck'), { recursive: true })
      await writeIn(workspace.dir, '.flightdeck/notes.md', 'x')
      await symlink('/etc', join(workspace.dir, '.flightdeck/artifacts'))
      expect(await summary()).toEqual(['modified .gitignore', 'untracked .flightdeck/notes.md'])
    })

    test('new, changed, removed and renamed files, each with its diff', async () => {
      await writeIn(workspace.dir, 'src/new.js', 'one\ntwo\n')
      await writeIn(workspace.dir, 'src/a.js', 'export const a = 2\n')
      await writeIn(workspace.dir, 'ignored/x', 'x')
      await unlink(join(workspace.dir, 'README.md'))
      await rename(join(workspace.dir, 'long.txt'), join(workspace.dir, 'moved.txt'))
      await writeIn(workspace.dir, 'image.bin', Uint8Array.of(0, 9, 9))
      const changed = await files()
      expect(changed.map((file) => ({ ...file, diff: undefined }))).toEqual([
        { fileName: 'README.md', status: 'deleted', additions: 0, deletions: 1, binary: false },
        { fileName: 'image.bin', status: 'modified', additions: 0, deletions: 0, binary: true },
        {
          fileName: 'moved.txt',
          previousName: 'long.txt',
          status: 'renamed',
          additions: 0,
          deletions: 0,
          binary: false,
        },
        { fileName: 'src/a.js', status: 'modified', additions: 1, deletions: 1, binary: false },
        { fileName: 'src/new.js', status: 'untracked', additions: 2, deletions: 0, binary: false },
      ])
      expect(changed[4]?.diff).toMatch(
        /^diff --git a\/src\/new.js b\/src\/new.js\nnew file mode 100644\nindex 0{40}\.\.[0-9a-f]{40}\n--- \/dev\/null\n\+\+\+ b\/src\/new.js\n@@ -0,0 \+1,2 @@\n\+one\n\+two\n$/,
      )
      expect(changed[1]?.diff).toContain('Binary files a/image.bin and b/image.bin differ\n')
    })

    // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
    describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
      test('a change in the second in which the index was written is seen', async () => {
        const path = join(workspace.dir, 'src/a.js')
        for (let n = 2; n < 9; n++) {
          await writeFile(path, `export const a = ${n}\n`)
          expect((await files())[0]?.diff).toContain(`+export const a = ${n}\n`)
        }
        await writeFile(path, 'export const a = 1\n')
        expect(await files()).toEqual([])
        await utimes(path, 0, 0)
        expect(await files()).toEqual([])
      })
    })

    test('names with line ends, quotes, other scripts and bytes that are no text', async () => {
      const names = [
        'a\nb',
        'say "hi"',
        'tab\there',
        'rtl \u202Egpj.exe',
        'ünï',
        '-rf',
        ':(top)x',
        'back\\slash',
        ' ',
      ]
      for (const name of names) await writeIn(workspace.dir, name, 'x\n')
      await writeFile(Buffer.concat([Buffer.from(`${workspace.dir}/bytes-`), Buffer.of(0xff)]), 'x\n')
      const changed = await files()
      expect(changed.map(({ fileName }) => fileName).sort()).toEqual([...names, 'bytes-\ufffd'].sort())
      for (const { diff } of changed) expect(diff).toContain('+x\n')
    })

    test('a link is shown as a link, and not followed', async () => {
      await symlink('/etc/passwd', join(workspace.dir, 'link'))
      await rm(join(workspace.dir, 'src'), { recursive: true })
      await symlink('/etc', join(workspace.dir, 'src'))
      const changed = await files()
      expect(changed.map(({ status, fileName }) => `${status} ${fileName}`)).toEqual([
        'untracked link',
        'untracked src',
        'deleted src/a.js',
      ])
      expect(changed[0]?.diff).toContain('+/etc/passwd\n\\ No newline')
      expect(JSON.stringify(changed)).not.toContain('root:')
    })

    test('a file that becomes a link, a folder or a pipe', async () => {
      await unlink(join(workspace.dir, 'README.md'))
      await symlink('elsewhere', join(workspace.dir, 'README.md'))
      await unlink(join(workspace.dir, 'long.txt'))
      await writeIn(workspace.dir, 'long.txt/inside', 'x\n')
      await unlink(join(workspace.dir, 'src/a.js'))
      execFileSync('mkfifo', [join(workspace.dir, 'src/a.js'), join(workspace.dir, 'pipe')])
      expect(await summary()).toEqual([
        'deleted long.txt',
        'deleted src/a.js',
        'modified README.md',
        'untracked long.txt/inside',
      ])
      expect((await files()).find(({ fileName }) => fileName === 'README.md')?.diff).toContain('+elsewhere')
    })

    test('a pipe where git looks for rules ends at the time limit', async () => {
      await unlink(join(workspace.dir, '.gitignore'))
      execFileSync('mkfifo', [join(workspace.dir, '.gitignore')])
      const treeGit = gitFor?.(workspace) ?? testGit
      const reading = readChanges({ git: testGit, treeGit, workspace, baseBranch: 'main', timeoutMs: 500 })
      await expect(reading).rejects.toThrow('it took too long')
    })

    test('repository F5: the files of a repository that was begun in the tree are changes like others', async () => {
      const init = (path: string) =>
        execFileSync('git', ['init', '-q', join(workspace.dir, path)], { env: { PATH: testPath } })
      init('tools/gen')
      await writeIn(workspace.dir, 'tools/gen/gen.py', 'print(1)\n')
      await writeIn(workspace.dir, 'tools/gen/.gitignore', 'skipped\n')
      await writeIn(workspace.dir, 'tools/gen/skipped', 'x\n')
      init('tools/gen/empty')
      const changed = await files()
      expect(changed.map(({ fileName, leftOut }) => [fileName, leftOut === true])).toEqual([
        ['tools/gen/.gitignore', false],
        ['tools/gen/gen.py', false],
        ['tools/gen/empty/', true],
      ])
      expect(changed[2]?.diff).toMatch(/Without tools\/gen\/empty\/\.git they would be\./)
    })

    test('repository F5: all changed files count, also those that are not listed', async () => {
      for (let n = 0; n < 5; n += 1) await writeIn(workspace.dir, `many/${n}.txt`, 'x\n')
      const limits = { files: 2, fileBytes: 1_000, totalBytes: 10_000 }
      for (const from of ['tree', 'folder'] as const) {
        const treeGit = gitFor?.(workspace) ?? testGit
        const read = await readChanges({ git: testGit, treeGit, workspace, baseBranch: 'main', limits, from })
        expect(read).toMatchObject({ kind: 'changes', truncated: true, ...(from === 'tree' && { total: 5 }) })
        expect(read.kind === 'changes' && [read.files.length, read.total > 2]).toEqual([2, true])
      }
    })

    test('a repository in the tree that came from elsewhere is told of and not entered', async () => {
      execFileSync('git', ['init', '-q', join(workspace.dir, 'nested')], { env: { PATH: testPath } })
      execFileSync('git', [
        '-C',
        join(workspace.dir, 'nested'),
        'remote',
        'add',
        'origin',
        'https://x.example/a',
      ])
      await writeIn(workspace.dir, 'nested/secret.txt', 'x\n')
      const changed = await files()
      expect(changed).toHaveLength(1)
      expect(changed[0]).toMatchObject({ fileName: 'nested/', status: 'untracked', binary: true })
      expect(changed[0]?.diff).toMatch(/^\\ This is a separate repository/)
    })

    test("the agent's own commits tell only which files git tracks, its branches only their names; its files count", async () => {
      const env = {
        PATH: testPath,
        HOME: '/nonexistent',
        GIT_ALTERNATE_OBJECT_DIRECTORIES: workspace.mirrorObjects,
      }
      const agent = (...args: string[]): Buffer =>
        execFileSync('git', ['-c', 'safe.directory=*', '-C', workspace.dir, ...args], { env, stdio: 'pipe' })
      await writeIn(workspace.dir, 'new.txt', 'new\n')
      agent('checkout', '-q', '-b', 'other')
      agent('add', '-A')
      agent('commit', '-q', '-m', 'Mine')
      expect(await read()).toMatchObject({
        currentBranch: 'other',
        head: workspace.startCommit,
        ahead: 0,
      })
      expect(await summary()).toEqual(['added new.txt'])
      await rm(join(workspace.dir, '.git'), { recursive: true })
      expect(await summary()).toEqual(['untracked new.txt'])
    })

    // Holds contract 3.11b.
    test('a new file is added once the agent staged or committed it, and untracked before', async () => {
      const agent = (...args: readonly string[]) =>
        execFileSync('git', ['-c', 'safe.directory=*', '-C', workspace.dir, ...args], {
          env: { PATH: testPath, GIT_ALTERNATE_OBJECT_DIRECTORIES: workspace.mirrorObjects },
          stdio: 'pipe',
        })
      for (const name of ['committed', 'staged', 'let go', 'untracked'])
        await writeIn(workspace.dir, `${name}.txt`, 'new\n')
      await writeIn(workspace.dir, 'large.bin', '')
      await truncate(join(workspace.dir, 'large.bin'), 10_000_001)
      agent('add', 'committed.txt', 'let go.txt', 'large.bin')
      agent('commit', '--quiet', '--message', 'Mine')
      agent('add', 'staged.txt')
      agent('rm', '--quiet', '--cached', 'let go.txt')
      const expected = [
        'added committed.txt',
        'added large.bin',
        'added staged.txt',
        'untracked let go.txt',
        'untracked untracked.txt',
      ]
      expect(await summary()).toEqual(expected)
      await writeIn(workspace.dir, '.git/index', 'DIRC is what it begins with')
      expect(await summary()).toEqual(expected.map((line) => line.replace('added', 'untracked')).sort())
      await rm(join(workspace.dir, '.git/index'))
      execFileSync('mkfifo', [join(workspace.dir, '.git/index')])
      expect(await summary()).toContain('untracked staged.txt')
    })

    test('what others did to the base since is behind, and no change of ours', async () => {
      await writeIn(workspace.dir, 'README.md', '# Ours\n')
      await scene.commit({ 'src/a.js': 'export const a = 3\n' })
      await scene.commit({ 'src/b.js': 'b\n' })
      await scene.commit({ 'x.txt': 'x\n' }, 'other')
      await scene.refresh()
      expect(await read()).toMatchObject({ ahead: 0, behind: 2 })
      expect(await summary()).toEqual(['modified README.md'])
      expect(await read('missing')).toEqual({ kind: 'base_not_found', baseBranch: 'missing' })
      expect(await read('--output=x')).toEqual({ kind: 'base_not_found', baseBranch: '--output=x' })
      // `other` shares no commit with ours: all of the tree is new to it.
      expect(await read('other')).toMatchObject({ ahead: 1, behind: 1 })
    })

    test('line ends are compared as the repository wants them', async () => {
      await writeIn(workspace.dir, '.gitattributes', '*.txt text eol=crlf\n')
      await writeIn(workspace.dir, 'long.txt', long.replaceAll('\n', '\r\n'))
      await writeIn(workspace.dir, 'README.md', '# Sample\r\n')
      expect(await summary()).toEqual(['modified README.md', 'untracked .gitattributes'])
    })

    // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
    describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
      test('a mode that changed, an empty file, a file without a last line end', async () => {
        await chmod(join(workspace.dir, 'README.md'), 0o755)
        await writeIn(workspace.dir, 'empty', '')
        await writeIn(workspace.dir, 'open', 'end')
        const [readme, empty, open] = await files()
        expect(readme?.diff).toContain('old mode 100644\nnew mode 100755\n')
        expect(empty).toMatchObject({ fileName: 'empty', status: 'untracked', additions: 0 })
        expect(open?.diff).toContain('+end\n\\ No newline at end of file\n')
      })
    })

    test('long diffs are cut, and say so', async () => {
      await writeIn(workspace.dir, 'big.txt', 'x'.repeat(99).concat('\n').repeat(5_000))
      await writeIn(workspace.dir, 'line.txt', 'x'.repeat(2_000_000))
      await writeIn(workspace.dir, 'small.txt', 'small\n')
      const [big, line, small] = await files()
      expect(big).toMatchObject({ additions: 5_000, binary: false })
      expect(big?.diff.length).toBeLessThan(201_000)
      expect(big?.diff).toMatch(/\n\\ The diff is longer than 200 KB and was cut here.\n$/)
      expect(line?.diff).toMatch(/\+\+\+ b\/line.txt\n@@ .* @@\n\\ The diff is longer/)
      expect(small?.diff).toContain('+small')
      expect(await read()).toMatchObject({ truncated: true })
    })

    test('no more files, and no more text, than was asked for', async () => {
      for (let n = 0; n < 9; n++) await writeIn(workspace.dir, `new-${n}`, long)
      const few = await read('main', { ...defaultDiffLimits, files: 4 })
      expect(few).toMatchObject({ truncated: true })
      expect(few.kind === 'changes' && few.files).toHaveLength(4)
      const short = await files({ ...defaultDiffLimits, totalBytes: 1_000 })
      expect(short).toHaveLength(9)
      expect(short[8]).toMatchObject({
        additions: 40,
        diff: '\\ There are too many changes to show this diff.\n',
      })
    })

    test('a file that is too large is not read', async () => {
      await writeIn(workspace.dir, 'huge', '')
      await truncate(join(workspace.dir, 'huge'), 50_000_000_000)
      await truncate(join(workspace.dir, 'README.md'), 50_000_000_000)
      const changed = await files()
      expect(changed).toEqual([
        expect.objectContaining({
          fileName: 'README.md',
          status: 'modified',
          diff: expect.stringContaining('too large'),
        }),
        expect.objectContaining({
          fileName: 'huge',
          status: 'untracked',
          diff: expect.stringContaining('too large'),
        }),
      ])
    })

    test('on the branch that git stands on in the tree, or the short id of a commit', async () => {
      const branch = async () => {
        const changes = await read()
        return changes.kind === 'changes' ? changes.currentBranch : changes.kind
      }
      const git = (...args: readonly string[]) =>
        execFileSync('git', ['-c', 'safe.directory=*', '-C', workspace.dir, ...args], {
          env: { PATH: testPath, GIT_ALTERNATE_OBJECT_DIRECTORIES: workspace.mirrorObjects },
        })
      expect(await branch()).toBe(workspace.branch)
      git('checkout', '--quiet', '-b', 'side/tracked')
      expect(await branch()).toBe('side/tracked')
      git('checkout', '--quiet', '--detach')
      expect(await branch()).toBe(workspace.startCommit?.slice(0, 7))
    })

    // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
    describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
      test('on the branch it was made on where HEAD is none as git writes it', async () => {
        const head = join(workspace.dir, '.git', 'HEAD')
        const elsewhere = join(scene.root, 'elsewhere')
        await writeFile(elsewhere, 'ref: refs/heads/elsewhere\n')
        const traps: readonly (readonly [string, () => Promise<unknown>])[] = [
          ['a link', () => symlink(elsewhere, head)],
          ['a pipe', async () => execFileSync('mkfifo', [head])],
          ['another name of a file', () => link(elsewhere, head)],
          ['a long file', () => writeFile(head, `ref: refs/heads/${'a'.repeat(5_000)}\n`)],
          ['no name of a branch', () => writeFile(head, 'ref: refs/heads/a b\n')],
          ['something else', () => writeFile(head, 'root:x:0:0\n')],
          ['not there', async () => undefined],
        ]
        const told: (readonly [string, string])[] = []
        for (const [name, set] of traps) {
          await rm(head, { force: true })
          await set()
          told.push([name, await currentBranchOf(workspace)])
        }
        expect(told).toEqual(traps.map(([name]) => [name, workspace.branch]))
        await rename(join(workspace.dir, '.git'), join(scene.root, 'moved'))
        await writeFile(join(scene.root, 'moved', 'HEAD'), 'ref: refs/heads/elsewhere\n')
        await symlink(join(scene.root, 'moved'), join(workspace.dir, '.git'))
        // Its folder is a link.
        expect(await currentBranchOf(workspace)).toBe(workspace.branch)
      })
    })

    test('of an empty repository, everything is new', async () => {
      const empty = await makeScene()
      workspace = await empty.prepare()
      await writeIn(workspace.dir, 'first.txt', 'first\n')
      expect(await read()).toMatchObject({
        currentBranch: 'main',
        head: null,
        ahead: 0,
        behind: 0,
        truncated: false,
      })
      expect(await summary()).toEqual(['untracked first.txt'])
      await empty.remove()
    })

    // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
    describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
      test('while the tree is being written', async () => {
        const stop = new AbortController()
        const write = async (): Promise<void> => {
          for (let n = 0; !stop.signal.aborted; n++) {
            await writeIn(workspace.dir, `busy/${n % 40}`, `${n}\n`)
            await rm(join(workspace.dir, `busy/${(n + 20) % 40}`), { force: true })
            await delay(5)
          }
        }
        const writing = write()
        try {
          for (let n = 0; n < 10; n++) expect((await read()).kind).toBe('changes')
        } finally {
          stop.abort()
          await writing
        }
      })

      test('by several readers at a time', async () => {
        await writeIn(workspace.dir, 'new.txt', 'new\n')
        const all = await Promise.all([1, 2, 3, 4].map(() => summary()))
        expect(all).toEqual([1, 2, 3, 4].map(() => ['untracked new.txt']))
      })
    })
  })
