/** Which commits in the agent's own git count as work, with real git; and how much is read, whatever an agent wrote there. */
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeScene, testGit, testPath, writeIn, type Scene } from '../../../../tests/runner/workspaceScene.ts'
import { removeFolder } from '../agentFiles.ts'
import { gitText, type Git } from '../git/git.ts'
import type { Workspace } from '../workspace.ts'
import { hasWorkAside } from './workAside.ts'

let scene: Scene
let workspace: Workspace
let calls: number
beforeEach(async () => {
  scene = await makeScene({ 'README.md': '# Sample\n', '.gitignore': 'build/\n' })
  workspace = await scene.prepare()
  calls = 0
})
afterEach(async () => {
  await removeFolder(workspace.dir, testPath)
  await scene.remove()
})

const counted: Git = (call) => {
  calls += 1
  return testGit(call)
}
const isAside = (git: Git = counted) => hasWorkAside(git, workspace)

const author = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'claude'],
    [`GIT_${who}_EMAIL`, 'claude@example.com'],
  ]),
)
/** By the agent's own git, in the tree. */
function agents(...args: readonly string[]): Promise<string> {
  return gitText(testGit, {
    gitDir: join(workspace.dir, '.git'),
    workTree: workspace.dir,
    env: { ...author, GIT_ALTERNATE_OBJECT_DIRECTORIES: workspace.mirrorObjects },
    args,
  })
}
const agentCommit = () => agents('commit-tree', '-p', 'HEAD', '-m', 'Aside', 'HEAD^{tree}')
const write = (path: string, content: string) => writeIn(workspace.dir, `.git/${path}`, content)
const unknown = 'a'.repeat(40)
/** A branch whose name is no UTF-8. */
async function latin1Branch(): Promise<void> {
  await agents('update-ref', 'refs/heads/cafe', await agentCommit())
  const heads = join(workspace.dir, '.git/refs/heads/')
  await rename(join(heads, 'cafe'), Buffer.from(`${heads}caf\xe9`, 'latin1'))
}
const packed = (refs: number, ref: (at: number) => string) =>
  write('packed-refs', `# pack-refs with: peeled fully-peeled sorted \n${lines(refs, ref)}`)
const lines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => `${line(at)}\n`).join('')

