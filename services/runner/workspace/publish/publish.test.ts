import { execFileSync, spawnSync } from 'node:child_process'
import { chmod, readFile, rm, symlink, truncate, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findTestSandbox, treeGits } from '../../../../tests/runner/testSandbox.ts'
import { readChanges } from '../changes/changes.ts'
import { commitOf, gitText } from '../git/git.ts'
import { openCommitSigner } from './commitIdentity.ts'
import { commitAndPush } from './publish.ts'
import type { PublishRequest } from './publish.ts'
import { startGitServer } from '../../../../tests/runner/gitServer.ts'
import type { TestGitServer } from '../../../../tests/runner/gitServer.ts'
import { makeScene, testGit, testPath, writeIn } from '../../../../tests/runner/workspaceScene.ts'
import type { Scene } from '../../../../tests/runner/workspaceScene.ts'
import type { Workspace } from '../workspace.ts'
import { isLongRun } from '../../../../tests/longRun.ts'

const ways = treeGits(await findTestSandbox())
const authorization = `basic ${Buffer.from('x-access-token:ghu_secret').toString('base64')}`
const author = { name: 'Grace Hopper', email: 'grace@example.com' }

/** A signer with a key of its own, and the file by which git knows it. */
async function signerIn(root: string) {
  const key = join(root, 'new-key')
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key])
  const bot = { name: 'Flightdeck', email: 'bot@example.com' }
  const signer = await openCommitSigner(
    { root, path: testPath },
    { ...bot, key: await readFile(key, 'utf8') },
  )
  const allowed = join(root, 'allowed-signers')
  await writeFile(allowed, `${bot.email} ${await readFile(`${key}.pub`, 'utf8')}`)
  return { signer, allowed }
}

