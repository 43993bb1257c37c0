/** Git over HTTP on the local code host: pushes, clones, refused refs, and clients that disconnect. */
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { git, gitDone, signIn, useLocalHosts, visit } from './codeHost.fixture.ts'

const hosts = useLocalHosts()

describe('git over HTTP', () => {
  const sample = { owner: 'ada', name: 'sample' }

  test('a large push and a clone of it come through, and hooks in the repository are not run', async () => {
    const local = await hosts.start()
    const token = (await signIn(local.codeHost, 'ada')).accessToken
    const hooks = join(hosts.dataDir(), 'repositories', '3.git', 'hooks')
    await mkdir(hooks, { recursive: true })
    for (const hook of ['pre-receive', 'update', 'post-receive', 'reference-transaction']) {
      await writeFile(join(hooks, hook), `#!/bin/sh\ntouch ${join(hosts.folder(), 'ran')}\n`)
      await chmod(join(hooks, hook), 0o755)
    }
    const large = randomBytes(6_000_000).toString('base64')
    await hosts.pushed(local, token, 'sample', 'large', { 'large.bin': large })
    const { url } = await local.codeHost.gitAccess(token, sample)
    await gitDone(hosts.folder(), ['clone', '-q', '-b', 'large', url, 'again'])
    expect(await readFile(join(hosts.folder(), 'again', 'large.bin'), 'utf8')).toBe(large)
    expect(await readdir(hosts.folder())).not.toContain('ran')
  })

  test('a compressed request is understood', async () => {
    const local = await hosts.start()
    const { url } = await local.codeHost.gitAccess('none', sample)
    const answer = await visit(`${url}/git-upload-pack`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-git-upload-pack-request',
        'Content-Encoding': 'gzip',
        'Git-Protocol': 'version=2',
      },
      body: gzipSync('0014command=ls-refs\n0000'),
    })
    expect(answer.text).toContain('refs/heads/main')
  })

  test('forced pushes are taken; refs of pull requests and odd paths are not', async () => {
    const local = await hosts.start()
    const token = (await signIn(local.codeHost, 'ada')).accessToken
    const access = await local.codeHost.gitAccess(token, sample)
    await hosts.pushed(local, token, 'sample', 'feature', { 'a.txt': '1' })
    const tree = join(hosts.folder(), 'tree-sample')
    await gitDone(tree, ['commit', '-q', '--amend', '-m', 'Another'])
    await gitDone(tree, ['push', '-q', '--force', 'origin', 'feature'], access)
    expect((await git(tree, ['push', 'origin', 'feature:refs/pull/1/head'], access)).code).not.toBe(0)
    const { url } = access
    for (const path of [
      '/info/refs',
      '/info/refs?service=git-shell',
      '/HEAD',
      '/objects/info/packs',
      '/..%2f..%2fcode-host.json',
    ]) {
      expect((await visit(`${url}${path}`)).status).toBeGreaterThanOrEqual(400)
    }
  })

  test('a token is asked for before it is said whether a repository is there', async () => {
    const local = await hosts.start()
    const { accessToken: grace } = await signIn(local.codeHost, 'grace')
    const refs = (name: string, service: string, headers: Record<string, string> = {}) =>
      visit(`${local.url}/ada/${name}.git/info/refs?service=${service}`, { headers })
    for (const name of ['notes', 'nothing']) {
      const asked = await refs(name, 'git-upload-pack')
      expect(asked.status).toBe(401)
      expect(asked.headers.get('www-authenticate')).toMatch(/^Basic /)
      const hers = { Authorization: `Bearer ${grace}` }
      expect((await refs(name, 'git-upload-pack', hers)).status).toBe(404)
    }
    expect((await refs('sample', 'git-receive-pack')).status).toBe(401)
    const denied = await refs('sample', 'git-receive-pack', { Authorization: `Bearer ${grace}` })
    expect([denied.status, denied.text.trim()]).toEqual([
      403,
      'Permission to ada/sample.git denied to grace.',
    ])
    expect((await refs('sample', 'git-upload-pack', { Authorization: 'Basic !!' })).status).toBe(401)
  })

  test('a client that goes away in the middle leaves no process, and stopping does not wait for it', async () => {
    const local = await hosts.start()
    const token = (await signIn(local.codeHost, 'ada')).accessToken
    const { url, authorization } = await local.codeHost.gitAccess(token, sample)
    const { port, pathname } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1')
    await new Promise((connected) => socket.once('connect', connected))
    socket.write(
      `POST ${pathname}/git-receive-pack HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: ${authorization}\r\n` +
        'Content-Type: application/x-git-receive-pack-request\r\nContent-Length: 100000\r\n\r\n00',
    )
    await expect.poll(() => gitProcesses(hosts.dataDir())).not.toEqual([])
    socket.destroy()
    await expect.poll(() => gitProcesses(hosts.dataDir())).toEqual([])
    await hosts.stop(local)
  })

  test('pushes to a repository that git cannot read leave room for other requests', async () => {
    const local = await hosts.start()
    const token = (await signIn(local.codeHost, 'ada')).accessToken
    const { url, authorization } = await local.codeHost.gitAccess(token, { owner: 'ada', name: 'notes' })
    await rm(join(hosts.dataDir(), 'repositories'), { recursive: true })
    const push = () =>
      visit(`${url}/git-receive-pack`, { method: 'POST', headers: { Authorization: authorization } })
    const failed = await Promise.all(Array.from({ length: 32 }, push))
    expect(new Set(failed.map(({ status }) => status))).toEqual(new Set([500]))
    expect((await push()).status).toBe(500)
  })

  test('stopping ends what is under way within seconds', async () => {
    const local = await hosts.start()
    const { url } = await local.codeHost.gitAccess('none', sample)
    const { port, pathname } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => undefined)
    await new Promise((connected) => socket.once('connect', connected))
    socket.write(
      `POST ${pathname}/git-upload-pack HTTP/1.1\r\nHost: localhost\r\n` +
        'Content-Type: application/x-git-upload-pack-request\r\nContent-Length: 9\r\n\r\n0',
    )
    await expect.poll(() => gitProcesses(hosts.dataDir())).not.toEqual([])
    await hosts.stop(local)
    expect(await gitProcesses(hosts.dataDir())).toEqual([])
    socket.destroy()
  })
})

/** Processes of git that serve repositories under `dir`, by their environment. */
async function gitProcesses(dir: string): Promise<string[]> {
  const found: string[] = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const environ = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
    if (environ.includes(`GIT_PROJECT_ROOT=${dir}`)) found.push(pid)
  }
  return found
}
