/** What the local code host is beyond GitHub's API: pages, OAuth page, git over HTTP in the rough, seeds, restarts. */
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { agentTraceRef } from '#domain/provenance/agentTrace.ts'
import type { CodeHostOptions } from '../../services/codehost/codehost.ts'
import { placeOf } from '../../services/codehost/seeds.ts'
import {
  authorize,
  clientId,
  clientSecret,
  commit,
  git,
  gitDone,
  localRepository,
  origin,
  proofKey,
  redirectUri,
  signIn,
  startLocal,
  temporaryFolder,
  type Folder,
  type LocalCodeHost,
} from './codeHost.fixture.ts'

let folder: Folder
const running: LocalCodeHost[] = []
beforeEach(async () => {
  folder = await temporaryFolder()
})
afterEach(async () => {
  for (const local of running.splice(0)) await local.stop()
  await folder.remove()
})

const dataDir = () => join(folder.path, 'data')
async function start(options: Partial<CodeHostOptions> = {}): Promise<LocalCodeHost> {
  const local = await startLocal(dataDir(), options)
  running.push(local)
  return local
}
const stop = async (local: LocalCodeHost) => {
  running.splice(running.indexOf(local), 1)
  await local.stop()
}

/** A request as a browser or a program makes it, without following redirects. */
async function visit(url: string, init: RequestInit = {}) {
  const response = await fetch(url, { redirect: 'manual', ...init })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Changes on a branch of a repository on the host, pushed. */
async function pushed(
  local: LocalCodeHost,
  token: string,
  name: string,
  branch: string,
  files: Record<string, string>,
): Promise<string> {
  const access = await local.codeHost.gitAccess(token, { owner: 'ada', name })
  const tree = join(folder.path, `tree-${name}`)
  const there = await git(tree, ['status']).catch(() => ({ code: 1 }))
  if (there.code !== 0) await gitDone(folder.path, ['clone', '-q', access.url, tree], access)
  const sha = await commit(tree, branch, files)
  await gitDone(tree, ['push', '-q', 'origin', branch], access)
  return sha
}

describe('the OAuth page', () => {
  const asked = (local: LocalCodeHost, change: Record<string, string> = {}) => {
    const url = new URL(`${local.url}/login/oauth/authorize`)
    const fields = { client_id: clientId, redirect_uri: redirectUri, state: 'a"<b>', ...change }
    for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value)
    return url.toString()
  }

  test('shows both accounts and a way back, loads nothing, and may be framed by nobody', async () => {
    const page = await visit(asked(await start()))
    expect(page.status).toBe(200)
    expect(page.text).toContain('Ada Lovelace')
    expect(page.text).toContain('Grace Hopper')
    expect(page.text).toMatch(
      /href="http:\/\/localhost:8080\/api\/auth\/github\/callback\?error=access_denied&amp;[^"]*state=a%22%3Cb%3E"/,
    )
    expect(page.text).not.toMatch(/<script|https:\/\//)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('the link of an account lets the app in', async () => {
    const local = await start()
    const page = await visit(asked(local))
    const link = /href="([^"]*login=grace)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const back = await visit(`${local.url}${link}`)
    expect(back.status).toBe(302)
    const address = new URL(back.headers.get('location') ?? '')
    expect(address.searchParams.get('state')).toBe('a"<b>')
    expect(address.searchParams.get('code')).toMatch(/^[0-9a-f]{40}$/)
  })

  test('an account that is not here is told, and nobody is sent anywhere', async () => {
    const page = await visit(asked(await start(), { login: '<img src=x>' }))
    expect(page.status).toBe(400)
    expect(page.text).toContain('There is no account &quot;&lt;img src=x&gt;&quot; here.')
  })

  test.each([
    ['https://evil.example/callback', 400],
    ['http://evil.example/callback', 400],
    ['http://localhost@evil.example/', 400],
    ['http://ada:pw@localhost:8080/', 400],
    ['https://localhost:8080/', 400],
    ['javascript:alert(1)', 400],
    ['//localhost/', 400],
    ['http://localhost.evil.example/', 400],
    ['http://127.0.0.1:9/x', 302],
    ['http://[::1]:8080/x', 302],
    ['https://flightdeck.example/api/auth/github/callback', 302],
  ])('a return address %s is answered with %i', async (redirect, status) => {
    const local = await start({ redirectUris: ['https://flightdeck.example/api/auth/github/callback'] })
    const page = await visit(asked(local, { redirect_uri: redirect, login: 'ada' }))
    expect([page.status, page.headers.has('location')]).toEqual([status, status === 302])
  })

  test('an app that is not registered, and a challenge in the clear, are refused', async () => {
    const local = await start()
    expect((await visit(asked(local, { client_id: 'another', login: 'ada' }))).status).toBe(404)
    const plain = { code_challenge: 'x', code_challenge_method: 'plain', login: 'ada' }
    expect((await visit(asked(local, plain))).status).toBe(400)
  })

  test('codes and tokens run out by the clock', async () => {
    let now = new Date('2025-06-01T12:00:00.000Z')
    const later = (minutes: number) => {
      now = new Date(now.getTime() + minutes * 60_000)
    }
    const { codeHost } = await start({ clock: { now: () => now } })
    const { verifier, challenge } = proofKey()
    const request = { state: 's', redirectUri, codeChallenge: challenge, origin }
    const back = await authorize(await codeHost.authorizeUrl(request), 'ada')
    later(11)
    const code = back.searchParams.get('code') ?? ''
    const exchanged = codeHost.exchangeCode({ code, redirectUri, codeVerifier: verifier })
    await expect(exchanged).rejects.toMatchObject({ kind: 'unauthorized' })
    const tokens = await signIn(codeHost, 'ada')
    expect(tokens.expiresAt).toBe(new Date(now.getTime() + 8 * 3_600_000).toISOString())
    later(8 * 60 + 1)
    await expect(codeHost.account(tokens.accessToken)).rejects.toMatchObject({ kind: 'unauthorized' })
    const fresh = await codeHost.refresh(tokens.refreshToken ?? '')
    expect(await codeHost.account(fresh.accessToken)).toMatchObject({ login: 'ada' })
    later(185 * 24 * 60)
    await expect(codeHost.refresh(fresh.refreshToken ?? '')).rejects.toMatchObject({ kind: 'unauthorized' })
  })

  test('tokens are answered as a form or as JSON, and asked for by either', async () => {
    const local = await start()
    const exchange = async (headers: Record<string, string>, body: string) => {
      return visit(`${local.url}/login/oauth/access_token`, { method: 'POST', headers, body })
    }
    const code = async () => {
      const { headers } = await visit(asked(local, { login: 'ada' }))
      return new URL(headers.get('location') ?? '').searchParams.get('code') ?? ''
    }
    const app = { client_id: clientId, client_secret: clientSecret }
    const form = await exchange(
      { 'Content-Type': 'application/x-www-form-urlencoded' },
      new URLSearchParams({ ...app, code: await code() }).toString(),
    )
    expect(new URLSearchParams(form.text).get('access_token')).toMatch(/^ghu_[0-9A-Za-z]{36}$/)
    const json = await exchange(
      { 'Content-Type': 'application/json', Accept: 'application/json' },
      JSON.stringify({ ...app, code: await code() }),
    )
    expect(JSON.parse(json.text)).toMatchObject({ token_type: 'bearer', expires_in: 28_800 })
    const wrong = await exchange(
      { 'Content-Type': 'application/json', Accept: 'application/json' },
      JSON.stringify({ ...app, client_secret: 'guess', code: await code() }),
    )
    expect(JSON.parse(wrong.text)).toMatchObject({ error: 'incorrect_client_credentials' })
  })
})

