/** The contract for a malicious tree: it does nothing to the server that reads and publishes it. */
import { execFileSync } from 'node:child_process'
import { chmod, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readChanges } from '../../services/runner/workspace/changes/changes.ts'
import type { Git } from '../../services/runner/workspace/git/git.ts'
import { gitOrThrow, gitText } from '../../services/runner/workspace/git/git.ts'
import { commitAndPush } from '../../services/runner/workspace/publish/publish.ts'
import { makeScene, testGit, testPath, writeIn } from './workspaceScene.ts'
import type { Scene } from './workspaceScene.ts'
import type { Workspace } from '../../services/runner/workspace/workspace.ts'

/** `gitFor` gives the git that reads what an agent wrote; without it, the suite is skipped. */
export function describeHostileTree(way: string, gitFor: ((workspace: Workspace) => Git) | undefined): void {
  describe.skipIf(!gitFor)(`a hostile tree, read and published by git ${way}`, () => {
    let scene: Scene
    let workspace: Workspace
    beforeEach(async () => {
      scene = await makeScene({ 'README.md': '# Sample\n', 'a.txt': 'a\n' })
      workspace = await scene.prepare()
    })
    afterEach(() => scene.remove())

    /** A command that leaves a mark, in the tree or next to it, wherever it is run. */
    const mark = () => `sh -c 'touch ${scene.root}/ran ${workspace.dir}/ran; cat'`
    const readAndPublish = async () => {
      const treeGit = gitFor?.(workspace) ?? testGit
      await readChanges({ git: testGit, treeGit, workspace, baseBranch: 'main' })
      const author = { name: 'Ada', email: 'ada@example.com' }
      const published = await commitAndPush({
        git: testGit,
        treeGit,
        workspace,
        message: 'Work',
        author,
        secrets: [],
        // Otherwise work on such paths would be refused before git could run anything.
        allowedFilters: ['evil'],
        url: scene.remote,
      })
      await readChanges({ git: testGit, treeGit, workspace, baseBranch: 'main' })
      return published
    }
    const whatRan = async (): Promise<string[]> => {
      const found = [...(await readdir(scene.root)), ...(await readdir(workspace.dir))]
      return found.filter((name) => name === 'ran')
    }
    /** Plants everything that git could be made to run, in a git directory that an agent can write to. */
    const plant = async (gitDir: string): Promise<void> => {
      const settings = {
        'core.fsmonitor': mark(),
        'core.hooksPath': join(gitDir, 'hooks'),
        'core.sshCommand': mark(),
        'core.pager': mark(),
        'core.editor': mark(),
        'core.alternateRefsCommand': mark(),
        'credential.helper': `!${mark()}`,
        'diff.external': mark(),
        'diff.evil.textconv': mark(),
        'diff.evil.command': mark(),
        'filter.evil.clean': mark(),
        'filter.evil.smudge': mark(),
        'filter.evil.process': mark(),
        'filter.evil.required': 'true',
        'gpg.program': mark(),
        'commit.gpgSign': 'true',
        'uploadpack.packObjectsHook': mark(),
      }
      for (const [key, value] of Object.entries(settings))
        execFileSync('git', ['config', '--file', join(gitDir, 'config'), key, value], {
          env: { PATH: testPath },
        })
      for (const hook of [
        'pre-commit',
        'post-commit',
        'pre-push',
        'post-index-change',
        'post-checkout',
        'reference-transaction',
      ]) {
        await writeIn(gitDir, `hooks/${hook}`, `#!/bin/sh\n${mark()}\n`)
        await chmod(join(gitDir, 'hooks', hook), 0o755)
      }
    }

    test('is set with traps that do go off, for a git that trusts it', async () => {
      await plant(join(workspace.dir, '.git'))
      const trusting = ['-c', 'safe.directory=*', '-C', workspace.dir, 'status']
      const env = { PATH: testPath, GIT_ALTERNATE_OBJECT_DIRECTORIES: workspace.mirrorObjects }
      execFileSync('git', trusting, { env, stdio: 'pipe' })
      expect(await whatRan()).toEqual(['ran', 'ran'])
    })

    test("runs nothing of the agent's git directory", async () => {
      await plant(join(workspace.dir, '.git'))
      await writeIn(workspace.dir, '.gitattributes', '* filter=evil diff=evil merge=evil\n')
      await writeIn(workspace.dir, 'a.txt', 'changed\n')
      await writeIn(workspace.dir, 'new.txt', 'new\n')
      expect((await readAndPublish()).kind).toBe('published')
      expect(await whatRan()).toEqual([])
      // A clean filter would have changed this content.
      expect(
        await gitText(testGit, { gitDir: scene.remote, args: ['show', `${workspace.branch}:a.txt`] }),
      ).toBe('changed')
    })

    test('nor of one that was put in its place', async () => {
      await rename(join(workspace.dir, '.git'), join(workspace.dir, '.git2'))
      execFileSync('git', ['init', '-q', workspace.dir], { env: { PATH: testPath } })
      await plant(join(workspace.dir, '.git'))
      await writeIn(workspace.dir, '.gitattributes', '* filter=evil diff=evil\n')
      await writeIn(workspace.dir, 'a.txt', 'changed\n')
      await readAndPublish()
      expect(await whatRan()).toEqual([])
    })

    test('nor of a repository that stands where the base has a submodule', async () => {
      const submodule = await gitText(testGit, { gitDir: scene.remote, args: ['rev-parse', 'main'] })
      await scene.commit({
        '.gitmodules': '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n',
      })
      const on = {
        gitDir: scene.remote,
        workTree: scene.root,
        env: { GIT_INDEX_FILE: join(scene.root, 'index') },
      }
      await gitOrThrow(testGit, { ...on, args: ['read-tree', 'main'] })
      await gitOrThrow(testGit, {
        ...on,
        args: ['update-index', '--add', '--cacheinfo', `160000,${submodule},sub`],
      })
      const tree = await gitText(testGit, { ...on, args: ['write-tree'] })
      const env = {
        GIT_AUTHOR_NAME: 'Ada',
        GIT_AUTHOR_EMAIL: 'ada@example.com',
        GIT_COMMITTER_NAME: 'Ada',
        GIT_COMMITTER_EMAIL: 'ada@example.com',
      }
      const args = ['commit-tree', '-p', 'main', '-m', 'Submodule', tree]
      const commit = await gitText(testGit, { gitDir: scene.remote, env, args })
      await gitOrThrow(testGit, { gitDir: scene.remote, args: ['update-ref', 'refs/heads/main', commit] })
      workspace = await scene.prepare({ taskId: 'with-a-submodule' })

      const sub = join(workspace.dir, 'sub')
      execFileSync('git', ['init', '-q', sub], { env: { PATH: testPath } })
      await writeIn(sub, 'x', 'x\n')
      await plant(join(sub, '.git'))
      await writeIn(workspace.dir, '.gitattributes', '* filter=evil diff=evil\n')
      await writeIn(workspace.dir, 'a.txt', 'changed\n')
      expect((await readAndPublish()).kind).toBe('published')
      expect(await whatRan()).toEqual([])
      const entries = await gitText(testGit, {
        gitDir: scene.remote,
        args: ['ls-tree', workspace.branch, 'sub'],
      })
      expect(entries).toBe(`160000 commit ${submodule}\tsub`)

      // Once the nested repository has a commit, a pull request contains that commit; its files and settings are still not read.
      const own = [
        '-c',
        'safe.directory=*',
        '-C',
        sub,
        '-c',
        'user.name=x',
        '-c',
        'user.email=x',
        '-c',
        'core.fsmonitor=false',
      ]
      const quiet = ['-c', 'core.hooksPath=/dev/null', '-c', 'commit.gpgSign=false']
      const commitIn = [...own, ...quiet, 'commit', '-q', '--allow-empty', '-m', 'Inside']
      execFileSync('git', commitIn, { env: { PATH: testPath } })
      const read = await readChanges({
        git: testGit,
        treeGit: gitFor?.(workspace) ?? testGit,
        workspace,
        baseBranch: 'main',
      })
      expect(read).toMatchObject({
        files: expect.arrayContaining([expect.objectContaining({ fileName: 'sub', status: 'modified' })]),
      })
      expect((await readAndPublish()).kind).toBe('published')
      expect(await whatRan()).toEqual([])
      const moved = await gitText(testGit, {
        gitDir: scene.remote,
        args: ['ls-tree', workspace.branch, 'sub'],
      })
      expect(moved).toMatch(/^160000 commit [0-9a-f]{40}\tsub$/)
      expect(moved).not.toContain(submodule)
    })

    test('nor of nested repositories, bare ones and `.git` files', async () => {
      for (const nested of ['one', 'deep/two']) {
        execFileSync('git', ['init', '-q', join(workspace.dir, nested)], { env: { PATH: testPath } })
        await plant(join(workspace.dir, nested, '.git'))
        await writeIn(workspace.dir, `${nested}/x`, 'x\n')
      }
      execFileSync('git', ['init', '-q', '--bare', join(workspace.dir, 'bare')], { env: { PATH: testPath } })
      await plant(join(workspace.dir, 'bare'))
      await writeIn(workspace.dir, 'file/.git', `gitdir: ${join(workspace.dir, 'one/.git')}\n`)
      await writeIn(workspace.dir, 'file/x', 'x\n')
      await readAndPublish()
      expect(await whatRan()).toEqual([])
    })
  })
}