describe("the agent's git", () => {
  test.each<readonly [string, () => Promise<unknown>]>([
    ['a branch whose name is no UTF-8', latin1Branch],
    [
      'a packed branch whose name is none',
      async () => {
        await latin1Branch()
        await agents('pack-refs', '--all')
      },
    ],
    ['a branch that a power cut emptied', () => write('refs/heads/wip', '')],
    ['a stash that a power cut emptied', () => write('refs/stash', '')],
    ['packed refs that a power cut emptied', () => write('packed-refs', '')],
    ['packed refs whose end is missing', () => write('packed-refs', `# pack-refs with: sorted \n${unknown}`)],
    ['packed refs of another kind', () => write('packed-refs', `${'a'.repeat(64)} refs/heads/wip\n`)],
    ['a tag', async () => agents('update-ref', 'refs/tags/wip', await agentCommit())],
    ['a tag with a message', () => agents('tag', '--annotate', '-m', 'What it is', 'wip')],
    [
      'a packed tag',
      async () => {
        await agents('update-ref', 'refs/tags/wip', await agentCommit())
        await agents('pack-refs', '--all')
      },
    ],
    ['a note', () => agents('notes', 'add', '-m', 'Look at this', 'HEAD')],
    ['a ref of its own', async () => agents('update-ref', 'refs/mine/wip', await agentCommit())],
    ['another worktree', () => agents('worktree', 'add', '--detach', join(workspace.dir, 'build/other'))],
    ['its refs elsewhere', () => write('commondir', '../../elsewhere\n')],
    ['its refs in a table', () => write('reftable/tables.list', '')],
    [
      'refs behind a link',
      async () => {
        const refs = join(workspace.dir, '.git/refs')
        await rename(refs, join(workspace.dir, 'build'))
        await symlink('../build', refs)
      },
    ],
    [
      'its folder elsewhere',
      async () => {
        await rename(join(workspace.dir, '.git'), join(workspace.homeDir, 'git'))
        await writeFile(join(workspace.dir, '.git'), `gitdir: ${workspace.homeDir}/git\n`)
      },
    ],
    [
      'a folder too deep to be opened',
      async () => {
        const long = Array.from({ length: 9 }, () => 'n'.repeat(250)).join('/')
        const [heads, build] = [join(workspace.dir, '.git/refs/heads'), join(workspace.dir, 'build')]
        for (const folder of [heads, build]) await mkdir(join(folder, long), { recursive: true })
        await rename(build, join(heads, long, 'build'))
      },
    ],
  ])('has work aside with %s', async (_what, make) => {
    await make()
    expect(await isAside()).toBe(true)
  })

  test.each<readonly [string, () => Promise<unknown>]>([
    ['nothing but what it began with', async () => undefined],
    ['no folder', () => rm(join(workspace.dir, '.git'), { recursive: true })],
    ['what it fetched last', () => write('FETCH_HEAD', `${unknown}\t\tbranch 'main'\n`)],
    ["the code host's branches", () => write('refs/remotes/origin/other', `${unknown}\n`)],
    ["the code host's branches, packed", () => packed(1, () => `${unknown} refs/remotes/origin/other`)],
    [
      'locks of a git that was killed',
      async () => {
        await write('refs/heads/main.lock', '')
        await write('refs/tags/wip.lock', `${unknown}\n`)
      },
    ],
    ['another worktree that it removed', () => mkdir(join(workspace.dir, '.git/worktrees'))],
    [
      "a colleague's branch, and a tag of the code host",
      async () => {
        const theirs = await scene.commit({ 'theirs.txt': 'theirs\n' }, 'theirs')
        const tagged = ['tag', '--annotate', '-m', 'First', 'v1', theirs]
        await gitText(testGit, { gitDir: scene.remote, env: author, args: tagged })
        await scene.refresh()
        await agents('update-ref', 'refs/heads/theirs', theirs)
        await agents('update-ref', 'refs/tags/v1', await agents('--git-dir', scene.remote, 'rev-parse', 'v1'))
        await agents('pack-refs', '--all')
      },
    ],
  ])('has none with %s', async (_what, make) => {
    await make()
    expect(await isAside()).toBe(false)
    expect(calls).toBeLessThan(2)
  })

  test('asks one git about thousands of branches, and none about more', async () => {
    const base = workspace.startCommit ?? ''
    await agents('update-ref', 'HEAD', await agentCommit())
    await packed(5_000, (at) => `${base} refs/heads/b${at}`)
    expect(await isAside()).toBe(false)
    await packed(5_000, (at) => `${at === 4_000 ? unknown : base} refs/heads/b${at}`)
    expect(await isAside()).toBe(true)
    expect(calls).toBe(2)
    await packed(9_990, (at) => `${base} refs/heads/b${at}`)
    await write('refs/tags/one', `${base}\n`)
    expect(await isAside()).toBe(false)
    for (let at = 0; at < 20; at += 1) await write(`refs/tags/t${at}`, `${base}\n`)
    expect(await isAside()).toBe(true)
    expect(calls).toBe(3)
  })

  test('is told of as a fault where our own git or the mirror is damaged', async () => {
    await agents('update-ref', 'refs/heads/wip', await agentCommit())
    await rename(workspace.mirrorObjects, `${workspace.mirrorObjects}.away`)
    await expect(isAside()).rejects.toMatchObject({ name: 'GitFault' })
    await rename(`${workspace.mirrorObjects}.away`, workspace.mirrorObjects)
    expect(await isAside()).toBe(true)
  })

  test('has work aside with a branch beside its own in an empty repository', async () => {
    const empty = await makeScene()
    const { dir, privateGitDir } = await empty.prepare()
    await writeIn(dir, '.git/refs/heads/wip', `${unknown}\n`)
    expect(await hasWorkAside(testGit, { dir, privateGitDir })).toBe(true)
    await empty.remove()
  })

  test('is told of as a fault where git cannot be waited for', async () => {
    await agents('update-ref', 'refs/heads/wip', await agentCommit())
    const slow: Git = async (call) => ({ ...(await testGit(call)), endedBy: 'time_limit', code: null })
    await expect(isAside(slow)).rejects.toMatchObject({ name: 'GitFault' })
  })
})
