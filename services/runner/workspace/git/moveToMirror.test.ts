/** A workspace that was made from another mirror of its repository: one that is known only by name, or by a former name. */
import { access, chmod, lstat, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  makeScene,
  testGit,
  testPath,
  testTaskId,
  type Scene,
} from '../../../../tests/runner/workspaceScene.ts'
import { createOrFindWorkspace } from '../createWorkspace.ts'
import { saveWork } from '../saved/bundle.ts'
import { findWorkspace, type Workspace } from '../workspace.ts'
import { gitOrThrow, gitText, type Git } from './git.ts'
import { openMirrors, type Mirror } from './mirror.ts'
import { isLongRun } from '../../../../tests/longRun.ts'

const otherTaskId = '0199c6c2-1111-7000-8000-000000000002'

let scene: Scene
let faults: unknown[]
beforeEach(async () => {
  faults = []
  scene = await makeScene({ 'README.md': '# Sample\n' })
  await scene.commit({ 'base.txt': 'base\n' }, 'side')
})
afterEach(() => scene.remove())

async function mirrorBy(id: string, isLarge = false): Promise<Mirror> {
  const mirrors = openMirrors({
    root: scene.root,
    onFault: (fault) => faults.push(fault),
    git: isLarge
      ? (call) => {
          if (call.args[0] === 'fetch') call.onStderr?.(Buffer.from('Receiving objects:   0% (1/5000)\r'))
          return testGit(call)
        }
      : testGit,
    large: { objects: 1_000, depth: 2 },
  })
  const refreshed = await mirrors.refresh(asking(id))
  if (refreshed.kind !== 'ready') throw new Error(JSON.stringify(refreshed))
  return refreshed.mirror
}

/** Over a file:// address, as git clones a path whole. */
const asking = (id: string) => {
  return { url: `file://${scene.remote}`, owner: 'ada', name: 'sample', id, timeoutMs: 30_000 }
}

/** A workspace on a branch; `side` is gone from the code host since then. */
async function madeOn(
  mirror: Mirror,
  baseBranch = 'side',
  over: { readonly taskId?: string; readonly startAt?: string } = {},
): Promise<Workspace> {
  const made = await createOrFindWorkspace({
    checkCheckout: async () => undefined,
    git: testGit,
    path: testPath,
    root: scene.root,
    taskId: testTaskId,
    ...over,
    mirror,
    baseBranch,
    workingBranch: 'flightdeck/a-task-12345678',
    originUrl: scene.remote,
    identity: { name: 'claude', email: 'noreply@anthropic.com' },
    owner: undefined,
  })
  if (made.kind !== 'ready') throw new Error(made.kind)
  await gitOrThrow(testGit, { gitDir: scene.remote, args: ['update-ref', '-d', 'refs/heads/side'] })
  return made.workspace
}
const found = (mirror: Mirror) => findWorkspace(testGit, { root: scene.root, taskId: testTaskId, mirror })

/** All that HEAD reaches is there, for us and for the agent, without the mirror that it was made on. */
async function expectWhole(former: Mirror, mirror: Mirror, workspace: Workspace | undefined): Promise<void> {
  if (!workspace) throw new Error('There is a workspace.')
  await rm(former.dir, { recursive: true })
  const args = ['rev-list', '--objects', '--all', 'HEAD']
  expect(await gitText(testGit, { gitDir: workspace.privateGitDir, args })).toContain(workspace.startCommit)
  const agents = { gitDir: join(workspace.dir, '.git'), workTree: workspace.dir }
  const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: mirror.objects }
  expect(await gitText(testGit, { ...agents, env, args })).toContain(workspace.startCommit)
  expect(await gitText(testGit, { ...agents, env, args: ['status', '--porcelain'] })).toBe('')
  const alternates = join(workspace.privateGitDir, 'objects/info/alternates')
  expect(await readFile(alternates, 'utf8')).toBe(`${mirror.objects}\n`)
}

