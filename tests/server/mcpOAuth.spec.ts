/** Signing in at a remote MCP server: used by the real claude beside all else that a repository brings, renewed, ended, and kept to itself. */
import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { getTaskHistory } from '#domain/api/history.schema.ts'
import {
  beginOwnMcpSignIn,
  beginProjectMcpSignIn,
  endProjectMcpSignIn,
  finishMcpSignIn,
  getProjectMcpServers,
  setOwnMcpServers,
  setProjectMcpServers,
  testProjectMcpServer,
} from '#domain/api/mcpServers.schema.ts'
import { setProjectSecret } from '#domain/api/projectSettings.schema.ts'
import { commit, git, gitDone } from '../contracts/codeHost.fixture.ts'
import { personWith, type Person } from '../product/person.ts'
import { startSignInServer, type Behaviour, type SignInServer } from '../standins/mcp/authorizationServer.ts'
import { bareRepository } from './pushing.ts'
import { localSettings } from './mcpSettings.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

const ofRepository = {
  'CLAUDE.md': 'The whole is simple.',
  'src/deep/CLAUDE.md': 'Deep files stay small.',
  'src/deep/greeting.ts': 'export {}\n',
  '.claude/skills/greet/SKILL.md':
    '---\nname: greet\ndescription: Greets people\n---\nSay hello to $ARGUMENTS.',
  '.claude/commands/status.md': 'Say how $ARGUMENTS stands.',
  '.claude/agents/checker.md': '---\nname: checker\ndescription: Checks the work\n---\nYou check.',
}
const look = 'env; cat /proc/*/environ /proc/*/cmdline; grep -r swordfish /home /tmp /run /workspace; true'
const add = { name: 'mcp__tiny__add', input: { a: 20, b: 22 } }

let oauth: SignInServer
let scene: Scene
const behaviour: Behaviour = {
  paths: {
    '/away': (_request, response) =>
      void response.writeHead(302, { location: 'http://10.0.0.1/token' }).end(),
  },
}
const told: string[] = []

beforeAll(async () => {
  oauth = await startSignInServer(behaviour)
  scene = await openScene(
    [
      {
        when: /Say how engine stands/,
        turns: [
          {
            tools: [
              add,
              { name: 'mcp__local__whoami', input: {} },
              { name: 'Read', input: { file_path: '/workspace/src/deep/greeting.ts' } },
              {
                name: 'Agent',
                input: { subagent_type: 'checker', description: 'Check', prompt: 'Check the sum' },
              },
            ],
          },
          { tools: [{ name: 'Bash', input: { command: look, description: 'Look around' } }] },
          { tools: [{ name: 'Skill', input: { skill: 'greet', args: 'Bob' } }] },
          { text: 'All is used.' },
        ],
      },
      { when: /Check the sum/, turns: [{ text: 'The sum is right.' }] },
      { when: /^Add/, turns: [{ tools: [add] }, { text: 'Added.' }] },
      { turns: [{ text: 'Fine.' }] },
    ],
    { env: { LOG_LEVEL: 'debug', PRIVATE_EGRESS: '1' } },
  )
  const { dataDir } = scene.product
  const clone = join(dataDir, '..', `${basename(dataDir)}-clone`)
  await git(dataDir, ['clone', '-q', '-b', 'main', await bareRepository(dataDir), clone])
  try {
    await commit(clone, 'main', ofRepository)
    await gitDone(clone, ['push', '-q', 'origin', 'main'])
  } finally {
    await rm(clone, { recursive: true })
  }
})
afterAll(async () => {
  await scene?.close()
  await oauth?.close()
})

const params = () => ({ projectId: scene.projectId })
const tiny = (change: object = {}) => ({
  name: 'tiny',
  enabled: true,
  toolsOff: [],
  kind: 'remote' as const,
  url: oauth.url,
  auth: { kind: 'oauth' as const, clientId: null },
  ...change,
})
async function choose(...servers: readonly object[]): Promise<string> {
  const body = { servers: [...servers] as never }
  const chosen = await scene.ada.ask(setProjectMcpServers, { params: params(), body })
  return chosen.servers[0]?.id ?? ''
}
const origin = () => scene.product.base
const begin = async (serverId: string) =>
  (
    await scene.ada.ask(beginProjectMcpSignIn, {
      params: { ...params(), serverId },
      body: { origin: origin() },
    })
  ).url
