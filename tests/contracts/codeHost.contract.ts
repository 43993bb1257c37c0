/** What every code host must do, tested through its adapter. */
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CodeHostFault, type CodeHost, type RepositoryName } from '#platform/ports/codeHost.ts'
import {
  authorize,
  commit,
  git,
  gitDone,
  origin,
  proofKey,
  redirectUri,
  signIn,
  temporaryFolder,
  type Folder,
} from './codeHost.fixture.ts'

export interface OpenCodeHost {
  readonly codeHost: CodeHost
  /** The address of the host's pages. */
  readonly serverUrl: string
  readonly apiUrl: string
  readonly close: () => Promise<void>
}

/** Requires that the host has the people `ada` and `grace`, and the organisation `acme`, which ada owns. */
export function codeHostContract(name: string, open: () => Promise<OpenCodeHost>): void {
  describe(`code host: ${name}`, () => {
    let opened: OpenCodeHost
    let host: CodeHost
    let folder: Folder
    beforeEach(async () => {
      opened = await open()
      host = opened.codeHost
      folder = await temporaryFolder()
    })
    afterEach(async () => {
      await opened.close()
      await folder.remove()
    })

    const tokenOf = async (login: string) => (await signIn(host, login)).accessToken
    const create = (token: string, name: string, isPrivate = false) =>
      host.createRepository(token, { name, description: 'Made by a test', isPrivate })

    /** A repository on the host with the branches `main` and `feature`, and a working tree of it. */
    async function withFeature(token: string): Promise<{ at: RepositoryName; tree: string }> {
      const made = await create(token, 'engine')
      const at = { owner: made.owner, name: made.name }
      const access = await host.gitAccess(token, at)
      const tree = join(folder.path, 'tree')
      await gitDone(folder.path, ['clone', '-q', access.url, tree], access)
      await commit(tree, 'main', { 'README.md': 'engine\n' })
      await commit(tree, 'feature', { 'src/mill.js': 'export const mill = 1\n' })
      await gitDone(tree, ['push', '-q', 'origin', 'main', 'feature'], access)
      return { at, tree }
    }
    const request = { head: 'feature', base: 'main', title: 'Add the mill', body: 'It grinds.', draft: false }

    describe('sign-in', () => {
      test('a person who lets us in comes back with a code, the state, and tokens for it', async () => {
        const { verifier, challenge } = proofKey()
        const address = await host.authorizeUrl({
          state: 'a state',
          redirectUri,
          codeChallenge: challenge,
          origin,
        })
        const back = await authorize(address, 'ada')
        expect(`${back.origin}${back.pathname}`).toBe(redirectUri)
        expect(back.searchParams.get('state')).toBe('a state')
        const code = back.searchParams.get('code') ?? ''
        const tokens = await host.exchangeCode({ code, redirectUri, codeVerifier: verifier })
        expect(await host.account(tokens.accessToken)).toMatchObject({ login: 'ada', name: 'Ada Lovelace' })
      })

      test('a code works once, and only with the verifier of its challenge', async () => {
        const { verifier, challenge } = proofKey()
        const codeOf = async () => {
          const asked = await host.authorizeUrl({ state: 's', redirectUri, codeChallenge: challenge, origin })
          return (await authorize(asked, 'ada')).searchParams.get('code') ?? ''
        }
        const stolen = await codeOf()
        const another = proofKey().verifier
        await expect(
          host.exchangeCode({ code: stolen, redirectUri, codeVerifier: another }),
        ).rejects.toMatchObject({ kind: 'unauthorized' })
        const code = await codeOf()
        await host.exchangeCode({ code, redirectUri, codeVerifier: verifier })
        await expect(host.exchangeCode({ code, redirectUri, codeVerifier: verifier })).rejects.toMatchObject({
          kind: 'unauthorized',
        })
      })

      test('a refresh token brings new tokens, once; the old access ends', async () => {
        const first = await signIn(host, 'ada')
        const second = await host.refresh(first.refreshToken ?? '')
        expect(await host.account(second.accessToken)).toMatchObject({ login: 'ada' })
        await expect(host.account(first.accessToken)).rejects.toMatchObject({ kind: 'unauthorized' })
        await expect(host.refresh(first.refreshToken ?? '')).rejects.toMatchObject({ kind: 'unauthorized' })
      })

      test('an access that was ended is refused; ending it twice, or what never was, is no fault', async () => {
        const tokens = await signIn(host, 'ada')
        await host.revoke(tokens.accessToken)
        await expect(host.account(tokens.accessToken)).rejects.toMatchObject({ kind: 'unauthorized' })
        await expect(host.refresh(tokens.refreshToken ?? '')).rejects.toMatchObject({ kind: 'unauthorized' })
        await host.revoke(tokens.accessToken)
        await host.revoke('ghu_neverGiven')
      })

      test('the access of one person says nothing of another', async () => {
        const [ada, grace] = [await tokenOf('ada'), await tokenOf('grace')]
        expect((await host.account(ada)).id).not.toBe((await host.account(grace)).id)
        expect((await host.account(grace)).login).toBe('grace')
      })
    })

    describe('repositories', () => {
      test('a new one is empty, and says which branch will be the first', async () => {
        const token = await tokenOf('ada')
        const made = await create(token, 'engine', true)
        expect(made).toMatchObject({
          owner: 'ada',
          name: 'engine',
          fullName: 'ada/engine',
          description: 'Made by a test',
          isPrivate: true,
          defaultBranch: 'main',
          language: null,
        })
        expect(made.htmlUrl).toBe(`${opened.serverUrl}/ada/engine`)
        expect(await host.branches(token, made)).toEqual([])
        expect(await host.repository(token, made)).toEqual(made)
      })

      test('the one changed last comes first in the list', async () => {
        const token = await tokenOf('ada')
        await create(token, 'first')
        await create(token, 'second')
        const names = (await host.repositories(token)).map((repository) => repository.name)
        expect(names.slice(0, 2)).toEqual(['second', 'first'])
      })

      test('more than a page of them is read to the end', async () => {
        const token = await tokenOf('grace')
        const names = Array.from({ length: 103 }, (_, index) => `repository-${index}`)
        for (const name of names) await create(token, name)
        const found = (await host.repositories(token)).map((repository) => repository.name)
        expect(found.sort()).toEqual(names.sort())
      })

      test('a name that is taken is refused with the reason, and one that is not there is not found', async () => {
        const token = await tokenOf('ada')
        await create(token, 'engine')
        await expect(create(token, 'Engine')).rejects.toMatchObject({
          kind: 'invalid',
          message: expect.stringContaining('already exists'),
        })
        await expect(host.repository(token, { owner: 'ada', name: 'nothing' })).rejects.toMatchObject({
          kind: 'not_found',
        })
      })

      test('of many made at the same time with one name there is one', async () => {
        const token = await tokenOf('ada')
        const made = await Promise.allSettled(Array.from({ length: 8 }, () => create(token, 'engine')))
        expect(made.filter((one) => one.status === 'fulfilled')).toHaveLength(1)
        const found = await host.repositories(token)
        expect(found.filter((one) => one.name === 'engine')).toHaveLength(1)
      })

      test("another's private repository is not found, and is in no list of theirs", async () => {
        const [ada, grace] = [await tokenOf('ada'), await tokenOf('grace')]
        const made = await create(ada, 'engine', true)
        await expect(host.repository(grace, made)).rejects.toMatchObject({ kind: 'not_found' })
        await expect(host.branches(grace, made)).rejects.toMatchObject({ kind: 'not_found' })
        expect(await host.repositories(grace)).not.toContainEqual(made)
      })

      test('a person sees the organisations they belong to', async () => {
        const [ada, grace] = [await tokenOf('ada'), await tokenOf('grace')]
        expect(await host.organizations(ada)).toMatchObject([{ login: 'acme' }])
        expect(await host.organizations(grace)).toEqual([])
      })

      test('a person is in an organisation and its team, or is not', async () => {
        const [ada, grace] = [await tokenOf('ada'), await tokenOf('grace')]
        const isIn = (token: string, login: string, organization: string, team: string | null = null) =>
          host.membership(token, { organization, team, login })
        expect(await isIn(ada, 'ada', 'acme')).toEqual({ organizationId: '2001' })
        expect(await isIn(ada, 'ada', 'ACME', 'core')).toEqual({ organizationId: '2001' })
        expect(await isIn(ada, 'ada', 'acme', 'elsewhere')).toBeUndefined()
        expect(await isIn(ada, 'ada', 'nobody')).toBeUndefined()
        expect(await isIn(grace, 'grace', 'acme')).toBeUndefined()
        // Nobody is a member of a team that they cannot see.
        expect(await isIn(grace, 'ada', 'acme', 'core')).toBeUndefined()
      })

      test('a token that is none is refused everywhere', async () => {
        const at = { owner: 'ada', name: 'engine' }
        const asked = [
          host.account('ghu_no'),
          host.repositories('ghu_no'),
          host.organizations('ghu_no'),
          host.membership('ghu_no', { organization: 'acme', team: null, login: 'ada' }),
          host.repository('ghu_no', at),
          host.branches('ghu_no', at),
          host.branch('ghu_no', at, 'main'),
          host.deleteBranch('ghu_no', at, 'feature'),
          host.isInOpenPullRequest('ghu_no', at, 'feature'),
          create('ghu_no', 'engine'),
          host.findPullRequest('ghu_no', at, { head: 'a', base: 'b' }),
          host.openPullRequest('ghu_no', at, request),
          host.updatePullRequest('ghu_no', at, 1, { title: 'x' }),
          host.pullRequestStates('ghu_no', [{ repository: at, number: 1 }]),
        ]
        for (const answer of await Promise.allSettled(asked)) {
          expect(answer).toMatchObject({ status: 'rejected', reason: { kind: 'unauthorized' } })
        }
      })

      test.each(['..', '.', '', 'a/b', '-x', 'a b', 'a?b', 'a%2fb', '.git/../x'])(
        'a repository called %j is not found, and asks for nothing elsewhere',
        async (name) => {
          const token = await tokenOf('ada')
          for (const at of [
            { owner: 'ada', name },
            { owner: name, name: 'engine' },
          ]) {
            await expect(host.repository(token, at)).rejects.toMatchObject({ kind: 'not_found' })
            await expect(host.gitAccess(token, at)).rejects.toMatchObject({ kind: 'not_found' })
          }
        },
      )
    })

    describe('git', () => {
      test('what is pushed is there: the branches, the default one first, and the language', async () => {
        const token = await tokenOf('ada')
        const { at } = await withFeature(token)
        expect(await host.branches(token, at)).toEqual(['main', 'feature'])
        const access = await host.gitAccess(token, at)
        await gitDone(folder.path, ['clone', '-q', '-b', 'feature', access.url, 'again'], access)
        expect(await gitDone(join(folder.path, 'again'), ['log', '--format=%s', '-1'])).toContain('mill')
      })

      test('many pushes at the same time all arrive, and their pull requests with them', async () => {
        const token = await tokenOf('ada')
        const { at, tree } = await withFeature(token)
        const access = await host.gitAccess(token, at)
        const names = Array.from({ length: 8 }, (_, index) => `feature-${index}`)
        const opened = await Promise.all(
          names.map(async (head) => {
            await gitDone(tree, ['push', '-q', 'origin', `feature:refs/heads/${head}`], access)
            return host.openPullRequest(token, at, { ...request, head })
          }),
        )
        expect(new Set(opened.map((pull) => pull.number)).size).toBe(names.length)
        expect(await host.branches(token, at)).toEqual(['main', 'feature', ...names])
      })

      test('the header is what lets git in, and the address holds no secret', async () => {
        const token = await tokenOf('ada')
        const made = await create(token, 'engine', true)
        const access = await host.gitAccess(token, made)
        expect(access.url).toBe(`${opened.serverUrl}/ada/engine.git`)
        expect(access.url).not.toContain(token)
        const without = await git(folder.path, ['ls-remote', access.url])
        expect(without.code).not.toBe(0)
        await gitDone(folder.path, ['ls-remote', access.url], access)
      })

      test('another person reads what is public, may push nowhere, and does not find what is private', async () => {
        const [ada, grace] = [await tokenOf('ada'), await tokenOf('grace')]
        const { at, tree } = await withFeature(ada)
        const hers = await host.gitAccess(grace, at)
        await gitDone(folder.path, ['ls-remote', hers.url], hers)
        const pushed = await git(tree, ['push', 'origin', 'feature:refs/heads/by-grace'], hers)
        expect(pushed.code).not.toBe(0)
        expect(await host.branches(ada, at)).not.toContain('by-grace')
        const hidden = await host.gitAccess(grace, await create(ada, 'secret', true))
        expect((await git(folder.path, ['ls-remote', hidden.url], hidden)).code).not.toBe(0)
      })

      test('branches of every shape that git allows are told by their names', async () => {
        const token = await tokenOf('ada')
        const { at, tree } = await withFeature(token)
        const names = [
          'feat/ürsprung',
          'flightdeck/two/deep',
          'a%2Fb',
          'quote"s',
          "it's",
          '<b>',
          '$(id)',
          'x;y',
          '日本',
          'a&b=c',
          'q#1',
        ]
        for (const name of names) await gitDone(tree, ['branch', name, 'feature'])
        const access = await host.gitAccess(token, at)
        await gitDone(tree, ['push', '-q', 'origin', ...names], access)
        expect(await host.branches(token, at)).toEqual(expect.arrayContaining(names))
        for (const head of names) {
          const opened = await host.openPullRequest(token, at, { ...request, head })
          expect(await host.findPullRequest(token, at, { head, base: 'main' })).toEqual(opened)
          expect(await host.isInOpenPullRequest(token, at, head)).toBe(true)
          expect(await host.branch(token, at, head)).toBeDefined()
          await host.deleteBranch(token, at, head)
          expect(await host.branch(token, at, head)).toBeUndefined()
          expect(await host.isInOpenPullRequest(token, at, head)).toBe(false)
        }
        expect(await host.branches(token, at)).toEqual(['main', 'feature'])
      })

      test('a branch is told with its commit and its files, and a deleted one is gone for good', async () => {
        const token = await tokenOf('ada')
        const { at, tree } = await withFeature(token)
        const named = (what: string) => gitDone(tree, ['rev-parse', what])
        expect(await host.branch(token, at, 'feature')).toEqual({
          commit: (await named('feature')).trim(),
          tree: (await named('feature^{tree}')).trim(),
        })
        expect(await host.branch(token, at, 'nowhere')).toBeUndefined()
        await expect(host.branch(token, { ...at, name: 'nothing' }, 'main')).rejects.toMatchObject({
          kind: 'not_found',
        })
        expect(await host.isInOpenPullRequest(token, at, 'main')).toBe(false)
        await host.openPullRequest(token, at, request)
        expect(await host.isInOpenPullRequest(token, at, 'main')).toBe(true)
        await host.deleteBranch(token, at, 'feature')
        await host.deleteBranch(token, at, 'feature')
        expect(await host.branches(token, at)).toEqual(['main'])
        expect(await host.findPullRequest(token, at, request)).toBeUndefined()
      })

      test('who may not push deletes no branch, and nobody the default one', async () => {
        const [ada, grace] = [await tokenOf('ada'), await tokenOf('grace')]
        const { at } = await withFeature(ada)
        await expect(host.deleteBranch(grace, at, 'feature')).rejects.toBeInstanceOf(CodeHostFault)
        await expect(host.deleteBranch(ada, at, 'main')).rejects.toMatchObject({ kind: 'invalid' })
        expect(await host.branches(ada, at)).toEqual(['main', 'feature'])
      })
    })

    describe('pull requests', () => {
      test('one that was opened is found by its branches, and by no others', async () => {
        const token = await tokenOf('ada')
        const { at } = await withFeature(token)
        expect(await host.findPullRequest(token, at, request)).toBeUndefined()
        const opened = await host.openPullRequest(token, at, request)
        expect(opened).toMatchObject({ number: 1, state: 'open', merged: false })
        expect(opened.htmlUrl).toMatch(/\/ada\/engine\/pull\/1$/)
        expect(await host.findPullRequest(token, at, request)).toEqual(opened)
        expect(await host.findPullRequest(token, at, { head: 'feature', base: 'other' })).toBeUndefined()
        const { number } = opened
        expect(await host.findPullRequest(token, at, { head: 'feature', base: 'other', number })).toEqual(
          opened,
        )
        expect(await host.findPullRequest(token, at, { head: 'main', base: 'other', number })).toBeUndefined()
        expect(await host.findPullRequest(token, at, { head: 'main', base: 'main' })).toBeUndefined()
      })

      test('of many opened at the same time for the same branches there is one', async () => {
        const token = await tokenOf('ada')
        const { at } = await withFeature(token)
        const opened = await Promise.allSettled(
          Array.from({ length: 8 }, () => host.openPullRequest(token, at, request)),
        )
        expect(opened.filter((one) => one.status === 'fulfilled')).toHaveLength(1)
        expect(await host.findPullRequest(token, at, request)).toMatchObject({ number: 1 })
      })

      test('its title and text can be changed', async () => {
        const token = await tokenOf('ada')
        const { at } = await withFeature(token)
        const { number } = await host.openPullRequest(token, at, request)
        const updated = await host.updatePullRequest(token, at, number, { title: 'Add a mill', body: 'New' })
        expect(updated).toMatchObject({ number, state: 'open' })
        await expect(host.updatePullRequest(token, at, 99, { title: 'x' })).rejects.toMatchObject({
          kind: 'not_found',
        })
      })

      test('a second one for the same branches, one without commits, and one for no branch are refused with the reason', async () => {
        const token = await tokenOf('ada')
        const { at, tree } = await withFeature(token)
        const access = await host.gitAccess(token, at)
        await gitDone(tree, ['push', '-q', 'origin', 'main:refs/heads/same'], access)
        await host.openPullRequest(token, at, request)
        const refused = async (change: Partial<typeof request>) => {
          const fault: unknown = await host
            .openPullRequest(token, at, { ...request, ...change })
            .catch((error: unknown) => error)
          expect(fault).toBeInstanceOf(CodeHostFault)
          expect(fault).toMatchObject({ kind: 'invalid' })
          return fault instanceof CodeHostFault ? fault.message : ''
        }
        expect(await refused({})).toContain('already exists')
        expect(await refused({ head: 'same' })).toContain('No commits between main and same')
        expect(await refused({ head: 'nowhere' })).toContain('head')
        expect(await refused({ base: 'nowhere' })).toContain('base')
      })

      test('a person without the right to push opens none', async () => {
        const [ada, grace] = [await tokenOf('ada'), await tokenOf('grace')]
        const { at } = await withFeature(ada)
        await expect(host.openPullRequest(grace, at, request)).rejects.toBeInstanceOf(CodeHostFault)
        expect(await host.findPullRequest(ada, at, request)).toBeUndefined()
      })

      test('one whose work reached the base branch by a push counts as merged', async () => {
        const token = await tokenOf('ada')
        const { at, tree } = await withFeature(token)
        const { number } = await host.openPullRequest(token, at, request)
        await gitDone(tree, ['push', '-q', 'origin', 'feature:main'], await host.gitAccess(token, at))
        expect(await host.findPullRequest(token, at, request)).toBeUndefined()
        const after = await host.updatePullRequest(token, at, number, { body: 'Done' })
        expect(after).toMatchObject({ state: 'closed', merged: true })
      })
    })

    describe('how pull requests stand', () => {
      const change = (token: string, at: RepositoryName, method: string, rest: string, body: object) =>
        fetch(`${opened.apiUrl}/repos/${at.owner}/${at.name}/pulls/${rest}`, {
          method,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }).then(({ status }) => expect(status).toBe(200))

      test('is read by number, and then by the id that it has on the host', async () => {
        const token = await tokenOf('ada')
        const { at, tree } = await withFeature(token)
        const { number } = await host.openPullRequest(token, at, { ...request, draft: true })
        const [first] = await host.pullRequestStates(token, [{ repository: at, number }])
        const { id } = await host.repository(token, at)
        const headCommit = (await gitDone(tree, ['rev-parse', 'feature'])).trim()
        expect(first).toEqual({
          kind: 'read',
          pullRequest: {
            number,
            nodeId: expect.any(String),
            repositoryId: id,
            state: 'open',
            draft: true,
            headCommit,
            updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
            mergedAt: null,
            mergedBy: null,
            standing: { review: null, checks: null, checksReadable: true },
          },
          isFork: false,
          repository: at,
        })
        if (first?.kind !== 'read') throw new Error('It was read.')
        const { nodeId } = first.pullRequest
        await change(token, at, 'PATCH', `${number}`, { state: 'closed' })
        const closed = await host.pullRequestStates(token, [{ nodeId }])
        expect(closed).toMatchObject([{ kind: 'read', pullRequest: { number, state: 'closed' } }])
        await change(token, at, 'PATCH', `${number}`, { state: 'open' })
        expect(await host.pullRequestStates(token, [{ nodeId }])).toMatchObject([
          { kind: 'read', pullRequest: { number, state: 'open' } },
        ])
      })

      test('names who merged one', async () => {
        const token = await tokenOf('ada')
        const { at } = await withFeature(token)
        const { number } = await host.openPullRequest(token, at, request)
        await change(token, at, 'PUT', `${number}/merge`, {})
        expect(await host.pullRequestStates(token, [{ repository: at, number }])).toMatchObject([
          { kind: 'read', pullRequest: { state: 'merged', mergedBy: 'ada', mergedAt: expect.any(String) } },
        ])
      })

      test('is told of those that can be read, also where others cannot', async () => {
        const [ada, grace] = [await tokenOf('ada'), await tokenOf('grace')]
        const { at } = await withFeature(ada)
        const { number } = await host.openPullRequest(ada, at, request)
        const hidden = await create(ada, 'hidden', true)
        const readings = await host.pullRequestStates(grace, [
          { nodeId: 'unknown' },
          { repository: { owner: 'ada', name: 'nothing' }, number: 1 },
          { repository: at, number },
          { repository: hidden, number: 1 },
          { repository: at, number: 99 },
        ])
        expect(readings.map((one) => (one.kind === 'read' ? one.pullRequest.number : one.code))).toEqual([
          'not_found',
          'not_found',
          number,
          'not_found',
          'not_found',
        ])
        expect(await host.pullRequestStates(ada, [])).toEqual([])
      })
    })

    describe('addresses of repositories', () => {
      const parsed = { owner: 'ada', name: 'engine.js' }
      test.each(['', '.git', '/', '.git/'])('the page of one is known, also with %j behind it', (ending) => {
        expect(host.parseRepositoryUrl(`${opened.serverUrl}/ada/engine.js${ending}`)).toEqual(parsed)
      })

      test("git's own address is known", () => {
        const { hostname } = new URL(opened.serverUrl)
        expect(host.parseRepositoryUrl(`git@${hostname}:ada/engine.js.git`)).toEqual(parsed)
        expect(host.parseRepositoryUrl(`ssh://git@${hostname}/ada/engine.js.git`)).toEqual(parsed)
      })

      test.each([
        'https://elsewhere.example/ada/engine',
        'git@elsewhere.example:ada/engine.git',
        'ada/engine',
        'file:///ada/engine',
        'ext::sh -c id',
        '--upload-pack=id',
        '',
      ])('%j is none', (address) => {
        expect(host.parseRepositoryUrl(address)).toBeUndefined()
      })

      test.each(['/ada', '/', '/ada/..', '/ada/engine/tree/main', '/-x/engine', '/ada/-x', '/a%20b/engine'])(
        '%j on the host is none',
        (path) => {
          expect(host.parseRepositoryUrl(`${opened.serverUrl}${path}`)).toBeUndefined()
        },
      )

      test('an address that holds a password is not taken', () => {
        const address = opened.serverUrl.replace('//', '//ada:secret@')
        expect(host.parseRepositoryUrl(`${address}/ada/engine`)).toBeUndefined()
      })
    })
  })
}