describe('a workspace of a mirror from before', () => {
  test('keeps what no branch reaches any more', async () => {
    const former = await mirrorBy('')
    const workspace = await madeOn(former)
    const mirror = await mirrorBy('7')
    expect(mirror.dir).not.toBe(former.dir)
    expect(await found(mirror)).toEqual({
      ...workspace,
      mirrorDir: mirror.dir,
      mirrorObjects: mirror.objects,
    })
    await expectWhole(former, mirror, await found(mirror))
  })

  test('keeps to itself what only its task has made of it', async () => {
    const theirs = await scene.commit({ 'theirs.txt': 'theirs\n' }, 'theirs')
    const former = await mirrorBy('')
    const { privateGitDir: gitDir, branch } = await madeOn(former)
    // As after a rebase onto what others had pushed.
    await gitOrThrow(testGit, { gitDir, args: ['update-ref', `refs/heads/${branch}`, theirs] })
    await gitOrThrow(testGit, { gitDir: scene.remote, args: ['update-ref', '-d', 'refs/heads/theirs'] })
    const mirror = await mirrorBy('7')
    await expectWhole(former, mirror, await found(mirror))
    const isShared = testGit({ gitDir: mirror.dir, args: ['cat-file', '-e', theirs] })
    expect((await isShared).code).not.toBe(0)
  })

  test.each(['side', 'main'])('keeps it where only the end of the history is there: on %s', async (base) => {
    for (let n = 0; n < 4; n++) await scene.commit({ 'count.txt': `${n}\n` }, base)
    const former = await mirrorBy('', true)
    const workspace = await madeOn(former, base)
    for (let n = 0; n < 4; n++) await scene.commit({ 'README.md': `${n}\n` })
    // What is new is fetched whole: the former one reaches further back.
    await mirrorBy('', true)
    const mirror = await mirrorBy('7', true)
    expect((await lstat(join(mirror.dir, 'shallow'))).isFile()).toBe(true)
    await found(mirror)
    await expectWhole(former, mirror, workspace && (await found(mirror)))
  })

  test('goes on with both where git cannot bring it along', async () => {
    const former = await mirrorBy('')
    const workspace = await madeOn(former)
    const mirror = await mirrorBy('7')
    const place = { root: scene.root, taskId: testTaskId, mirror }
    const fails: Git = (call) =>
      testGit(call.args[0] === 'pack-objects' ? { ...call, args: ['pack-objects', '--unknown'] } : call)
    expect(await findWorkspace(fails, place)).toMatchObject({ mirrorDir: mirror.dir })
    const alternates = join(workspace.privateGitDir, 'objects/info/alternates')
    expect(await readFile(alternates, 'utf8')).toBe(`${mirror.objects}\n${former.objects}\n`)
    // A new try is due once the note of the failure is an hour old.
    await rm(join(workspace.privateGitDir, 'move-failed'))
    await expectWhole(former, mirror, await found(mirror))
  })

  // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('is not tried again at once after a failure, which is told once', async () => {
      const former = await mirrorBy('')
      const { privateGitDir: gitDir, startCommit } = await madeOn(former)
      const place = { root: scene.root, taskId: testTaskId, mirror: await mirrorBy('7') }
      let tries = 0
      const fails: Git = (call) => {
        if (call.args[0] !== 'pack-objects') return testGit(call)
        tries += 1
        return testGit({ ...call, args: ['pack-objects', '--unknown'] })
      }
      for (let n = 0; n < 3; n++) expect(await findWorkspace(fails, place)).toMatchObject({ startCommit })
      expect(tries).toBe(1)
      expect(faults).toEqual([expect.objectContaining({ name: 'GitFault' })])
      const hourAgo = Date.now() / 1_000 - 3_600
      await utimes(join(gitDir, 'move-failed'), hourAgo, hourAgo)
      await findWorkspace(fails, place)
      expect(tries).toBe(2)
      const main = await gitText(testGit, { gitDir: scene.remote, args: ['rev-parse', 'main'] })
      await gitOrThrow(testGit, { gitDir, args: ['update-ref', 'HEAD', main] })
      await findWorkspace(fails, place)
      expect(tries).toBe(3)
      expect(faults).toHaveLength(3)
    })

    test('waits for what else writes into the mirror', async () => {
      const former = await mirrorBy('')
      const { privateGitDir } = await madeOn(former)
      await mirrorBy('7')
      const alternates = join(privateGitDir, 'objects/info/alternates')
      const happened: string[] = []
      const mirrors = openMirrors({
        root: scene.root,
        onFault: (fault) => faults.push(fault),
        async git(call) {
          if (call.args[0] !== 'fetch') return testGit(call)
          const { mirror } = await ready
          moving = findWorkspace(
            (own) => {
              if (own.args[0] !== 'rev-parse') happened.push('move')
              return testGit(own)
            },
            { root: scene.root, taskId: testTaskId, mirror },
          )
          await expect.poll(() => readFile(alternates, 'utf8')).toContain(mirror.objects)
          for (let n = 0; n < 20; n++) await readFile(alternates)
          const fetched = await testGit(call)
          happened.push('fetched')
          return fetched
        },
      })
      let moving: Promise<unknown> | undefined
      const ready = mirrors.find(asking('7')).then((mirror) => {
        if (!mirror) throw new Error('There is a mirror.')
        return { mirror }
      })
      await scene.commit({ 'new.txt': 'new\n' })
      expect(await mirrors.refresh(asking('7'))).toMatchObject({ kind: 'ready' })
      await moving
      expect(happened.slice(0, 2)).toEqual(['fetched', 'move'])
    })

    test('touches no other pack, and notes ends of history only once all is there', async () => {
      for (let n = 0; n < 4; n++) await scene.commit({ 'count.txt': `${n}\n` }, 'side')
      const former = await mirrorBy('', true)
      await madeOn(former)
      for (let n = 0; n < 4; n++) await scene.commit({ 'README.md': `${n}\n` })
      const mirror = await mirrorBy('7', true)
      const packs = join(mirror.objects, 'pack')
      // Git makes such a file beside a pack that it fetches, and takes it away.
      const other = join(packs, 'pack-other.keep')
      await writeFile(other, '')
      await chmod(other, 0o400)
      const before = await readdir(packs)
      const shallow = () => readFile(join(mirror.dir, 'shallow'), 'utf8')
      const ends = await shallow()
      const fails: Git = (call) =>
        testGit(call.args.includes('--all') ? { ...call, args: ['pack-objects', '--unknown'] } : call)
      await findWorkspace(fails, { root: scene.root, taskId: testTaskId, mirror })
      expect(faults).toHaveLength(1)
      expect(await shallow()).toBe(ends)
      expect((await lstat(other)).mode & 0o777).toBe(0o400)
      const made = (await readdir(packs)).filter((name) => !before.includes(name))
      expect(made).not.toEqual([])
      for (const name of made) expect((await lstat(join(packs, name))).mode & 0o777).toBe(0o444)
    })
  })

  test.each(['failed', 'stopped'])(
    'is whole after a move that has %s where only the end of the history is there',
    async (how) => {
      for (let n = 0; n < 4; n++) await scene.commit({ 'count.txt': `${n}\n` })
      const former = await mirrorBy('', true)
      const workspace = await madeOn(former, 'main')
      for (let n = 0; n < 4; n++) await scene.commit({ 'README.md': `${n}\n` })
      const mirror = await mirrorBy('7', true)
      const { privateGitDir: gitDir } = workspace
      const args = ['rev-list', '--objects', '--all', 'HEAD']
      const before = await gitText(testGit, { gitDir, args })
      const ends: Git = async (call) => {
        if (call.args[0] !== 'pack-objects') return testGit(call)
        const finished = await testGit({ ...call, args: ['pack-objects', '--unknown'] })
        return how === 'stopped' ? { ...finished, endedBy: 'aborted', code: null } : finished
      }
      const moving = await findWorkspace(ends, { root: scene.root, taskId: testTaskId, mirror })
      if (!moving) throw new Error('There is a workspace.')
      expect(faults).toHaveLength(how === 'stopped' ? 0 : 1)
      expect(await gitText(testGit, { gitDir, args })).toBe(before)
      await writeFile(join(workspace.dir, 'new.txt'), 'new\n')
      const saved = await saveWork({ git: testGit, treeGit: testGit, workspace: moving })
      expect(saved).toMatchObject({ kind: 'saved' })
      await rm(join(workspace.dir, 'new.txt'))
      await rm(join(gitDir, 'move-failed'), { force: true })
      await expectWhole(former, mirror, await found(mirror))
    },
  )

  // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('packs nothing that is there already, by a second workspace on another commit', async () => {
      const first = await scene.commit({ 'count.txt': '1\n' }, 'side')
      const second = await scene.commit({ 'count.txt': '2\n' }, 'side')
      const former = await mirrorBy('', true)
      await madeOn(former, 'side', { startAt: first })
      await madeOn(former, 'side', { startAt: second, taskId: otherTaskId })
      for (let n = 0; n < 4; n++) await scene.commit({ 'README.md': `${n}\n` })
      const mirror = await mirrorBy('7', true)
      const packed = async () => {
        const told = await gitText(testGit, { gitDir: mirror.dir, args: ['count-objects', '-v'] })
        return Number(/^in-pack: (\d+)$/m.exec(told)?.[1])
      }
      await found(mirror)
      const before = await packed()
      expect(before).toBeGreaterThan(0)
      const place = { root: scene.root, taskId: otherTaskId, mirror }
      await expectWhole(former, mirror, await findWorkspace(testGit, place))
      // A commit, its folder and its file.
      expect((await packed()) - before).toBe(3)
    })

    test('takes away what a pack that was killed has left', async () => {
      const former = await mirrorBy('')
      const { privateGitDir } = await madeOn(former)
      const mirror = await mirrorBy('7')
      const packs = [join(privateGitDir, 'objects/pack'), join(mirror.objects, 'pack')]
      for (const folder of packs) await writeFile(join(folder, 'tmp_pack_left'), '')
      await found(mirror)
      for (const folder of packs) expect(await readdir(folder)).not.toContain('tmp_pack_left')
    })
  })

  test('keeps naming a former mirror that cannot be read', async () => {
    const former = await mirrorBy('')
    const { privateGitDir } = await madeOn(former)
    const mirror = await mirrorBy('7')
    // Not a folder: reading it fails, and it is not missing.
    await rename(former.objects, `${former.objects}-away`)
    await writeFile(former.objects, '')
    await found(mirror)
    const alternates = join(privateGitDir, 'objects/info/alternates')
    expect(await readFile(alternates, 'utf8')).toContain(`${former.objects}\n`)
  })

  // These are finer points, each with dozens of git processes, so `npm test` leaves them to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('is found as it is where that mirror is gone, or the data folder was moved', async () => {
      const former = await mirrorBy('7')
      const workspace = await madeOn(former)
      const alternates = join(workspace.privateGitDir, 'objects/info/alternates')
      await writeFile(alternates, '/nowhere/mirrors/ada/sample-0123456789ab.git/objects\n')
      expect(await found(former)).toEqual(workspace)
      expect(await readFile(alternates, 'utf8')).toBe(`${former.objects}\n`)
      await expect(access('/nowhere')).rejects.toThrow('ENOENT')
    })
  })
})
