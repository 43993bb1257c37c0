/** The pages of the local code host: pull requests, merging, and who may see which of them. */
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  gitDone,
  origin,
  proofKey,
  redirectUri,
  signIn,
  useLocalHosts,
  visit,
  type LocalCodeHost,
} from './codeHost.fixture.ts'

const hosts = useLocalHosts()

describe('pages', () => {
  const session = async (local: LocalCodeHost, login: string) => {
    const body = new URLSearchParams({ login, return_to: '/' })
    const { headers } = await visit(`${local.url}/login`, { method: 'POST', body })
    return { Cookie: (headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
  }
  const withPull = async (local: LocalCodeHost, name = 'sample') => {
    const token = (await signIn(local.codeHost, 'ada')).accessToken
    await hosts.pushed(local, token, name, 'feature', { 'a.txt': '<script>alert(1)</script>\n  indented\n' })
    const at = { owner: 'ada', name }
    const body = 'Says <b>bold</b>'
    const request = { head: 'feature', base: 'main', title: 'Add <i>a</i>', body, draft: false }
    return { token, at, pull: await local.codeHost.openPullRequest(token, at, request) }
  }

  test('a pull request of a public repository shows its diff without a sign-in, and nothing of it is markup', async () => {
    const local = await hosts.start()
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

  test('the Merge button merges, and the page says so', async () => {
    const local = await hosts.start()
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
    const local = await hosts.start()
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
    const local = await hosts.start()
    const { token, pull } = await withPull(local)
    const tree = join(hosts.folder(), 'tree-sample')
    await gitDone(tree, ['checkout', '-q', 'main'])
    await hosts.pushed(local, token, 'sample', 'main', { 'a.txt': 'another\n' })
    expect((await visit(pull.htmlUrl)).text).toContain('It conflicts with main')
    const tried = await visit(`${pull.htmlUrl}/merge`, { method: 'POST' })
    expect(tried.status).toBe(409)
    expect(tried.text).toContain('both changed a.txt')
  })

  test('private pages are for the account that the browser chose, and merging for who may push', async () => {
    const local = await hosts.start()
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
    const local = await hosts.start()
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
    const local = await hosts.start()
    const token = (await signIn(local.codeHost, 'ada')).accessToken
    await hosts.pushed(local, token, 'sample', 'large', {
      'large.txt': `${'0123456789'.repeat(20)}\n`.repeat(10_000),
    })
    const request = { head: 'large', base: 'main', title: 'Large', body: '', draft: false }
    const pull = await local.codeHost.openPullRequest(token, { owner: 'ada', name: 'sample' }, request)
    const page = await visit(pull.htmlUrl)
    expect(page.text).toContain('The diff is longer than this page shows')
    expect(page.text.length).toBeLessThan(4_000_000)
  })

  test('a repository says how to clone it, with the name that the browser used', async () => {
    const local = await hosts.start()
    const { port } = new URL(local.url)
    for (const name of ['localhost', '127.0.0.1']) {
      const page = await visit(`http://${name}:${port}/ada/sample`)
      expect(page.text).toContain(`git clone http://${name}:${port}/ada/sample.git`)
    }
  })

  test('there are pictures of people, and a page that is not there says so', async () => {
    const local = await hosts.start()
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
      const local = await hosts.start()
      const body = new URLSearchParams({ login: 'ada', return_to: returnTo })
      const { status, headers } = await visit(`${local.url}/login`, { method: 'POST', body })
      expect([status, headers.get('location')]).toEqual([303, '/'])
    },
  )

  test('who comes under a foreign name is refused while it listens on loopback', async () => {
    const local = await hosts.start()
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
