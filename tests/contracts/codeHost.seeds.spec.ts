/** The repositories with which a local code host starts: its samples, and those that people name. */
import { chown, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listen } from '#platform/http/listen.ts'
import { createGit, type Git } from '../../services/codehost/git/runGit.ts'
import { openRepositories } from '../../services/codehost/repositories/repositories.ts'
import { importSeeds, placeOf } from '../../services/codehost/seeds.ts'
import { openStore } from '../../services/codehost/state/store.ts'
import {
  commit,
  gitDone,
  localRepository,
  signIn,
  useLocalHosts,
  type LocalCodeHost,
} from './codeHost.fixture.ts'

const hosts = useLocalHosts({ ownSamples: true })

describe('samples', () => {
  test('are there when there is nothing else, with the same commits on every machine', async () => {
    const local = await hosts.start()
    const { accessToken } = await signIn(local.codeHost, 'ada')
    const found = await local.codeHost.repositories(accessToken)
    expect(found.map((one) => [one.fullName, one.isPrivate, one.language])).toEqual([
      ['ada/sample', false, 'JavaScript'],
      ['acme/handbook', false, null],
      ['ada/notes', true, null],
    ])
    const { url } = await local.codeHost.gitAccess(accessToken, { owner: 'ada', name: 'sample' })
    expect(
      (await gitDone(hosts.folder(), ['ls-remote', url, 'refs/heads/main'])).split('\t')[0],
    ).toMatchInlineSnapshot(`"36d4966a519b4ef5177bce8764cc25c703e813a0"`)
    await gitDone(hosts.folder(), ['clone', '-q', url, 'clone'])
    expect(await readdir(join(hosts.folder(), 'clone'))).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'src', 'test']),
    )
    await hosts.stop(local)
    const again = await hosts.start()
    expect(await again.codeHost.repositories(accessToken)).toHaveLength(3)
  })
})

