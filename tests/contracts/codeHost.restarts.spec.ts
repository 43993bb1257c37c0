/** What the local code host keeps after a restart and a crash, and what it reports when it cannot start. */
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { git, gitDone, signIn, useLocalHosts } from './codeHost.fixture.ts'

const hosts = useLocalHosts({ ownSamples: true })

describe('restarts', () => {
  test('people, repositories and pull requests are as they were, and tokens still hold', async () => {
    const first = await hosts.start()
    const { accessToken, refreshToken } = await signIn(first.codeHost, 'ada')
    await hosts.pushed(first, accessToken, 'sample', 'feature', { 'a.txt': '1' })
    const at = { owner: 'ada', name: 'sample' }
    const request = { head: 'feature', base: 'main', title: 'A', body: '', draft: true }
    const pull = await first.codeHost.openPullRequest(accessToken, at, request)
    const before = await first.codeHost.repositories(accessToken)
    await hosts.stop(first)

    const { codeHost, url } = await hosts.start()
    const moved = (address: string) => address.replace(first.url, url)
    const after = await codeHost.repositories(accessToken)
    expect(after).toEqual(before.map((one) => ({ ...one, htmlUrl: moved(one.htmlUrl) })))
    expect(await codeHost.branches(accessToken, at)).toEqual(['main', 'feature'])
    const found = await codeHost.findPullRequest(accessToken, at, request)
    expect(found).toEqual({ ...pull, htmlUrl: moved(pull.htmlUrl) })
    expect(await codeHost.refresh(refreshToken ?? '')).toMatchObject({ accessToken: expect.any(String) })
  })

  test('no token is kept in the clear, and others on the machine may not read what is', async () => {
    const local = await hosts.start()
    const { accessToken, refreshToken } = await signIn(local.codeHost, 'ada')
    await hosts.pushed(local, accessToken, 'sample', 'feature', { 'a.txt': '1' })
    const found = await git(hosts.folder(), ['grep', '--no-index', '-l', '-e', 'ghu_', '--', 'data'])
    expect(found).toMatchObject({ code: 1, stdout: '' })
    expect((await stat(hosts.dataDir())).mode & 0o077).toBe(0)
    const state = await readFile(join(hosts.dataDir(), 'code-host.json'), 'utf8')
    expect(state).not.toContain(accessToken)
    expect(state).not.toContain(refreshToken)
    expect(local.log.join('\n')).not.toContain('ghu_')
  })

  test('what a crash left half made is gone, and its place is free', async () => {
    await hosts.stop(await hosts.start())
    await mkdir(join(hosts.dataDir(), 'incoming', 'half.git'), { recursive: true })
    const { codeHost } = await hosts.start()
    expect(await readdir(join(hosts.dataDir(), 'incoming'))).toEqual([])
    const { accessToken } = await signIn(codeHost, 'ada')
    await codeHost.createRepository(accessToken, { name: 'half', description: '', isPrivate: false })
  })

  test('a push that a crash kept from being followed is followed at the next start', async () => {
    const first = await hosts.start()
    const { accessToken } = await signIn(first.codeHost, 'ada')
    await hosts.pushed(first, accessToken, 'sample', 'feature', { 'a.txt': '1' })
    const at = { owner: 'ada', name: 'sample' }
    const request = { head: 'feature', base: 'main', title: 'A', body: '', draft: false }
    await first.codeHost.openPullRequest(accessToken, at, request)
    await hosts.stop(first)
    const bare = join(hosts.dataDir(), 'repositories', '3.git')
    await gitDone(bare, ['update-ref', 'refs/heads/main', 'refs/heads/feature'])
    const { codeHost } = await hosts.start()
    const after = await codeHost.updatePullRequest(accessToken, at, 1, {})
    expect(after).toMatchObject({ state: 'closed', merged: true })
  })

  test('a repository that cannot be read any more is told, and the others are there', async () => {
    const first = await hosts.start()
    const { accessToken } = await signIn(first.codeHost, 'ada')
    await hosts.pushed(first, accessToken, 'sample', 'feature', { 'a.txt': '1' })
    const request = { head: 'feature', base: 'main', title: 'A', body: '', draft: false }
    await first.codeHost.openPullRequest(accessToken, { owner: 'ada', name: 'sample' }, request)
    const before = await first.codeHost.repositories(accessToken)
    await hosts.stop(first)
    await writeFile(join(hosts.dataDir(), 'repositories', '3.git', 'HEAD'), 'damaged')
    const second = await hosts.start()
    expect(await second.codeHost.repositories(accessToken)).toHaveLength(before.length)
    expect(second.log.join('\n')).toContain('the pull requests of ada/sample stay as they were')
  })

  test('state that is damaged or from a newer version is told and not touched', async () => {
    await hosts.stop(await hosts.start())
    const path = join(hosts.dataDir(), 'code-host.json')
    for (const [text, sentence] of [
      ['{"version":1', 'is damaged'],
      ['{"version":3,"more":[]}', 'newer'],
      ['[]', 'is damaged'],
    ] as const) {
      await writeFile(path, text)
      await expect(hosts.start()).rejects.toThrow(sentence)
      expect(await readFile(path, 'utf8')).toBe(text)
    }
  })

  test('state of the first version is read, and kept as what it is now', async () => {
    const first = await hosts.start()
    const { accessToken } = await signIn(first.codeHost, 'ada')
    await hosts.stop(first)
    const path = join(hosts.dataDir(), 'code-host.json')
    const Kept = z.looseObject({ version: z.number(), repositories: z.array(z.looseObject({})) })
    const { version, ...kept } = Kept.parse(JSON.parse(await readFile(path, 'utf8')))
    expect(version).toBe(2)
    // What the first version did not know yet.
    for (const name of [
      'reviews',
      'reviewThreads',
      'reviewComments',
      'issueComments',
      'issues',
      'labels',
      'issueEvents',
      'nextTextId',
    ])
      delete kept[name]
    for (const repository of kept.repositories)
      for (const name of ['archived', 'collaborators']) delete repository[name]
    await writeFile(path, JSON.stringify({ version: 1, ...kept }))
    const { codeHost } = await hosts.start()
    expect(await codeHost.repositories(accessToken)).toHaveLength(kept.repositories.length)
    await codeHost.createRepository(accessToken, { name: 'later', description: '', isPrivate: false })
    expect(Kept.parse(JSON.parse(await readFile(path, 'utf8'))).version).toBe(2)
  })

  test('a port in use, a folder that is none and a missing git are told in a sentence', async () => {
    const server = createServer()
    await new Promise<void>((listening) => {
      server.listen(0, '127.0.0.1', listening)
    })
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    await expect(hosts.start({ port })).rejects.toThrow(
      `Port ${port} of 127.0.0.1 is in use: set CODEHOST_PORT`,
    )
    await new Promise((closed) => server.close(closed))
    await writeFile(join(hosts.folder(), 'file'), '')
    await expect(hosts.start({ dataDir: join(hosts.folder(), 'file', 'data') })).rejects.toThrow(
      'cannot use the folder',
    )
    await expect(hosts.start({ environment: { PATH: hosts.folder() } })).rejects.toThrow('git was not found')
  })
})