/** The contract for a git that itself runs in a sandbox. */
export function describeSandboxedGit(way: string, gitFor: ((workspace: Workspace) => Git) | undefined): void {
  describe.skipIf(!gitFor)(`git ${way}`, () => {
    test('sees no file of the host, however fast a folder becomes a link while it reads', async () => {
      const scene = await makeScene({ 'dir/secret.txt': 'nothing\n' })
      const workspace = await scene.prepare()
      // The target of a link in the tree: outside of the tree, and readable by the server only.
      await writeIn(scene.root, 'private/secret.txt', 'the secret of another\n')
      await writeIn(workspace.dir, 'real/secret.txt', 'changed\n')
      execFileSync('ln', ['-s', join(scene.root, 'private'), join(workspace.dir, 'link')])
      const swapping = execSwap(workspace.dir)
      try {
        for (let n = 0; n < 12; n++) {
          const treeGit = gitFor?.(workspace) ?? testGit
          const read = await readChanges({ git: testGit, treeGit, workspace, baseBranch: 'main' }).catch(
            String,
          )
          expect(JSON.stringify(read)).not.toContain('the secret of another')
        }
      } finally {
        swapping.abort()
        await delay(50)
        await scene.remove()
      }
    })

    test('has neither network nor another place to write to', async () => {
      const scene = await makeScene({ 'a.txt': 'a\n' })
      const workspace = await scene.prepare()
      const git = gitFor?.(workspace) ?? testGit
      const on = { gitDir: workspace.privateGitDir, workTree: workspace.dir }
      const asked = await git({ ...on, args: ['ls-remote', '--', 'http://127.0.0.1:1/x.git'] })
      expect(asked.stderr.toString()).toMatch(/unable to access|Failed to connect/)
      const written = await git({ ...on, args: ['init', '--', join(workspace.dir, 'inside')] })
      expect(written.stderr.toString()).toMatch(/Read-only file system/)
      const listed = await git({
        ...on,
        args: ['-c', `alias.look=!ls -a ${scene.root} /proc/1/environ /home /root`, 'look'],
      })
      expect(listed.stdout.toString()).not.toContain('remote.git')
      expect(await readdir(scene.root)).toContain('remote.git')
      await scene.remove()
    })
  })
}

/** Makes `dir` alternately a folder and a link, as fast as the machine can. */
function execSwap(tree: string): AbortController {
  const controller = new AbortController()
  const swap = async (): Promise<void> => {
    while (!controller.signal.aborted) {
      await rename(join(tree, 'dir'), join(tree, 'old')).catch(() => undefined)
      await rename(join(tree, 'link'), join(tree, 'dir')).catch(() => undefined)
      await rename(join(tree, 'dir'), join(tree, 'link')).catch(() => undefined)
      await rename(join(tree, 'old'), join(tree, 'dir')).catch(() => undefined)
    }
  }
  void swap()
  return controller
}