const refusedToBegin = (serverId: string) =>
  scene.ada.refused(beginProjectMcpSignIn, {
    params: { ...params(), serverId },
    body: { origin: origin() },
  })
/** What the page of the authorization server returns to ours with. */
async function answerOf(url: string): Promise<string> {
  const response = await fetch(url, { redirect: 'manual' })
  const back = new URL(response.headers.get('location') ?? '')
  expect(back.origin + back.pathname).toBe(`${origin()}/mcp/callback`)
  return back.search
}
const finish = (query: string) => scene.ada.ask(finishMcpSignIn, { body: { query } })
const refused = (query: string, person: Person = scene.ada) =>
  person.refused(finishMcpSignIn, { body: { query } })
async function signIn(serverId: string) {
  return finish(await answerOf(await begin(serverId)))
}
const signIns = async () => (await scene.ada.ask(getProjectMcpServers, { params: params() })).signIns
const tested = async (serverId: string) =>
  (await scene.ada.ask(testProjectMcpServer, { params: { ...params(), serverId } })).test
async function run(description: string) {
  const from = scene.api.requests.length
  const task = await scene.ada.task(scene.projectId, description)
  await scene.ada.taskOnce(task.id, hasEnded)
  const of = { taskId: task.id }
  const { output } = await scene.ada.ask(getTerminal, { params: of })
  const terminal = output.map(({ content }) => content).join('')
  const { items } = await scene.ada.ask(getTaskHistory, { params: of })
  const asked = JSON.stringify(scene.api.requests.slice(from).map(({ body }) => body))
  told.push(terminal, JSON.stringify(items), asked)
  return { terminal, asked }
}
const bearers = () => new Set(oauth.seen.map(({ headers }) => headers.authorization))

test('a skill, a command, a subagent, nested instructions, a local server and one behind a sign-in serve one task', async () => {
  await scene.ada.ask(setProjectSecret, {
    params: { ...params(), name: 'LOCAL_KEY' },
    body: { value: 'trout-of-the-local-server' },
  })
  const serverId = await choose(tiny(), localSettings)
  expect(await tested(serverId)).toEqual({ kind: 'failed', reason: 'Sign in to tiny in the settings.' })

  const page = new URL(await begin(serverId))
  expect(Object.fromEntries(page.searchParams)).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    resource: oauth.url,
    scope: 'tools offline_access',
    prompt: 'consent',
    redirect_uri: `${origin()}/mcp/callback`,
  })
  expect(await finish(await answerOf(page.href))).toMatchObject({ name: 'tiny', projectId: scene.projectId })
  expect(oauth.registrations).toMatchObject([{ client_name: 'Flightdeck' }])
  const { host } = new URL(oauth.origin)
  expect(await signIns()).toMatchObject([{ serverId, issuer: host, isEnded: false }])
  expect(await tested(serverId)).toMatchObject({ kind: 'connected' })

  const { terminal, asked } = await run('/status engine')
  expect(terminal).toContain('MCP server tiny: connected with 3 tools.')
  expect(terminal).toContain('MCP server local: connected with 1 tool.')
  expect(asked).toContain('"text":"42"')
  expect(asked).toContain('variable of 25')
  expect(asked).toContain('Deep files stay small.')
  expect(asked).toContain('You check.')
  expect(asked).toContain('The sum is right.')
  expect(asked).toContain('Say hello to Bob.')
  expect([...bearers()].some((value) => value?.startsWith('Bearer swordfish-access'))).toBe(true)
  expect(terminal + asked).not.toContain('swordfish-access')
})