for (const [way, gitFor] of ways)
  describe.skipIf(!gitFor)(`work published by git ${way}`, () => {
    let scene: Scene
    let server: TestGitServer
    let workspace: Workspace
    beforeEach(async () => {
      scene = await makeScene({
        'README.md': '# Sample\n',
        'src/a.js': 'a\n',
        LICENSE: 'MIT\n',
        '.gitignore': 'ignored/\n',
      })
      server = await startGitServer(scene.root, authorization)
      workspace = await scene.prepare()
    })
    afterEach(async () => {
      await server.stop()
      await scene.remove()
    })

    const publish = (asked: Partial<PublishRequest> = {}) =>
      commitAndPush({
        git: testGit,
        treeGit: gitFor?.(workspace) ?? testGit,
        workspace,
        message: 'Add a greeting',
        author,
        trailers: ['Flightdeck-Turn: 2', 'Co-Authored-By: claude <noreply@anthropic.com>'],
        secrets: [],
        url: `${server.url}/remote.git`,
        authorization,
        ...asked,
      })
    const atHost = (...args: string[]): Promise<string> => gitText(testGit, { gitDir: scene.remote, args })

    const onBranch = () => commitOf(testGit, scene.remote, `refs/heads/${workspace.branch}`)

    test.each([
      ['is refused with 502 where it asks', /GET .*receive-pack/, { status: 502 }],
      ['is refused with 502 with what it brings', /POST .*receive-pack/, { status: 502 }],
      ['is cut before it is taken', /POST .*receive-pack/, 'cut before'],
      ['is cut after it was taken', /POST .*receive-pack/, 'cut after'],
    ] as const)('github 3.1: a push that once %s arrives once', async (_, of, how) => {
      await writeIn(workspace.dir, 'b.js', 'b\n')
      server.meet(of, how)
      expect(await publish()).toMatchObject({ kind: 'published', headSha: await onBranch() })
      expect(await atHost('rev-list', '--count', `main..${workspace.branch}`)).toBe('1')
      expect(await publish()).toMatchObject({ kind: 'published', pushed: false })
    })

    test('github 3.5: a push that nobody answers is looked up before anything is said of it', async () => {
      await writeIn(workspace.dir, 'b.js', 'b\n')
      server.meet(/POST .*receive-pack/, 'silent after')
      expect(await publish({ pushTimeoutMs: 4_000 })).toMatchObject({
        kind: 'published',
        headSha: await onBranch(),
      })
    })

    test('github 3.5: where the host cannot be asked then, it is said that nothing is known', async () => {
      await writeIn(workspace.dir, 'b.js', 'b\n')
      server.meet(/./, ...Array.from({ length: 20 }, () => ({ status: 502 })))
      expect(await publish()).toMatchObject({
        kind: 'unreachable',
        message: expect.stringMatching(/it is not known whether the push arrived: .*The work is kept\./),
      })
    })

    test('github 3.3: a token that is not taken is renewed once, and a sentence names it where that does not help', async () => {
      await writeIn(workspace.dir, 'b.js', 'b\n')
      const stale = { authorization: 'basic c3RhbGU=', accessOf: 'installation' as const }
      expect(await publish({ ...stale, renewed: async () => 'basic c3RhbGUgdG9v' })).toEqual({
        kind: 'refused',
        message: "Nothing was pushed: the code host did not accept the access of Flightdeck's App.",
      })
      expect(await publish({ ...stale, renewed: async () => authorization })).toMatchObject({
        kind: 'published',
        headSha: await onBranch(),
      })
    })

    test('a push that was refused is not tried again once its task was deleted', async () => {
      await writeIn(workspace.dir, 'b.js', 'b\n')
      const deletion = new AbortController()
      const published = await publish({
        authorization: 'basic c3RhbGU=',
        signal: deletion.signal,
        pushSignal: new AbortController().signal,
        renewed: async () => {
          deletion.abort()
          return authorization
        },
      })
      expect(published.kind).not.toBe('published')
      expect(server.requests.filter((request) => /POST .*receive-pack/.test(request))).toEqual([])
    })

    // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
    describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
      test('github 3.2: a push that is told to wait is not asked for again', async () => {
        await writeIn(workspace.dir, 'b.js', 'b\n')
        server.meet(/receive-pack/, { status: 429, headers: { 'retry-after': '60' } })
        expect(await publish()).toMatchObject({ kind: 'limited' })
        expect(server.requests).toHaveLength(1)
      })
    })

    test('is one commit by the person, on the branch, with all that changed', async () => {
      await writeIn(workspace.dir, 'new/b.js', 'b\n')
      await writeIn(workspace.dir, 'say "hi"\n', 'hi\n')
      await writeIn(workspace.dir, 'README.md', '# Changed\n')
      await writeIn(workspace.dir, 'ignored/x', 'x')
      await writeIn(workspace.dir, 'run.sh', '#!/bin/sh\n')
      await chmod(join(workspace.dir, 'run.sh'), 0o755)
      await symlink('README.md', join(workspace.dir, 'link'))
      await unlink(join(workspace.dir, 'src/a.js'))
      const published = await publish()
      const headSha = await commitOf(testGit, scene.remote, `refs/heads/${workspace.branch}`)
      expect(published).toEqual({ kind: 'published', headSha, pushed: true, leftOut: [] })
      expect(await atHost('log', '--format=%an <%ae>%n%B', 'main..' + workspace.branch)).toBe(
        'Grace Hopper <grace@example.com>\nAdd a greeting\n\nFlightdeck-Turn: 2\nCo-Authored-By: claude <noreply@anthropic.com>',
      )
      expect(
        (await atHost('ls-tree', '-r', '-z', '--format=%(objectmode) %(path)', workspace.branch)).split('\0'),
      ).toEqual([
        '100644 .gitignore',
        '100644 LICENSE',
        '100644 README.md',
        '120000 link',
        '100644 new/b.js',
        '100755 run.sh',
        '100644 "say \\"hi\\"\\n"',
        '',
      ])
      const changes = await readChanges({ git: testGit, treeGit: testGit, workspace, baseBranch: 'main' })
      expect(changes).toMatchObject({ head: headSha, ahead: 1, behind: 0 })
      expect(
        changes.kind === 'changes' && changes.files.map(({ status, fileName }) => `${status} ${fileName}`),
      ).toEqual([
        'modified README.md',
        'added link',
        'added new/b.js',
        'added run.sh',
        'added say "hi"\n',
        'deleted src/a.js',
      ])
    })

    test('is signed and committed by this server where it has a key, and the person stays the author', async () => {
      await writeIn(workspace.dir, 'a.txt', 'a\n')
      const { signer, allowed } = await signerIn(scene.root)
      // What was committed as somebody else, and was refused, is made anew.
      const other = signer && { ...signer, name: 'Other', email: 'other@example.com' }
      const refused = await publish({ signer: other, url: `${server.url}/none.git` })
      expect(refused).toMatchObject({ kind: 'refused' })
      expect(await publish({ signer })).toMatchObject({ kind: 'published', pushed: true })
      const verified = (commit: string) =>
        gitText(testGit, {
          gitDir: scene.remote,
          args: ['-c', `gpg.ssh.allowedSignersFile=${allowed}`, 'log', '-1', '--format=%G? %an, %cn', commit],
        })
      expect(await verified(workspace.branch)).toBe('G Grace Hopper, Flightdeck')
      await scene.commit({ 'theirs.txt': 'theirs\n' }, workspace.branch)
      await writeIn(workspace.dir, 'a.txt', 'b\n')
      const applyPatch = async () => null
      expect(await publish({ signer, applyPatch })).toMatchObject({ kind: 'published', pushed: true })
      expect(await verified(workspace.branch)).toBe('G Grace Hopper, Flightdeck')
      expect(await verified(`${workspace.branch}~1`)).toMatch(/^N /)
    })

    describe('with a secret in it', () => {
      const value = 'swordfish/of+the=project'
      const secrets = [
        { name: "the project's secret TOKEN", value },
        { name: "the project's secret KEY", value: 'first line of a key\n{\nsecond line of a key\n' },
        { name: "the project's secret SHORT", value: 'hi' },
      ]
      const refusedFor = (named: RegExp) => ({
        kind: 'not_committable',
        message: expect.stringMatching(named),
      })

      test.each([
        [
          'as it is',
          `token=${value}\n`,
          /^config\/a b\.env holds the project's secret TOKEN, .*Nothing was committed/,
        ],
        ['among bytes that are no text', `\0\u0001${value}\0`, /secret TOKEN/],
        ['for a basic login', Buffer.from(`user:${value}`).toString('base64'), /secret TOKEN/],
        ['in an address', `https://x:${encodeURIComponent(value)}@host/`, /secret TOKEN/],
        ['far into a long line', `${'x'.repeat(300_000)}${value}${'y'.repeat(300_000)}`, /secret TOKEN/],
        ['by one of its lines', '    second line of a key', /secret KEY/],
      ])('%s is not committed', async (_, text, named) => {
        await writeIn(workspace.dir, 'config/a b.env', text)
        expect(await publish({ secrets })).toEqual(refusedFor(named))
        expect(await commitOf(testGit, scene.remote, `refs/heads/${workspace.branch}`)).toBe(null)
        await unlink(join(workspace.dir, 'config/a b.env'))
        await writeIn(workspace.dir, 'README.md', `# ${value.slice(0, -1)}, hi\n`)
        expect(await publish({ secrets })).toMatchObject({ kind: 'published', pushed: true })
      })

      test.each([['an empty'], ['a full']])(
        'in the path of %s file is not committed, and not repeated',
        async (content) => {
          const of = (name: string) =>
            writeIn(workspace.dir, name, content === 'an empty' ? '' : `${content}\n`)
          await of(`config/${value}`)
          const named =
            /^The name of a file or folder holds the project's secret TOKEN, .*Nothing was committed/
          const refused = await publish({ secrets })
          expect(refused).toEqual(refusedFor(named))
          expect(JSON.stringify(refused)).not.toContain(value)
          expect(await commitOf(testGit, scene.remote, `refs/heads/${workspace.branch}`)).toBe(null)
          // What the repository has already is no secret.
          await publish()
          await of(`config/${value}.more`)
          expect(await publish({ secrets })).toMatchObject({ kind: 'published', pushed: true })
        },
      )

      test('is found wherever the stream of the patch is cut', async () => {
        const lines = Array.from({ length: 4_000 }, (_, at) => `${'z'.repeat(at % 97)}\n`)
        await writeIn(workspace.dir, 'many.txt', lines.join(''))
        expect(await publish({ secrets })).toMatchObject({ kind: 'published' })
        for (const at of [0, 1_361, 3_999]) {
          await writeIn(workspace.dir, 'many.txt', lines.with(at, `+++ b/${value}\n`).join(''))
          expect(await publish({ secrets })).toEqual(refusedFor(/^many\.txt holds/))
        }
      })

      test('is committed where it is none, as the repository has it already', async () => {
        await writeIn(workspace.dir, 'old.env', `${value}\n`)
        await publish()
        await writeIn(workspace.dir, 'new.env', `again ${value}\n`)
        expect(await publish({ secrets })).toMatchObject({ kind: 'published', pushed: true })
      })

      test('can be taken away', async () => {
        await writeIn(workspace.dir, 'old.env', `a ${value}\n`)
        await publish()
        await writeIn(workspace.dir, 'old.env', 'a\n')
        expect(await publish({ secrets })).toMatchObject({ kind: 'published', pushed: true })
      })
    })

    // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
    describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
      test('a second time only when there is something new', async () => {
        expect(await publish()).toEqual({ kind: 'nothing_to_publish', leftOut: [] })
        await writeIn(workspace.dir, 'b.js', 'b\n')
        const first = await publish()
        expect(await publish()).toEqual({ ...first, pushed: false })
        await writeIn(workspace.dir, 'b.js', 'c\n')
        expect(await publish({ message: 'Once more' })).toMatchObject({ kind: 'published', pushed: true })
        expect(await atHost('log', '--format=%s', `main..${workspace.branch}`)).toBe(
          'Once more\nAdd a greeting',
        )
      })
    })

    test('what was committed and not pushed is pushed the next time', async () => {
      await writeIn(workspace.dir, 'b.js', 'b\n')
      expect(await publish({ url: 'http://127.0.0.1:1/remote.git' })).toMatchObject({ kind: 'unreachable' })
      expect(await publish()).toMatchObject({ kind: 'published', pushed: true })
    })

    test('a branch that moved is left as it is, and told of', async () => {
      await writeIn(workspace.dir, 'b.js', 'b\n')
      await publish()
      const remoteSha = await scene.commit({ 'other.txt': 'theirs\n' }, workspace.branch)
      await writeIn(workspace.dir, 'b.js', 'c\n')
      const result = await publish()
      expect(result).toMatchObject({ kind: 'branch_moved', remoteSha })
      expect(await commitOf(testGit, scene.remote, `refs/heads/${workspace.branch}`)).toBe(remoteSha)
      expect(await commitOf(testGit, workspace.privateGitDir, remoteSha)).toBe(remoteSha)
    })

    describe('on a branch that moved', () => {
      /** Applies a patch to the tree, as the sandbox would. */
      const applyPatch = async (patch: Buffer): Promise<string | null> => {
        const env = { PATH: testPath, GIT_DIR: '/nonexistent' }
        const applied = spawnSync('git', ['apply', '--whitespace=nowarn', '-'], {
          cwd: workspace.dir,
          input: patch,
          env,
        })
        return applied.status === 0 ? null : applied.stderr.toString()
      }
      const inTree = (path: string) => readFile(join(workspace.dir, path), 'utf8')
      const changes = () => readChanges({ git: testGit, treeGit: testGit, workspace, baseBranch: 'main' })
      beforeEach(async () => {
        await writeIn(workspace.dir, 'b.js', 'b\n')
        await publish()
      })

      test('comes on top of what others pushed, which comes into the tree', async () => {
        const theirs = await scene.commit(
          { 'other.txt': 'theirs\n', 'bytes.bin': Uint8Array.of(0, 1, 255), LICENSE: null },
          workspace.branch,
        )
        await writeIn(workspace.dir, 'b.js', 'c\n')
        await writeIn(workspace.dir, 'ignored/x', 'x')
        const published = await publish({ message: 'Once more', applyPatch })
        const headSha = await commitOf(testGit, scene.remote, `refs/heads/${workspace.branch}`)
        expect(published).toEqual({ kind: 'published', headSha, pushed: true, leftOut: [] })
        expect(await atHost('log', '--format=%s by %an', `main..${workspace.branch}`)).toBe(
          'Once more by Grace Hopper\nA change by Ada Lovelace\nAdd a greeting by Grace Hopper',
        )
        expect(await atHost('rev-parse', `${workspace.branch}^`)).toBe(theirs)
        expect([await inTree('other.txt'), await inTree('b.js')]).toEqual(['theirs\n', 'c\n'])
        expect(await readFile(join(workspace.dir, 'bytes.bin'))).toEqual(Buffer.of(0, 1, 255))
        await expect(inTree('LICENSE')).rejects.toThrow(/ENOENT/)
        expect(await changes()).toMatchObject({ head: headSha, ahead: 3, behind: 0 })
        expect(await publish({ applyPatch })).toMatchObject({ kind: 'published', pushed: false })
      })

      test('is left as it is where both changed the same lines, and the files are named', async () => {
        const theirs = await scene.commit({ 'b.js': 'theirs\n', 'src/a.js': 'theirs\n' }, workspace.branch)
        await writeIn(workspace.dir, 'b.js', 'c\n')
        await writeIn(workspace.dir, 'src/a.js', 'ours\n')
        const result = await publish({ applyPatch })
        expect(result).toMatchObject({
          kind: 'conflict',
          files: ['b.js', 'src/a.js'],
          message: expect.stringContaining('b.js, src/a.js. Nothing was changed.'),
        })
        expect(await commitOf(testGit, scene.remote, `refs/heads/${workspace.branch}`)).toBe(theirs)
        expect([await inTree('b.js'), await inTree('src/a.js')]).toEqual(['c\n', 'ours\n'])
        // What is as it is there is no conflict any more.
        await writeIn(workspace.dir, 'b.js', 'theirs\n')
        await writeIn(workspace.dir, 'src/a.js', 'theirs\n')
        expect(await publish({ applyPatch })).toMatchObject({ kind: 'published', headSha: theirs })
      })

      // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
      describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
        test('is told of where the tree cannot take what others pushed', async () => {
          await scene.commit({ 'ignored/x': 'theirs\n' }, workspace.branch)
          await writeIn(workspace.dir, 'ignored/x', 'ours\n')
          await writeIn(workspace.dir, 'b.js', 'c\n')
          const result = await publish({ applyPatch })
          expect(result).toMatchObject({
            kind: 'branch_moved',
            message: expect.stringContaining('ignored/x: already exists'),
          })
          expect(await inTree('ignored/x')).toBe('ours\n')
        })

        test('takes up nothing that others have pushed already', async () => {
          await scene.commit({ 'b.js': 'c\n', 'other.txt': 'theirs\n' }, workspace.branch)
          await writeIn(workspace.dir, 'b.js', 'c\n')
          const theirs = await commitOf(testGit, scene.remote, `refs/heads/${workspace.branch}`)
          expect(await publish({ applyPatch })).toMatchObject({
            kind: 'published',
            headSha: theirs,
            pushed: false,
          })
          expect(await inTree('other.txt')).toBe('theirs\n')
          expect(await changes()).toMatchObject({ head: theirs })
        })

        test('goes on where it was cut short after the tree was changed', async () => {
          await scene.commit({ 'other.txt': 'theirs\n' }, workspace.branch)
          await writeIn(workspace.dir, 'b.js', 'c\n')
          const cut = publish({
            applyPatch: async (patch) => {
              await applyPatch(patch)
              throw new Error('killed')
            },
          })
          await expect(cut).rejects.toThrow('killed')
          expect(await publish({ applyPatch })).toMatchObject({ kind: 'published', pushed: true })
          expect(await atHost('show', `${workspace.branch}:other.txt`, `${workspace.branch}:b.js`)).toBe(
            'theirs\nc',
          )
        })
      })
    })

    test('who is not let in is told so, without the secret', async () => {
      await writeIn(workspace.dir, 'b.js', 'b\n')
      const result = await publish({ authorization: 'basic d3Jvbmc=' })
      expect(result).toMatchObject({ kind: 'refused', message: expect.stringContaining('your access') })
      expect(JSON.stringify(result)).not.toContain('d3Jvbmc=')
    })

    test('a push that the host turns down is told with its reason', async () => {
      await writeIn(
        join(scene.remote, 'hooks'),
        'pre-receive',
        '#!/bin/sh\necho Only on Mondays >&2\nexit 1\n',
      )
      await chmod(join(scene.remote, 'hooks/pre-receive'), 0o755)
      await writeIn(workspace.dir, 'b.js', 'b\n')
      expect(await publish()).toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('pre-receive'),
      })
    })

    test('a host that does not answer ends at the time limit', async () => {
      await writeIn(workspace.dir, 'b.js', 'b\n')
      server.hang()
      const result = await publish({ pushTimeoutMs: 300 })
      expect(result).toEqual({
        kind: 'unreachable',
        message: expect.stringMatching(/not known whether the push arrived: it took too long\./),
      })
    })

    test('the header follows no redirect and is in no file', async () => {
      const other = await startGitServer(scene.root)
      await writeIn(workspace.dir, 'b.js', 'b\n')
      await publish()
      server.redirectTo(other.url)
      await writeIn(workspace.dir, 'b.js', 'c\n')
      expect((await publish()).kind).toBe('unreachable')
      expect(other.authorizations).toEqual([])
      await other.stop()
      const found = spawnSync('grep', ['-rlF', authorization.slice('basic '.length), scene.root], {
        encoding: 'utf8',
      })
      expect(found).toMatchObject({ status: 1, stdout: '' })
    })

    test('an empty repository gets its first branch', async () => {
      execFileSync('git', ['init', '-q', '--bare', join(scene.root, 'empty.git')], {
        env: { PATH: testPath },
      })
      const empty = await makeScene()
      workspace = await empty.prepare()
      expect(await publish({ url: `${server.url}/empty.git` })).toEqual({
        kind: 'nothing_to_publish',
        leftOut: [],
      })
      await writeIn(workspace.dir, 'first.txt', 'first\n')
      expect(await publish({ url: `${server.url}/empty.git` })).toMatchObject({
        kind: 'published',
        pushed: true,
      })
      const gitDir = join(scene.root, 'empty.git')
      expect(await gitText(testGit, { gitDir, args: ['ls-tree', '--name-only', 'main'] })).toBe('first.txt')
      await empty.remove()
    })

    test('repository F5: the files of a repository that was begun in the tree are published, and no link to it', async () => {
      const nested = join(workspace.dir, 'nested')
      execFileSync('git', ['init', '-q', nested], { env: { PATH: testPath } })
      await writeIn(workspace.dir, 'nested/x', 'x\n')
      const by = ['-c', 'user.name=x', '-c', 'user.email=x@example.com']
      execFileSync('git', ['-C', nested, 'add', '-A'], { env: { PATH: testPath } })
      execFileSync('git', ['-C', nested, ...by, 'commit', '-qm', 'x'], { env: { PATH: testPath } })
      expect(await publish()).toMatchObject({ kind: 'published', leftOut: [] })
      const listed = ['ls-tree', '-r', '--format=%(objectmode) %(path)', workspace.branch, 'nested/']
      expect(await atHost(...listed)).toBe('100644 nested/x')
      await writeIn(workspace.dir, 'nested/x', 'y\n')
      await writeIn(workspace.dir, 'nested/z', 'z\n')
      expect(await publish()).toMatchObject({ kind: 'published', pushed: true })
      expect(await atHost(...listed)).toBe('100644 nested/x\n100644 nested/z')
    })

    test('a repository in the tree that came from elsewhere is left out, and told of', async () => {
      await writeIn(workspace.dir, 'b.js', 'b\n')
      execFileSync('git', ['init', '-q', join(workspace.dir, 'nested')], { env: { PATH: testPath } })
      await writeIn(workspace.dir, 'nested/x', 'x\n')
      execFileSync('git', [
        '-C',
        join(workspace.dir, 'nested'),
        'remote',
        'add',
        'origin',
        'https://x.example/a',
      ])
      expect(await publish()).toMatchObject({ kind: 'published', leftOut: ['nested/'] })
      expect(await atHost('ls-tree', '-r', '--name-only', workspace.branch)).toBe(
        '.gitignore\nLICENSE\nREADME.md\nb.js\nsrc/a.js',
      )
    })

    test('a file that becomes a folder, a link or a pipe', async () => {
      await unlink(join(workspace.dir, 'README.md'))
      await writeIn(workspace.dir, 'README.md/inside', 'x\n')
      await rm(join(workspace.dir, 'src'), { recursive: true })
      await symlink('/etc', join(workspace.dir, 'src'))
      await unlink(join(workspace.dir, 'LICENSE'))
      execFileSync('mkfifo', [join(workspace.dir, 'LICENSE')])
      expect(await publish()).toMatchObject({ kind: 'published' })
      expect(await atHost('ls-tree', '-r', '--format=%(objectmode) %(path)', workspace.branch)).toBe(
        '100644 .gitignore\n100644 README.md/inside\n120000 src',
      )
    })

    test('a folder that becomes a link to one with the same files, outside of the tree', async () => {
      await writeIn(scene.root, 'outside/a.js', 'the secret of another\n')
      await rm(join(workspace.dir, 'src'), { recursive: true })
      await symlink(join(scene.root, 'outside'), join(workspace.dir, 'src'))
      expect(await publish()).toMatchObject({ kind: 'published' })
      expect(await atHost('ls-tree', '-r', '--format=%(objectmode) %(path)', workspace.branch)).toBe(
        '100644 .gitignore\n100644 LICENSE\n100644 README.md\n120000 src',
      )
    })

    test('a file of more than 100 MB is refused by its name', async () => {
      await writeIn(workspace.dir, 'large.bin', '')
      await truncate(join(workspace.dir, 'large.bin'), 101 * 1024 * 1024)
      expect(await publish()).toMatchObject({
        kind: 'not_committable',
        message: expect.stringContaining('large.bin is larger than 100 MB'),
      })
    })

    test('a file that cannot be written as its attributes say is told of', async () => {
      await writeIn(workspace.dir, '.gitattributes', '*.txt text working-tree-encoding=UTF-16\n')
      await writeIn(workspace.dir, 'x.txt', Uint8Array.of(0x61))
      const result = await publish()
      expect(result).toMatchObject({ kind: 'not_committable', message: expect.stringContaining('x.txt') })
    })

    test('no author passes for a header', async () => {
      await writeIn(workspace.dir, 'b.js', 'b\n')
      await publish({ author: { name: 'Eve\n<x>\0', email: '' }, message: '\0' })
      expect(await atHost('log', '-1', '--format=%an <%ae>%n%s', workspace.branch)).toBe(
        'Eve x <noreply@localhost>\nWork of a task',
      )
    })

    test("the agent's own repository and its history are of no account", async () => {
      await writeIn(workspace.dir, '.git/HEAD', 'ref: refs/heads/main\n')
      await writeIn(workspace.dir, '.git/info/exclude', '*\n')
      await writeIn(workspace.dir, 'b.js', 'b\n')
      expect(await publish()).toMatchObject({ kind: 'published' })
      expect(await readFile(join(workspace.dir, '.git/HEAD'), 'utf8')).toBe('ref: refs/heads/main\n')
    })
  })