describe('pages', () => {
  const session = async (local: LocalCodeHost, login: string) => {
    const body = new URLSearchParams({ login, return_to: '/' })
    const { headers } = await visit(`${local.url}/login`, { method: 'POST', body })
    return { Cookie: (headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
  }
  const withPull = async (local: LocalCodeHost, name = 'sample') => {
    const token = (await signIn(local.codeHost, 'ada')).accessToken
    await pushed(local, token, name, 'feature', { 'a.txt': '<script>alert(1)</script>\n  indented\n' })
    const at = { owner: 'ada', name }
    const body = 'Says <b>bold</b>'
    const request = { head: 'feature', base: 'main', title: 'Add <i>a</i>', body, draft: false }
    return { token, at, pull: await local.codeHost.openPullRequest(token, at, request) }
  }

  test('a pull request of a public repository shows its diff without a sign-in, and nothing of it is markup', async () => {
    const local = await start()
    const { pull } = await withPull(local)
    const page = await visit(pull.htmlUrl)
    expect(page.status).toBe(200)
    expect(page.text).toContain('Add &lt;i&gt;a&lt;/i&gt;')
    expect(page.text).toContain('Says &lt;b&gt;bold&lt;/b&gt;')
    expect(page.text).toMatch(/<tr class="added">[^]*?&lt;script&gt;alert\(1\)&lt;\/script&gt;/)
    expect(page.text).toContain('<td>  indented</td>')
    expect(page.text).toContain('1 commit ')
    expect(page.text).not.toContain('<script')
  })

  test('a pull request says who wrote its lines, by the notes beside its commits and nothing else', async () => {
    const local = await start()
    const { token, at, pull } = await withPull(local)
    const tree = join(folder.path, 'tree-sample')
    const files = {
      'odd "name".txt': 'by an agent\nby an agent too\nby a person\nnobody knows\n',
      '-x': 'x\n',
    }
    const revision = await pushed(local, token, 'sample', 'feature', files)
    const access = await local.codeHost.gitAccess(token, at)
    const noted = async (note: unknown) => {
      const text = typeof note === 'string' ? note : JSON.stringify(note)
      await gitDone(tree, ['notes', `--ref=${agentTraceRef}`, 'add', '-f', '-m', text, revision])
      await gitDone(tree, ['push', '-q', '--force', 'origin', agentTraceRef], access)
      return (await visit(pull.htmlUrl)).text
    }
    const by = (type: string, url: string, from: number, to: number) => ({
      url,
      contributor: { type, model_id: 'anthropic/<i>opus</i>' },
      ranges: [{ start_line: from, end_line: to }],
    })
    const record = (...conversations: unknown[]) => ({
      version: '0.1.0',
      id: '0199c6c2-2222-7000-8000-000000000001',
      timestamp: '2026-11-25T20:00:00.000Z',
      vcs: { type: 'git', revision },
      files: [{ path: 'odd "name".txt', conversations }],
    })
    expect((await visit(pull.htmlUrl)).text).not.toContain('class="o')
    const task = 'https://flightdeck.example/tasks/1/history?at=2&b="'
    const page = await noted(record(by('ai', task, 1, 2), by('human', 'javascript:alert(1)', 3, 3)))
    const cells = [...page.matchAll(/<td class="(o[^"]*)"[^>]*>([^]*?)<\/td>/g)].map(([, name, text]) => [
      name,
      text?.trim().replaceAll(/\s+/g, ' '),
    ])
    const link =
      '<a href="https://flightdeck.example/tasks/1/history?at=2&amp;b=%22" rel="noreferrer nofollow" aria-label="AI: anthropic/&lt;i&gt;opus&lt;/i&gt;: the conversation">AI</a>'
    expect(cells).toEqual(
      expect.arrayContaining([
        ['o ai', link],
        ['o ai', '<span class="unseen">AI</span>'],
        ['o human', 'Human'],
        ['o', ''],
      ]),
    )
    expect(page).not.toContain('javascript:')
    expect(page).not.toContain('<i>opus')
    // A note of another commit, one that is no record, and one that is no JSON say nothing.
    for (const other of [{ ...record(), vcs: { type: 'git', revision: 'c'.repeat(40) } }, { files: 3 }, '{'])
      expect(await noted(other)).not.toContain('class="o')
  })

  test('the Merge button merges, and the page says so', async () => {
    const local = await start()
    const { token, at, pull } = await withPull(local)
    const merged = await visit(`${pull.htmlUrl}/merge`, {
      method: 'POST',
      headers: { Origin: 'null', 'Sec-Fetch-Site': 'same-origin' },
    })
    expect(merged.status).toBe(303)
    const page = await visit(new URL(merged.headers.get('location') ?? '', local.url).toString())
    expect(page.text).toContain('Merged by Ada Lovelace')
    expect(page.text).toMatch(/<tr class="added">/)
    const after = await local.codeHost.updatePullRequest(token, at, 1, {})
    expect(after).toMatchObject({ state: 'closed', merged: true })
    const again = await visit(`${pull.htmlUrl}/merge`, { method: 'POST' })
    expect(again.status).toBe(409)
  })

  test("another site's form merges nothing and signs nobody in", async () => {
    const local = await start()
    const { pull } = await withPull(local)
    for (const headers of [
      { Origin: 'http://evil.example' },
      { Origin: 'null' },
      { Origin: 'http://localhost:1' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site', Origin: local.url },
    ] as Record<string, string>[]) {
      expect((await visit(`${pull.htmlUrl}/merge`, { method: 'POST', headers })).status).toBe(403)
      const body = new URLSearchParams({ login: 'ada' })
      expect((await visit(`${local.url}/login`, { method: 'POST', headers, body })).status).toBe(403)
    }
    expect((await visit(pull.htmlUrl)).text).toContain('Merge pull request')
  })

  test('a conflict is told on the page', async () => {
    const local = await start()
    const { token, pull } = await withPull(local)
    const tree = join(folder.path, 'tree-sample')
    await gitDone(tree, ['checkout', '-q', 'main'])
    await pushed(local, token, 'sample', 'main', { 'a.txt': 'another\n' })
    expect((await visit(pull.htmlUrl)).text).toContain('It conflicts with main')
    const tried = await visit(`${pull.htmlUrl}/merge`, { method: 'POST' })
    expect(tried.status).toBe(409)
    expect(tried.text).toContain('both changed a.txt')
  })

  test('private pages are for the account that the browser chose, and merging for who may push', async () => {
    const local = await start()
    const { pull } = await withPull(local, 'notes')
    const hidden = await visit(pull.htmlUrl)
    expect(hidden.status).toBe(404)
    expect(hidden.text).not.toContain('Add')
    const [ada, grace] = [await session(local, 'ada'), await session(local, 'grace')]
    expect((await visit(pull.htmlUrl, { headers: grace })).status).toBe(404)
    expect((await visit(pull.htmlUrl, { headers: ada })).text).toContain('Merge pull request')
    const open = await withPull(local)
    const seen = await visit(open.pull.htmlUrl, { headers: grace })
    expect(seen.text).toContain('Only people who can push to ada can merge.')
    const tried = await visit(`${open.pull.htmlUrl}/merge`, { method: 'POST', headers: grace })
    expect(tried.status).toBe(403)
  })

  test('signing in with the app lets the browser see private pages', async () => {
    const local = await start()
    const { verifier: _, challenge } = proofKey()
    const address = await local.codeHost.authorizeUrl({
      state: 's',
      redirectUri,
      codeChallenge: challenge,
      origin,
    })
    const { headers } = await visit(`${address}&login=ada`)
    const Cookie = (headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    expect(headers.get('set-cookie')).toMatch(/; path=\/; .*httponly/i)
    expect((await visit(`${local.url}/ada/notes`, { headers: { Cookie } })).status).toBe(200)
  })

  test('a diff of more than a megabyte is cut, with a word about it', async () => {
    const local = await start()
    const token = (await signIn(local.codeHost, 'ada')).accessToken
    await pushed(local, token, 'sample', 'large', {
      'large.txt': `${'0123456789'.repeat(20)}\n`.repeat(10_000),
    })
    const request = { head: 'large', base: 'main', title: 'Large', body: '', draft: false }
    const pull = await local.codeHost.openPullRequest(token, { owner: 'ada', name: 'sample' }, request)
    const page = await visit(pull.htmlUrl)
    expect(page.text).toContain('The diff is longer than this page shows')
    expect(page.text.length).toBeLessThan(4_000_000)
  })

  test('a repository says how to clone it, with the name that the browser used', async () => {
    const local = await start()
    const { port } = new URL(local.url)
    for (const name of ['localhost', '127.0.0.1']) {
      const page = await visit(`http://${name}:${port}/ada/sample`)
      expect(page.text).toContain(`git clone http://${name}:${port}/ada/sample.git`)
    }
  })

  test('there are pictures of people, and a page that is not there says so', async () => {
    const local = await start()
    const token = (await signIn(local.codeHost, 'ada')).accessToken
    const picture = await visit((await local.codeHost.account(token)).avatarUrl)
    expect(picture.headers.get('content-type')).toContain('image/svg+xml')
    expect(picture.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    for (const path of [
      '/nobody',
      '/ada/nothing',
      '/ada/sample/pull/7',
      '/%2e%2e/etc',
      '/login/oauth/nothing',
    ]) {
      expect((await visit(`${local.url}${path}`)).status).toBe(404)
    }
  })

  test.each(['//evil.example', '/\\evil.example', 'https://evil.example', '/a#b', ''])(
    'after a sign-in nobody is sent to %j',
    async (returnTo) => {
      const local = await start()
      const body = new URLSearchParams({ login: 'ada', return_to: returnTo })
      const { status, headers } = await visit(`${local.url}/login`, { method: 'POST', body })
      expect([status, headers.get('location')]).toEqual([303, '/'])
    },
  )

  test('who comes under a foreign name is refused while it listens on loopback', async () => {
    const local = await start()
    const { port } = new URL(local.url)
    const answer = await new Promise<string>((answered) => {
      let text = ''
      const socket = connect(Number(port), '127.0.0.1', () =>
        socket.write('GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n'),
      )
      socket.setEncoding('utf8').on('data', (chunk) => (text += chunk))
      socket.on('close', () => answered(text))
    })
    expect(answer).toMatch(/^HTTP\/1.1 421 /)
  })
})

describe('git over HTTP', () => {
  const sample = { owner: 'ada', name: 'sample' }

  test('a large push and a clone of it come through, and hooks in the repository are not run', async () => {
    const local = await start()
    const token = (await signIn(local.codeHost, 'ada')).accessToken
    const hooks = join(dataDir(), 'repositories', '3.git', 'hooks')
    await mkdir(hooks, { recursive: true })
    for (const hook of ['pre-receive', 'update', 'post-receive', 'reference-transaction']) {
      await writeFile(join(hooks, hook), `#!/bin/sh\ntouch ${join(folder.path, 'ran')}\n`)
      await chmod(join(hooks, hook), 0o755)
    }
    const large = randomBytes(6_000_000).toString('base64')
    await pushed(local, token, 'sample', 'large', { 'large.bin': large })
    const { url } = await local.codeHost.gitAccess(token, sample)
    await gitDone(folder.path, ['clone', '-q', '-b', 'large', url, 'again'])
    expect(await readFile(join(folder.path, 'again', 'large.bin'), 'utf8')).toBe(large)
    expect(await readdir(folder.path)).not.toContain('ran')
  })

  test('a compressed request is understood', async () => {
    const local = await start()
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
    const local = await start()
    const token = (await signIn(local.codeHost, 'ada')).accessToken
    const access = await local.codeHost.gitAccess(token, sample)
    await pushed(local, token, 'sample', 'feature', { 'a.txt': '1' })
    const tree = join(folder.path, 'tree-sample')
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
    const local = await start()
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
    const local = await start()
    const token = (await signIn(local.codeHost, 'ada')).accessToken
    const { url, authorization } = await local.codeHost.gitAccess(token, sample)
    const { port, pathname } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1')
    await new Promise((connected) => socket.once('connect', connected))
    socket.write(
      `POST ${pathname}/git-receive-pack HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: ${authorization}\r\n` +
        'Content-Type: application/x-git-receive-pack-request\r\nContent-Length: 100000\r\n\r\n00',
    )
    await expect.poll(() => gitProcesses(dataDir()), { timeout: 5_000 }).not.toEqual([])
    socket.destroy()
    await expect.poll(() => gitProcesses(dataDir()), { timeout: 5_000 }).toEqual([])
    const before = Date.now()
    await stop(local)
    expect(Date.now() - before).toBeLessThan(2_500)
  })

  test('stopping ends what is under way within seconds', async () => {
    const local = await start()
    const { url } = await local.codeHost.gitAccess('none', sample)
    const { port, pathname } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => undefined)
    await new Promise((connected) => socket.once('connect', connected))
    socket.write(
      `POST ${pathname}/git-upload-pack HTTP/1.1\r\nHost: localhost\r\n` +
        'Content-Type: application/x-git-upload-pack-request\r\nContent-Length: 9\r\n\r\n0',
    )
    await expect.poll(() => gitProcesses(dataDir()), { timeout: 5_000 }).not.toEqual([])
    const before = Date.now()
    await stop(local)
    expect(Date.now() - before).toBeLessThan(6_000)
    expect(await gitProcesses(dataDir())).toEqual([])
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

describe('restarts', () => {
  test('people, repositories and pull requests are as they were, and tokens still hold', async () => {
    const first = await start()
    const { accessToken, refreshToken } = await signIn(first.codeHost, 'ada')
    await pushed(first, accessToken, 'sample', 'feature', { 'a.txt': '1' })
    const at = { owner: 'ada', name: 'sample' }
    const request = { head: 'feature', base: 'main', title: 'A', body: '', draft: true }
    const pull = await first.codeHost.openPullRequest(accessToken, at, request)
    const before = await first.codeHost.repositories(accessToken)
    await stop(first)

    const { codeHost, url } = await start()
    const moved = (address: string) => address.replace(first.url, url)
    const after = await codeHost.repositories(accessToken)
    expect(after).toEqual(before.map((one) => ({ ...one, htmlUrl: moved(one.htmlUrl) })))
    expect(await codeHost.branches(accessToken, at)).toEqual(['main', 'feature'])
    const found = await codeHost.findPullRequest(accessToken, at, request)
    expect(found).toEqual({ ...pull, htmlUrl: moved(pull.htmlUrl) })
    expect(await codeHost.refresh(refreshToken ?? '')).toMatchObject({ accessToken: expect.any(String) })
  })

  test('no token is kept in the clear, and others on the machine may not read what is', async () => {
    const local = await start()
    const { accessToken, refreshToken } = await signIn(local.codeHost, 'ada')
    await pushed(local, accessToken, 'sample', 'feature', { 'a.txt': '1' })
    const found = await git(folder.path, ['grep', '--no-index', '-l', '-e', 'ghu_', '--', 'data'])
    expect(found).toMatchObject({ code: 1, stdout: '' })
    expect((await stat(dataDir())).mode & 0o077).toBe(0)
    const state = await readFile(join(dataDir(), 'code-host.json'), 'utf8')
    expect(state).not.toContain(accessToken)
    expect(state).not.toContain(refreshToken)
    expect(local.log.join('\n')).not.toContain('ghu_')
  })

  test('what a crash left half made is gone, and its place is free', async () => {
    await stop(await start())
    await mkdir(join(dataDir(), 'incoming', 'half.git'), { recursive: true })
    const { codeHost } = await start()
    expect(await readdir(join(dataDir(), 'incoming'))).toEqual([])
    const { accessToken } = await signIn(codeHost, 'ada')
    await codeHost.createRepository(accessToken, { name: 'half', description: '', isPrivate: false })
  })

  test('a push that a crash kept from being followed is followed at the next start', async () => {
    const first = await start()
    const { accessToken } = await signIn(first.codeHost, 'ada')
    await pushed(first, accessToken, 'sample', 'feature', { 'a.txt': '1' })
    const at = { owner: 'ada', name: 'sample' }
    const request = { head: 'feature', base: 'main', title: 'A', body: '', draft: false }
    await first.codeHost.openPullRequest(accessToken, at, request)
    await stop(first)
    const bare = join(dataDir(), 'repositories', '3.git')
    await gitDone(bare, ['update-ref', 'refs/heads/main', 'refs/heads/feature'])
    const { codeHost } = await start()
    const after = await codeHost.updatePullRequest(accessToken, at, 1, {})
    expect(after).toMatchObject({ state: 'closed', merged: true })
  })

  test('state that is damaged or from a newer version is told and not touched', async () => {
    await stop(await start())
    const path = join(dataDir(), 'code-host.json')
    for (const [text, sentence] of [
      ['{"version":1', 'is damaged'],
      ['{"version":3,"more":[]}', 'newer'],
      ['[]', 'is damaged'],
    ] as const) {
      await writeFile(path, text)
      await expect(start()).rejects.toThrow(sentence)
      expect(await readFile(path, 'utf8')).toBe(text)
    }
  })

  test('state of the first version is read, and kept as what it is now', async () => {
    const first = await start()
    const { accessToken } = await signIn(first.codeHost, 'ada')
    await stop(first)
    const path = join(dataDir(), 'code-host.json')
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
      'reactions',
      'checkRuns',
      'statuses',
      'nextTextId',
    ])
      delete kept[name]
    for (const repository of kept.repositories)
      for (const name of ['archived', 'formerNames', 'protections', 'collaborators']) delete repository[name]
    await writeFile(path, JSON.stringify({ version: 1, ...kept }))
    const { codeHost } = await start()
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
    await expect(start({ port })).rejects.toThrow(`Port ${port} of 127.0.0.1 is in use: set CODEHOST_PORT`)
    await new Promise((closed) => server.close(closed))
    await writeFile(join(folder.path, 'file'), '')
    await expect(start({ dataDir: join(folder.path, 'file', 'data') })).rejects.toThrow(
      'cannot use the folder',
    )
    await expect(start({ environment: { PATH: folder.path } })).rejects.toThrow('git was not found')
  })
})

describe('samples', () => {
  test('are there when there is nothing else, with the same commits on every machine', async () => {
    const local = await start()
    const { accessToken } = await signIn(local.codeHost, 'ada')
    const found = await local.codeHost.repositories(accessToken)
    expect(found.map((one) => [one.fullName, one.isPrivate, one.language])).toEqual([
      ['ada/sample', false, 'JavaScript'],
      ['acme/handbook', false, null],
      ['ada/notes', true, null],
    ])
    const { url } = await local.codeHost.gitAccess(accessToken, { owner: 'ada', name: 'sample' })
    expect(
      (await gitDone(folder.path, ['ls-remote', url, 'refs/heads/main'])).split('\t')[0],
    ).toMatchInlineSnapshot(`"36d4966a519b4ef5177bce8764cc25c703e813a0"`)
    await gitDone(folder.path, ['clone', '-q', url, 'clone'])
    expect(await readdir(join(folder.path, 'clone'))).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'src', 'test']),
    )
    await stop(local)
    const again = await start()
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
  const source = (name: string) => join(folder.path, name)

  test("a person's repository becomes a public one of ada, without stash, remote branches or hooks", async () => {
    const at = source('My Engine')
    await localRepository(at, { 'a.py': 'print(1)\n' })
    await commit(at, 'feature', { 'b.py': 'print(2)\n' })
    await gitDone(at, ['tag', 'v1'])
    await writeFile(join(at, 'b.py'), 'print(3)\n')
    await gitDone(at, ['stash', '-q'])
    await gitDone(at, ['update-ref', 'refs/remotes/origin/theirs', 'HEAD'])
    await writeFile(join(at, '.git', 'hooks', 'post-checkout'), '#!/bin/sh\ntouch ../ran\n', { mode: 0o755 })
    const local = await start({ seeds: [{ source: at }, { source: `${at}/` }] })
    expect(await names(local)).toEqual(['ada/My-Engine'])
    const { accessToken } = await signIn(local.codeHost, 'ada')
    const found = await local.codeHost.repository(accessToken, { owner: 'ada', name: 'My-Engine' })
    expect(found).toMatchObject({ isPrivate: false, language: 'Python', defaultBranch: 'feature' })
    const { url } = await local.codeHost.gitAccess(accessToken, found)
    const refs = (await gitDone(folder.path, ['ls-remote', url])).replace(/^\S+\t/gm, '').split('\n')
    expect(refs).toEqual(['HEAD', 'refs/heads/feature', 'refs/heads/main', 'refs/tags/v1'])
    expect(await readdir(folder.path)).not.toContain('ran')
  })

  test("it has the owner's own description, or says where it came from", async () => {
    await localRepository(source('engine'), { '.git/description': 'It computes.\n', 'a.py': '' })
    await localRepository(source('notes'), { 'a.md': '' })
    const local = await start({ seeds: [{ source: source('engine') }, { source: source('notes') }] })
    const { accessToken } = await signIn(local.codeHost, 'ada')
    const described = async (name: string) =>
      (await local.codeHost.repository(accessToken, { owner: 'ada', name })).description
    expect(await described('engine')).toBe('It computes.')
    expect(await described('notes')).toBe('Imported from a local folder')
  })

  test('brought in again it takes over what is new, and keeps what went another way here', async () => {
    const at = source('engine')
    await localRepository(at, { 'a.txt': '1\n' })
    const first = await start({ seeds: [{ source: at }] })
    const { accessToken } = await signIn(first.codeHost, 'ada')
    const here = await pushed(first, accessToken, 'engine', 'both', { 'here.txt': '1\n' })
    await stop(first)
    const main = await commit(at, 'main', { 'a.txt': '2\n' })
    await commit(at, 'both', { 'there.txt': '1\n' })
    await commit(at, 'added', { 'c.txt': '1\n' })
    const second = await start({ seeds: [{ source: at }] })
    expect(await branches(second, 'engine')).toEqual(['main', 'added', 'both'])
    const { url } = await second.codeHost.gitAccess(accessToken, { owner: 'ada', name: 'engine' })
    const refs = await gitDone(folder.path, ['ls-remote', url])
    expect(refs).toContain(`${here}\trefs/heads/both`)
    expect(refs).toContain(`${main}\trefs/heads/main`)
    expect(second.log.join()).toContain('ada/engine is not all as in')
    await stop(second)
    await rm(at, { recursive: true })
    await expect(start({ seeds: [{ source: at }] })).rejects.toThrow('there is no such folder')
    expect(await branches(await start(), 'engine')).toHaveLength(3)
  })

  test.each<[string, (at: string) => Promise<unknown>, readonly string[]]>([
    ['empty', async (at) => gitDone(folder.path, ['init', '-q', at]), []],
    [
      'bare',
      async (at) => {
        await localRepository(`${at}-tree`, { a: '1' })
        await gitDone(folder.path, ['clone', '-q', '--bare', `${at}-tree`, at])
      },
      ['main'],
    ],
    [
      'shallow',
      async (at) => {
        await localRepository(`${at}-tree`, { a: '1' })
        await commit(`${at}-tree`, 'main', { a: '2' })
        await gitDone(folder.path, ['clone', '-q', '--depth=1', `file://${at}-tree`, at])
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
    const local = await start({ seeds: [{ source: source('engine') }] })
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
      const fault = await start({ seeds: [{ source: seed }] }).then(
        () => undefined,
        (error: unknown) => String(error),
      )
      expect(fault).toContain(sentence)
      const left = await readdir(dataDir())
      expect(
        left.filter((name) => !['incoming', 'repositories', 'hooks', 'code-host.json'].includes(name)),
      ).toEqual([])
      for (const name of left.filter((one) => one === 'incoming' || one === 'repositories')) {
        expect(await readdir(join(dataDir(), name))).toEqual([])
      }
    }
    expect(await readdir(folder.path)).not.toContain('ran')
    const local = await start({ seeds: [{ source: good }] })
    expect(await names(local)).toEqual(['ada/good'])
  })

  test('a name that another repository has is told', async () => {
    await localRepository(source('a/engine'), { a: '1' })
    await localRepository(source('b/engine'), { b: '1' })
    await expect(
      start({ seeds: [{ source: source('a/engine') }, { source: source('b/engine') }] }),
    ).rejects.toThrow(`there is a repository ada/engine already, which came from ${source('a/engine')}`)
  })

  test('a git address brings in what the host there has', async () => {
    const there = await startLocal(join(folder.path, 'there'))
    running.push(there)
    const local = await start({ seeds: [{ source: `${there.url}/ada/sample.git` }] })
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