describe('a sign-in', () => {
  let serverId = ''
  beforeEach(async () => {
    serverId = await choose(tiny())
    await signIn(serverId)
  })
  afterEach(() => {
    delete behaviour.expiresIn
    delete behaviour.metadata
    delete behaviour.resource
    delete behaviour.iss
    delete behaviour.revokedTogether
  })

  test('is renewed before it expires, once for all that wait', async () => {
    behaviour.expiresIn = 30
    await signIn(serverId)
    delete behaviour.expiresIn
    const before = oauth.renewals()
    const tests = await Promise.all([tested(serverId), tested(serverId), tested(serverId)])
    expect(tests.map(({ kind }) => kind)).toEqual(['connected', 'connected', 'connected'])
    expect(oauth.renewals()).toBe(before + 1)
  })

  test('is renewed when its token is refused, and the run goes on with it', async () => {
    oauth.expireAccess()
    const before = oauth.renewals()
    const { terminal, asked } = await run('Add')
    expect(terminal).toContain('MCP server tiny: connected with 3 tools.')
    expect(asked).toContain('"text":"42"')
    expect(oauth.renewals()).toBe(before + 1)
  })

  test('that its server has ended is told of, and the run goes on without', async () => {
    oauth.expireAccess()
    oauth.endRefresh()
    const first = await run('Add')
    expect(first.terminal).toContain('MCP server tiny: failed: Sign in to tiny again.')
    expect(await signIns()).toMatchObject([{ serverId, isEnded: true }])
    const second = await run('Add')
    expect(second.terminal).toContain('MCP server tiny: left out: Sign in to tiny again.')
    await signIn(serverId)
    expect((await run('Add')).terminal).toContain('MCP server tiny: connected with 3 tools.')
  })

  test('is gone when its server gets another address, no longer wants it, or is removed', async () => {
    const changes = [{ url: `${oauth.origin}/elsewhere` }, { auth: { kind: 'none' } }, null]
    for (const change of changes) {
      const before = oauth.revoked.length
      if (change === null) await choose()
      else await choose(tiny({ id: serverId, ...change }))
      expect(oauth.revoked.length).toBe(before + 1)
      serverId = await choose(tiny(change === null ? {} : { id: serverId }))
      expect(await signIns()).toEqual([])
      expect(await tested(serverId)).toMatchObject({ reason: 'Sign in to tiny in the settings.' })
      await signIn(serverId)
    }
  })

  test('is ended by signing out, which revokes it', async () => {
    await scene.ada.ask(endProjectMcpSignIn, { params: { ...params(), serverId } })
    expect(oauth.revoked.at(-1)).toMatch(/^swordfish-refresh/)
    expect(await signIns()).toEqual([])
  })

  test('is ended together with others, of which none waits for another', async () => {
    await choose(...['one', 'two', 'three', 'four'].map((name) => tiny({ name })))
    const { servers } = await scene.ada.ask(getProjectMcpServers, { params: params() })
    for (const { id } of servers) await signIn(id)
    const before = oauth.revoked.length
    behaviour.revokedTogether = servers.length
    await choose()
    expect(oauth.revoked).toHaveLength(before + 4)
  })

  test('is made as a client that the person entered', async () => {
    serverId = await choose(tiny({ id: serverId, auth: { kind: 'oauth', clientId: 'entered' } }))
    const before = oauth.registrations.length
    expect(new URL(await begin(serverId)).searchParams.get('client_id')).toBe('entered')
    await signIn(serverId)
    expect(oauth.registrations.length).toBe(before)
  })

  test('is for one answer with its own state, in the session that began it', async () => {
    const notBegun = { status: 422, error: expect.stringMatching(/was not begun here/) }
    const query = await answerOf(await begin(serverId))
    expect(await refused(query.replace(/state=[^&]+/, 'state=guessed'))).toMatchObject(notBegun)
    const again = await scene.product.signIn('ada', { onboarding: 'left' })
    expect(await refused(query, personWith(origin(), again.token))).toMatchObject(notBegun)
    const grace = await scene.product.signIn('grace')
    expect(await refused(query, grace)).toMatchObject(notBegun)
    expect(await finish(query)).toMatchObject({ name: 'tiny' })
    expect(await refused(query)).toMatchObject(notBegun)
    // Another one takes its place.
    const old = await answerOf(await begin(serverId))
    await begin(serverId)
    expect(await refused(old)).toMatchObject(notBegun)
  })

  test('is begun by the owner alone', async () => {
    const grace = await scene.product.signIn('grace')
    const asked = { params: { ...params(), serverId }, body: { origin: origin() } }
    expect(await grace.refused(beginProjectMcpSignIn, asked)).toMatchObject({ status: 404 })
    expect(await grace.refused(beginOwnMcpSignIn, asked)).toMatchObject({ status: 404 })
    expect(await grace.refused(endProjectMcpSignIn, { params: asked.params })).toMatchObject({ status: 404 })
    const { servers } = await scene.ada.ask(setOwnMcpServers, { body: { servers: [tiny()] } })
    const own = { params: { serverId: servers[0]?.id ?? '' }, body: { origin: origin() } }
    const query = await answerOf((await scene.ada.ask(beginOwnMcpSignIn, own)).url)
    expect(await finish(query)).toMatchObject({ projectId: null })
    await scene.ada.ask(setOwnMcpServers, { body: { servers: [] } })
  })

  test('that comes from another server than it was begun at is refused', async () => {
    behaviour.iss = 'https://other.example'
    const query = await answerOf(await begin(serverId))
    expect(await refused(query)).toMatchObject({
      status: 422,
      error: expect.stringMatching(/cannot be used/),
    })
  })

  test('that was not given is refused in words', async () => {
    const state = new URL(await begin(serverId)).searchParams.get('state') ?? ''
    const iss = encodeURIComponent(`${oauth.origin}/issuer`)
    expect(await refused(`?error=access_denied&state=${state}&iss=${iss}`)).toMatchObject({
      error: 'Signing in to tiny failed. Access was not given.',
    })
  })

  test.each<[string, Behaviour, RegExp]>([
    [
      'leads into a private network',
      { metadata: () => ({ registration_endpoint: 'https://10.0.0.1/r' }) },
      /10\.0\.0\.1/,
    ],
    [
      'redirects into one',
      { metadata: (at) => ({ registration_endpoint: `${at}/away` }) },
      /redirects to another address/,
    ],
    [
      'names a page that is a script',
      { metadata: () => ({ authorization_endpoint: 'javascript:alert(1)' }) },
      /without TLS/,
    ],
    [
      'offers no PKCE',
      { metadata: () => ({ code_challenge_methods_supported: ['plain'] }) },
      /does not offer PKCE/,
    ],
    ['is another than it says', { metadata: () => ({ issuer: 'https://other.example' }) }, /cannot be used/],
    [
      'registers no clients',
      { metadata: () => ({ registration_endpoint: undefined }) },
      /registers no clients/,
    ],
    [
      'is that of another resource',
      { resource: () => ({ resource: 'https://other.example/mcp' }) },
      /another server/,
    ],
    [
      'sends metadata without an end',
      { resource: () => ({ more: 'x'.repeat(5_000_000) }) },
      /more than 4 MiB/,
    ],
  ])('is not begun where the authorization server %s', async (_, change, why) => {
    Object.assign(behaviour, change)
    expect(await refusedToBegin(serverId)).toMatchObject({ status: 422, error: expect.stringMatching(why) })
  })

  test('whose tokens would come by a redirect gets none', async () => {
    behaviour.metadata = (at) => ({ token_endpoint: `${at}/away` })
    const query = await answerOf(await begin(serverId))
    expect(await refused(query)).toMatchObject({
      error: expect.stringMatching(/redirects to another address/),
    })
  })
})

test('codes, tokens and states are in no log, event, answer or file', async () => {
  expect(oauth.given.length).toBeGreaterThan(20)
  const { dataDir } = scene.product
  const kept = await readdir(dataDir, { recursive: true, withFileTypes: true })
  for (const file of kept.filter((entry) => entry.isFile())) {
    const bytes = await readFile(join(file.parentPath, file.name)).catch(() => Buffer.alloc(0))
    for (const form of ['swordfish-', ...oauth.given.flatMap(encoded)])
      expect(bytes.includes(form), `${form} in ${file.name}`).toBe(false)
  }
  const said = [...told, scene.product.logs.stdout, scene.product.logs.stderr].join('\n')
  for (const secret of oauth.given)
    for (const form of [secret, ...encoded(secret)]) expect(said).not.toContain(form)
})

const encoded = (secret: string) => [
  Buffer.from(secret).toString('base64').slice(0, -2),
  Buffer.from(secret).toString('hex'),
]