describe('seeds', () => {
  const names = async (local: LocalCodeHost) => {
    const { accessToken } = await signIn(local.codeHost, 'ada')
    return (await local.codeHost.repositories(accessToken)).map((one) => one.fullName).sort()
  }
  const branches = async (local: LocalCodeHost, name: string) => {
    const { accessToken } = await signIn(local.codeHost, 'ada')
    return local.codeHost.branches(accessToken, { owner: 'ada', name })
  }
  const source = (name: string) => join(hosts.folder(), name)

  test("a person's repository becomes a public one of ada, without stash, remote branches or hooks", async () => {
    const at = source('My Engine')
    await localRepository(at, { 'a.py': 'print(1)\n' })
    await commit(at, 'feature', { 'b.py': 'print(2)\n' })
    await gitDone(at, ['tag', 'v1'])
    await writeFile(join(at, 'b.py'), 'print(3)\n')
    await gitDone(at, ['stash', '-q'])
    await gitDone(at, ['update-ref', 'refs/remotes/origin/theirs', 'HEAD'])
    await writeFile(join(at, '.git', 'hooks', 'post-checkout'), '#!/bin/sh\ntouch ../ran\n', { mode: 0o755 })
    const local = await hosts.start({ seeds: [{ source: at }, { source: `${at}/` }] })
    expect(await names(local)).toEqual(['ada/My-Engine'])
    const { accessToken } = await signIn(local.codeHost, 'ada')
    const found = await local.codeHost.repository(accessToken, { owner: 'ada', name: 'My-Engine' })
    expect(found).toMatchObject({ isPrivate: false, language: 'Python', defaultBranch: 'feature' })
    const { url } = await local.codeHost.gitAccess(accessToken, found)
    const refs = (await gitDone(hosts.folder(), ['ls-remote', url])).replace(/^\S+\t/gm, '').split('\n')
    expect(refs).toEqual(['HEAD', 'refs/heads/feature', 'refs/heads/main', 'refs/tags/v1'])
    expect(await readdir(hosts.folder())).not.toContain('ran')
  })

  test("it has the owner's own description, or says where it came from", async () => {
    await localRepository(source('engine'), { '.git/description': 'It computes.\n', 'a.py': '' })
    await localRepository(source('notes'), { 'a.md': '' })
    const local = await hosts.start({ seeds: [{ source: source('engine') }, { source: source('notes') }] })
    const { accessToken } = await signIn(local.codeHost, 'ada')
    const described = async (name: string) =>
      (await local.codeHost.repository(accessToken, { owner: 'ada', name })).description
    expect(await described('engine')).toBe('It computes.')
    expect(await described('notes')).toBe('Imported from a local folder')
  })

  test('brought in again it takes over what is new, and keeps what went another way here', async () => {
    const at = source('engine')
    await localRepository(at, { 'a.txt': '1\n' })
    const first = await hosts.start({ seeds: [{ source: at }] })
    const { accessToken } = await signIn(first.codeHost, 'ada')
    const here = await hosts.pushed(first, accessToken, 'engine', 'both', { 'here.txt': '1\n' })
    await hosts.stop(first)
    const main = await commit(at, 'main', { 'a.txt': '2\n' })
    await commit(at, 'both', { 'there.txt': '1\n' })
    await commit(at, 'added', { 'c.txt': '1\n' })
    const second = await hosts.start({ seeds: [{ source: at }] })
    expect(await branches(second, 'engine')).toEqual(['main', 'added', 'both'])
    const { url } = await second.codeHost.gitAccess(accessToken, { owner: 'ada', name: 'engine' })
    const refs = await gitDone(hosts.folder(), ['ls-remote', url])
    expect(refs).toContain(`${here}\trefs/heads/both`)
    expect(refs).toContain(`${main}\trefs/heads/main`)
    expect(second.log.join()).toContain('ada/engine is not all as in')
    await hosts.stop(second)
    await rm(at, { recursive: true })
    await expect(hosts.start({ seeds: [{ source: at }] })).rejects.toThrow('there is no such folder')
    expect(await branches(await hosts.start(), 'engine')).toHaveLength(3)
  })

  test.each<[string, (at: string) => Promise<unknown>, readonly string[]]>([
    ['empty', async (at) => gitDone(hosts.folder(), ['init', '-q', at]), []],
    [
      'bare',
      async (at) => {
        await localRepository(`${at}-tree`, { a: '1' })
        await gitDone(hosts.folder(), ['clone', '-q', '--bare', `${at}-tree`, at])
      },
      ['main'],
    ],
    [
      'shallow',
      async (at) => {
        await localRepository(`${at}-tree`, { a: '1' })
        await commit(`${at}-tree`, 'main', { a: '2' })
        await gitDone(hosts.folder(), ['clone', '-q', '--depth=1', `file://${at}-tree`, at])
      },
      ['main'],
    ],
    [
      'at no branch',
      async (at) => {
        await localRepository(at, { a: '1' })
        await gitDone(at, ['checkout', '-q', '--detach'])
      },
      ['main'],
    ],
    [
      'a linked work tree',
      async (at) => {
        await localRepository(`${at}-tree`, { a: '1' })
        await gitDone(`${at}-tree`, ['worktree', 'add', '-q', '-b', 'side', at])
      },
      ['side', 'main'],
    ],
    [
      'behind a symbolic link',
      async (at) => {
        await localRepository(`${at}-tree`, { a: '1' })
        await symlink(`${at}-tree`, at)
      },
      ['main'],
    ],
  ])('a repository that is %s can be brought in', async (_, make, expected) => {
    await make(source('engine'))
    const local = await hosts.start({ seeds: [{ source: source('engine') }] })
    expect(await branches(local, 'engine')).toEqual(expected)
  })

  test('what cannot be cloned is told in a sentence, and nothing half made is left', async () => {
    const good = source('good')
    await localRepository(good, { a: '1' })
    await mkdir(source('none'))
    const unreachable = 'http://127.0.0.1:9/owner/name.git'
    for (const [seed, sentence] of [
      [source('none'), 'git cannot clone it'],
      [source('missing'), 'there is no such folder'],
      [unreachable, 'git cannot clone it'],
      ['-u./evil', 'give the path or the git address'],
      ['', 'give the path or the git address'],
      ['ext::sh -c "touch ran"', 'only local paths and http, https, ssh and git'],
      ['ftp://example.com/x.git', 'only local paths and http, https, ssh and git'],
      ['https://ada:secret@example.com/x.git', 'holds a password'],
      [`${good}\n`.repeat(2), 'control characters'],
      ['/', 'no name'],
    ] as const) {
      const fault = await hosts.start({ seeds: [{ source: seed }] }).then(
        () => undefined,
        (error: unknown) => String(error),
      )
      expect(fault).toContain(sentence)
      const left = await readdir(hosts.dataDir())
      expect(
        left.filter(
          (name) => !['incoming', 'repositories', 'hooks', 'github.json', 'code-host.json'].includes(name),
        ),
      ).toEqual([])
      for (const name of left.filter((one) => one === 'incoming' || one === 'repositories')) {
        expect(await readdir(join(hosts.dataDir(), name))).toEqual([])
      }
    }
    expect(await readdir(hosts.folder())).not.toContain('ran')
    const local = await hosts.start({ seeds: [{ source: good }] })
    expect(await names(local)).toEqual(['ada/good'])
  })

  test('repository F4: a folder that git cannot read keeps no other back', async () => {
    const [good, broken] = [source('good'), source('broken')]
    await localRepository(good, { a: '1' })
    await localRepository(broken, { a: '1' })
    await writeFile(join(broken, '.git', 'config'), '[core]\nrepositoryformatversion = 99\n')
    const alone = hosts.start({ seeds: [{ source: broken }] })
    await expect(alone).rejects.toThrow(/^--repo .*broken: git cannot clone it: .*repo version/)
    const local = await hosts.start({ seeds: [{ source: broken }, { source: good }] })
    expect(await names(local)).toEqual(['ada/good'])
    expect(local.log.join('\n')).toMatch(/Left out: --repo .*broken: git cannot clone it: .*repo version/)
  })

  test('a host that never answers keeps no other back', async () => {
    await localRepository(source('good'), { a: '1' })
    const silent = createServer()
    const slow = `http://127.0.0.1:${await listen(silent, { host: '127.0.0.1', port: 0 })}/ada/slow.git`
    const git = createGit({ PATH: process.env['PATH'] })
    const impatient: Git = {
      ...git,
      run: (args, options) => git.run(args, { ...options, ...(args.includes(slow) && { timeLimit: 300 }) }),
    }
    await mkdir(hosts.dataDir())
    const store = await openStore(hosts.dataDir())
    const about = { dataDir: hosts.dataDir(), clock: { now: () => new Date() }, tell: () => undefined }
    const repositories = await openRepositories({ ...about, store, git: impatient })
    const log: string[] = []
    const parts = { git: impatient, repositories, log: (line: string) => log.push(line) }
    try {
      const alone = importSeeds([{ source: slow }], parts)
      await expect(alone).rejects.toThrow(/^--repo .*slow\.git: git cannot clone it: .*took too long/)
      await importSeeds([{ source: slow }, { source: source('good') }], parts)
    } finally {
      silent.close()
      silent.closeAllConnections()
    }
    expect(repositories.find('ada', 'good')).toBeDefined()
    expect(log.join('\n')).toMatch(/Left out: --repo .*slow\.git: git cannot clone it: .*took too long/)
    expect(await readdir(join(hosts.dataDir(), 'incoming'))).toEqual([])
  })

  test("repository F4: a folder of another user says so and what to do, also when it became another's later", async (context) => {
    if (process.getuid?.() !== 0) context.skip('only root can give a folder to another user')
    const at = source("some one's")
    await localRepository(at, { a: '1' })
    const first = await hosts.start({ seeds: [{ source: at }] })
    await hosts.stop(first)
    await chown(join(at, '.git'), 12345, 12345)
    const said =
      /belongs to another user than this server's\..* git config --global --add safe\.directory '.*some one'\\''s\/\.git'/
    const again = await hosts.start({ seeds: [{ source: at }] })
    expect(again.log.join('\n')).toMatch(said)
    await hosts.stop(again)
    await rm(hosts.dataDir(), { recursive: true })
    await expect(hosts.start({ seeds: [{ source: at }] })).rejects.toThrow(said)
  })

  test('repository F3: a shallow clone is told of', async () => {
    await localRepository(source('whole'), { a: '1' })
    await commit(source('whole'), 'main', { a: '2' })
    await gitDone(hosts.folder(), ['clone', '-q', '--depth=1', `file://${source('whole')}`, source('part')])
    const local = await hosts.start({ seeds: [{ source: source('part') }] })
    expect(local.log.join('\n')).toMatch(/part is a shallow clone.* git fetch --unshallow/)
  })

  test('a name that another repository has is told', async () => {
    await localRepository(source('a/engine'), { a: '1' })
    await localRepository(source('b/engine'), { b: '1' })
    await expect(
      hosts.start({ seeds: [{ source: source('a/engine') }, { source: source('b/engine') }] }),
    ).rejects.toThrow(`there is a repository ada/engine already, which came from ${source('a/engine')}`)
  })

  test('a git address brings in what the host there has', async () => {
    const there = await hosts.start({ dataDir: join(hosts.folder(), 'there') })
    const local = await hosts.start({ seeds: [{ source: `${there.url}/ada/sample.git` }] })
    expect(await names(local)).toEqual(['ada/sample'])
    expect(await branches(local, 'sample')).toEqual(['main'])
  })

  test.each([
    ['git@example.com:owner/name.git', 'address', 'name'],
    ['ssh://git@example.com:22/owner/name', 'address', 'name'],
    ['https://example.com/owner/name.git/', 'address', 'name'],
    ['/x/name/.git', 'folder', 'name'],
    ['/x/name.js', 'folder', 'name.js'],
    ['file:///x/na%20me', 'folder', 'na-me'],
  ])('%s: kind %s, name %s', (text, kind, name) => {
    expect(placeOf(text)).toMatchObject({ kind, name })
  })
})
