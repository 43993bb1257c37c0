/** All environment variables are read and checked together. */
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { tokenKindOf } from '#domain/codeHostToken.ts'
import { addressForCodeHost, codeHostAddresses, ownAddress, publicAddress } from './addresses.ts'
import { BadConfig, readConfig } from './config.ts'
import { describeVariables } from './variables.ts'

/** The faults in this environment, as sentences. */
function faultsOf(env: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig(env)
    return []
  } catch (fault) {
    if (fault instanceof BadConfig) return fault.faults
    throw fault
  }
}

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'flightdeck-config-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('nothing needs to be set', () => {
  expect(readConfig({})).toMatchObject({
    port: 8080,
    codeHostPort: 8081,
    host: '127.0.0.1',
    dataDir: resolve('./data'),
    publicUrl: null,
    masterKey: undefined,
    codeHost: { kind: 'local' },
    agents: { claude: { program: undefined, apiKey: undefined, baseUrl: 'https://api.anthropic.com' } },
    sandbox: 'auto',
    toolchains: ['go', 'rust', 'java', 'maven', 'gradle', 'node', 'python', 'chrome'],
    privateEgress: false,
    privateHosts: [],
    metricsPort: null,
    otlpEndpoint: null,
    genAiTraces: false,
    originNotes: false,
    commitSigner: null,
    logLevel: 'warn',
    unused: [],
  })
})

test.each([
  'FEEDBACK_GATHER_SECONDS',
  'GITHUB_POLL_SECONDS',
  'IDLE_AGENT_SECONDS',
  'MODEL_RETRY_SECONDS',
  'RUN_SECONDS',
  'SEAL_SECONDS',
  'SILENT_AGENT_SECONDS',
])('%s is at most what a timer can wait', (name) => {
  expect(faultsOf({ [name]: '2073600' })).toEqual([])
  expect(faultsOf({ [name]: '2073601' })).toEqual([`${name}: is at most 2073600.`])
})

test('what is set is taken, without the space around it; what is set to nothing is not set', () => {
  const env = { PORT: ' 9000 ', CODEHOST_PORT: '', HOST: ' ', DATA_DIR: '/var/lib/x', PATH: '/bin' }
  expect(readConfig(env)).toMatchObject({
    port: 9000,
    codeHostPort: 8081,
    host: '127.0.0.1',
    dataDir: '/var/lib/x',
    path: '/bin',
    environment: env,
  })
})

test('traces follow the conventions for generative AI only where that is said', () => {
  expect(readConfig({ OTEL_GENAI: '1' }).genAiTraces).toBe(true)
  expect(readConfig({ ORIGIN_NOTES: '1' }).originNotes).toBe(true)
  expect(readConfig({ OTEL_GENAI: '0' }).genAiTraces).toBe(false)
  expect(faultsOf({ OTEL_GENAI: 'yes' })).toEqual(['OTEL_GENAI: is 1 or 0.'])
})

test('the public address is an origin, so that paths can follow it', () => {
  const env = { PUBLIC_URL: 'https://Flightdeck.example.com:443/', ALLOWED_USERS: '*' }
  const config = readConfig(env)
  expect(publicAddress(config)).toBe('https://flightdeck.example.com')
  expect(addressForCodeHost(config)).toBe('https://flightdeck.example.com')
})

test.each([
  [{}, 'http://localhost:8081', 'http://127.0.0.1:8081'],
  [{ HOST: 'localhost' }, 'http://localhost:8081', 'http://localhost:8081'],
  [{ HOST: '::1' }, 'http://localhost:8081', 'http://[::1]:8081'],
  [{ HOST: '192.0.2.1', CODEHOST_HOST: '192.0.2.1' }, 'http://192.0.2.1:8081', 'http://192.0.2.1:8081'],
  [{ HOST: '192.0.2.1', CODEHOST_HOST: '0.0.0.0' }, 'http://localhost:8081', 'http://127.0.0.1:8081'],
])('the local code host is called where it listens: %j', (env, serverUrl, api) => {
  const config = readConfig({ ...env, ALLOWED_USERS: '*' })
  expect(codeHostAddresses(config, config.codeHost)).toEqual({ serverUrl, apiUrl: `${api}/api/v3` })
})

test('the address of this process does not make the one of a code host in another process', () => {
  const engines = { EVENTSTORE_URL: 'esdb://events', MONGODB_URL: 'mongodb://x/y', NATS_URL: 'nats://n' }
  const apart = { SERVICES: 'gateway', COMMAND_URL: 'http://command', QUERY_URL: 'http://query', ...engines }
  const env = { ...apart, HOST: '192.0.2.1', MASTER_KEY: 'a'.repeat(64), ALLOWED_USERS: '*' }
  expect(readConfig(env).codeHostHost).toBe('127.0.0.1')
  expect(readConfig({ ...env, CODEHOST_HOST: '192.0.2.2' }).codeHostHost).toBe('192.0.2.2')
  expect(ownAddress({ host: '::', port: 8080 })).toBe('http://127.0.0.1:8080')
})

test('previews have a host of their own, below which the product is not, and https', () => {
  const env = {
    PUBLIC_URL: 'https://flightdeck.example.com',
    ALLOWED_USERS: '*',
    PREVIEW_HOST: 'Preview.example.com',
  }
  expect(readConfig(env).previewHost).toBe('preview.example.com')
  expect(readConfig({}).previewHost).toBeNull()
  for (const address of ['', 'http://flightdeck.example.com'])
    expect(faultsOf({ ...env, PUBLIC_URL: address })).toEqual([
      'PREVIEW_HOST: needs a PUBLIC_URL that begins with https://.',
    ])
  for (const above of ['flightdeck.example.com', 'example.com'])
    expect(faultsOf({ ...env, PREVIEW_HOST: above })).toEqual([
      'PREVIEW_HOST: is the host of PUBLIC_URL, or above it; choose a name for previews alone.',
    ])
  for (const wrong of [
    'localhost',
    '*.example.com',
    'https://preview.example.com',
    'preview.example.com:8443',
  ])
    expect(faultsOf({ ...env, PREVIEW_HOST: wrong })).toEqual([
      'PREVIEW_HOST: is a host name, as preview.example.com.',
    ])
})

test('commits are signed with a key and the account that has it, which go together', () => {
  const key = '-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXk=\\n-----END OPENSSH PRIVATE KEY-----'
  const signer = 'Flightdeck <bot@example.com>'
  const both = { COMMIT_SIGNING_KEY: key, COMMIT_SIGNER: signer }
  const text = key.replaceAll('\\n', '\n')
  expect(readConfig(both).commitSigner).toEqual({ key: text, name: 'Flightdeck', email: 'bot@example.com' })
  expect(faultsOf({ COMMIT_SIGNING_KEY: key })).toEqual([
    expect.stringMatching(/^COMMIT_SIGNER: is missing; /),
  ])
  expect(faultsOf({ COMMIT_SIGNER: signer })).toEqual([
    expect.stringMatching(/^COMMIT_SIGNING_KEY: is missing; /),
  ])
  expect(faultsOf({ ...both, COMMIT_SIGNING_KEY: 'swordfish' })).toEqual([
    expect.stringMatching(/^COMMIT_SIGNING_KEY: is an SSH private key (?!.*swordfish)/),
  ])
  expect(faultsOf({ ...both, SANDBOX: 'none' })).toEqual([
    'COMMIT_SIGNING_KEY: does not go with SANDBOX=none, since agents could read it.',
  ])
  for (const wrong of ['Flightdeck', 'bot@example.com', 'A <b>', 'A\nB <a@b>', '<a@b>'])
    expect(faultsOf({ ...both, COMMIT_SIGNER: wrong })).toEqual([
      expect.stringMatching(/^COMMIT_SIGNER: is a name and an address/),
    ])
})

test.each([
  ['1', true, []],
  ['0', false, []],
  ['Registry.Example.com., npm.corp.example', false, ['registry.example.com', 'npm.corp.example']],
  ['1,registry.example.com', true, ['registry.example.com']],
])('PRIVATE_EGRESS=%s permits addresses in numbers, or hosts by name', (value, privateEgress, privateHosts) =>
  expect(readConfig({ PRIVATE_EGRESS: value })).toMatchObject({ privateEgress, privateHosts }),
)
test.each([
  'yes',
  'true',
  '2',
  '*',
  '*.example.com',
  '10.0.0.7',
  '0x7f.1',
  '[fd00::1]',
  'localhost',
  'x.localhost',
  'a.example:8443',
  '0,a.example',
])('PRIVATE_EGRESS=%s is refused', (value) =>
  expect(() => readConfig({ PRIVATE_EGRESS: value })).toThrow(/PRIVATE_EGRESS: is 1 or 0, or a list/),
)

test('the toolchains that sandboxes can use are all, none, or some', () => {
  expect(readConfig({ TOOLCHAINS: 'none' }).toolchains).toEqual([])
  expect(readConfig({ TOOLCHAINS: 'Rust, go' }).toolchains).toEqual(['go', 'rust'])
  expect(() => readConfig({ TOOLCHAINS: 'rust,cobol' })).toThrow(/TOOLCHAINS: is all, none, or a list/)
})

test('sandboxes that are containers are of the named engine and image, from folders by the names they have there', () => {
  expect(readConfig({ SANDBOX: 'container' })).toMatchObject({
    sandbox: 'container',
    containers: {
      sockets: ['/var/run/docker.sock', '/run/podman/podman.sock'],
      image: null,
      buildArguments: {},
      shared: {},
    },
  })
  const env = {
    CONTAINER_HOST: 'unix:///run/podman/podman.sock',
    CONTAINER_IMAGE: 'registry.example.com/runner:1',
    CONTAINER_PATHS: '/data=/srv/flightdeck/data/, /tmp=/srv/flightdeck/tmp',
  }
  expect(readConfig(env).containers).toEqual({
    sockets: ['/run/podman/podman.sock'],
    buildArguments: {},
    image: 'registry.example.com/runner:1',
    shared: { '/data': '/srv/flightdeck/data', '/tmp': '/srv/flightdeck/tmp' },
  })
})

test('an engine is looked for where DOCKER_HOST says, else where Docker and Podman listen for this user', () => {
  const own = { HOME: '/home/ada', XDG_RUNTIME_DIR: '/run/user/1000' }
  expect(readConfig(own).containers.sockets).toEqual([
    '/run/user/1000/docker.sock',
    '/var/run/docker.sock',
    '/home/ada/.docker/run/docker.sock',
    '/run/user/1000/podman/podman.sock',
    '/run/podman/podman.sock',
  ])
  expect(readConfig({ ...own, DOCKER_HOST: 'unix:///run/mine.sock' }).containers.sockets).toEqual([
    '/run/mine.sock',
  ])
  // A container engine on another machine is not used, since it would not see the workspaces.
  expect(readConfig({ ...own, DOCKER_HOST: 'tcp://engine:2375' }).containers.sockets).toEqual([])
  const proxy = { HTTPS_PROXY: 'http://proxy:3128', HTTP_PROXY: '' }
  expect(readConfig(proxy).containers.buildArguments).toEqual({ HTTPS_PROXY: 'http://proxy:3128' })
})

test('with a key the model is asked where it is or where it is said to be', () => {
  expect(readConfig({ ANTHROPIC_API_KEY: 'k' }).agents.claude).toMatchObject({
    apiKey: 'k',
    baseUrl: 'https://api.anthropic.com',
  })
  const baseUrl = 'http://127.0.0.1:1'
  expect(readConfig({ ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: baseUrl }).agents.claude).toMatchObject({
    baseUrl,
  })
  expect(readConfig({ ANTHROPIC_BASE_URL: baseUrl }).agents.claude.apiKey).toBe(undefined)
})

describe('the code host', () => {
  const app = { GITHUB_CLIENT_ID: 'Iv1.a', GITHUB_CLIENT_SECRET: 's' }
  test('is GitHub once an app is named, or another address of it without its last slash', () => {
    expect(readConfig(app).codeHost).toEqual({
      kind: 'github',
      serverUrl: 'https://github.com',
      apiUrl: 'https://api.github.com',
      app: {
        appId: null,
        slug: 'flightdeck',
        name: 'flightdeck',
        htmlUrl: null,
        clientId: 'Iv1.a',
        clientSecret: 's',
        privateKey: null,
        webhookSecret: null,
      },
    })
    const own = { GITHUB_SERVER_URL: 'https://git.example/', GITHUB_API_URL: 'https://git.example/api/v3/' }
    expect(readConfig({ ...app, ...own }).codeHost).toMatchObject({
      serverUrl: 'https://git.example',
      apiUrl: 'https://git.example/api/v3',
    })
  })
  test('is GitHub by name, with an App that is made at /setup; its REST interface is where that host has it', () => {
    const hosts = [
      ['https://github.com', 'https://api.github.com'],
      ['https://git.example', 'https://git.example/api/v3'],
      ['https://acme.ghe.com', 'https://api.acme.ghe.com'],
    ] as const
    for (const [serverUrl, apiUrl] of hosts)
      expect(readConfig({ CODE_HOST: 'github', GITHUB_SERVER_URL: serverUrl })).toMatchObject({
        codeHost: { kind: 'github', serverUrl, apiUrl, app: null },
        passwordSignIn: false,
      })
    expect(readConfig({ CODE_HOST: 'local' }).codeHost).toEqual({ kind: 'local' })
    expect(faultsOf({ ...app, CODE_HOST: 'local' })).toHaveLength(2)
  })
  test('the App has its number with its key, which may have its line breaks written out', () => {
    const pem = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({
      type: 'pkcs1',
      format: 'pem',
    })
    const numbered = { ...app, GITHUB_APP_ID: '42', GITHUB_APP_SLUG: 'our-app' }
    const key = String(pem).trim()
    const found = { appId: '42', slug: 'our-app', privateKey: key }
    for (const given of [key, key.replaceAll('\n', '\\n')])
      expect(readConfig({ ...numbered, GITHUB_APP_PRIVATE_KEY: given }).codeHost).toMatchObject({
        app: found,
      })
    expect(faultsOf(numbered)).toEqual([expect.stringMatching(/^GITHUB_APP_PRIVATE_KEY: is required with/)])
    expect(faultsOf({ ...app, GITHUB_APP_PRIVATE_KEY: key })).toEqual([
      expect.stringMatching(/^GITHUB_APP_ID: is required with/),
    ])
    expect(faultsOf({ ...numbered, GITHUB_APP_PRIVATE_KEY: 'a secret of mine' }).join()).not.toContain(
      'of mine',
    )
    expect(faultsOf({ ...numbered, GITHUB_APP_PRIVATE_KEY: 'a secret of mine' })).toHaveLength(1)
  })
  test.each(Object.keys(app))('needs both halves of the app: %s is missed', (name) => {
    const { [name as keyof typeof app]: _left, ...rest } = app
    expect(faultsOf(rest)).toEqual([expect.stringMatching(new RegExp(`^${name}: is required with`))])
  })
})

describe('the master key', () => {
  test.each([
    'ab'.repeat(32),
    'AB'.repeat(32),
    Buffer.alloc(32, 7).toString('base64'),
    Buffer.alloc(32, 255).toString('base64url'),
  ])('may be hex or base64: %s', (masterKey) => {
    expect(readConfig({ MASTER_KEY: masterKey })).toMatchObject({ masterKey })
  })
  test.each([
    'short',
    'ab'.repeat(31),
    `${'ab'.repeat(32)}0`,
    'not base64 at all, and as long as a key!!!!!',
  ])('is refused, and not shown, when it is %s', (masterKey) => {
    const [fault] = faultsOf({ MASTER_KEY: masterKey })
    expect(fault).toMatch(/^MASTER_KEY: is 32 bytes in base64 or hex; .*\.$/)
    expect(fault).not.toContain(masterKey)
  })
})

describe('a fault', () => {
  test.each([
    [{ PORT: 'http' }, 'PORT: is a port: 1 to 65535.'],
    [{ PORT: '0' }, 'PORT: is a port: 1 to 65535.'],
    [{ PORT: '80.5' }, 'PORT: is a port: 1 to 65535.'],
    [{ CODEHOST_PORT: '65536' }, 'CODEHOST_PORT: is a port: 1 to 65535.'],
    [{ PORT: '8081' }, 'CODEHOST_PORT: is the same as PORT.'],
    [{ PUBLIC_URL: 'flightdeck.example' }, 'PUBLIC_URL: is an http or https address.'],
    [{ PUBLIC_URL: 'javascript:alert(1)' }, 'PUBLIC_URL: is an http or https address.'],
    [
      { PUBLIC_URL: 'https://example.com/flightdeck' },
      'PUBLIC_URL: is an address without a path; Flightdeck needs a host name of its own.',
    ],
    [{ ANTHROPIC_BASE_URL: 'file:///etc' }, 'ANTHROPIC_BASE_URL: is an http or https address.'],
    [{ SANDBOX: 'wood' }, 'SANDBOX: is auto, bubblewrap, container or none.'],
    [
      { CONTAINER_HOST: 'tcp://engine:2375' },
      'CONTAINER_HOST: is the address of a socket, unix:///var/run/docker.sock.',
    ],
    [
      { CONTAINER_PATHS: '/data=/srv/flightdeck,/tmp' },
      'CONTAINER_PATHS: is a list of folders, here and at the engine, as /data=/srv/flightdeck.',
    ],
    [{ LOG_LEVEL: 'all' }, 'LOG_LEVEL: is debug, info, warn, error or silent.'],
    [
      { SERVICES: 'query, painter' },
      'SERVICES: painter: there are codehost, command, github, maintenance, query, runner, gateway.',
    ],
    [
      { MONGODB_URL: 'mongodb://x' },
      'MASTER_KEY: is required with MONGODB_URL, because the keys there are sealed with it.',
    ],
    [
      { SERVICES: 'codehost', GITHUB_CLIENT_ID: 'x', GITHUB_CLIENT_SECRET: 'x' },
      'SERVICES: nothing is left to run: the local code host is off with GitHub.',
    ],
    [{ CLAUDE_BIN: '/nowhere/claude' }, 'CLAUDE_BIN: /nowhere/claude is no program that can be run.'],
  ])('is a sentence that names the variable: %j', (env, sentence) => {
    expect(faultsOf(env)).toEqual([sentence])
  })

  test.each([
    [{ ALLOWED_USERS: 'ada, no body' }, /^ALLOWED_USERS: is a list of logins .*or \* by itself/],
    [{ ALLOWED_USERS: '*,ada' }, /^ALLOWED_USERS: is a list of logins/],
    [{ ALLOWED_USERS: ',' }, /^ALLOWED_USERS: is a list of logins/],
    [{ ADMINS: 'id:x' }, /^ADMINS: is a list of logins .*: id:x\.$/],
    [{ ALLOWED_ORGANIZATIONS: '*' }, /^ALLOWED_ORGANIZATIONS: is a list of organizations .*: \*\.$/],
    [{ ALLOWED_ORGANIZATIONS: 'acme/core/x' }, /^ALLOWED_ORGANIZATIONS: is a list/],
    [{ HOST: '0.0.0.0', CODEHOST_HOST: '127.0.0.1' }, /^ALLOWED_USERS: is required .*HOST is 0\.0\.0\.0/],
    [{ HOST: '::', CODEHOST_HOST: '127.0.0.1', ALLOWED_USERS: ' ' }, /^ALLOWED_USERS: is required/],
    [{ PUBLIC_URL: 'https://flightdeck.example' }, /^ALLOWED_USERS: is required/],
    [{ TRUST_PROXY: '1' }, /^ALLOWED_USERS: is required .*a proxy is in front/],
  ])('says who may come in, and that somebody must be named: %j', (env, sentence) => {
    expect(faultsOf(env)).toEqual([expect.stringMatching(sentence)])
  })

  test('does not hide another: all are told, in the order of the variables', () => {
    const faults = faultsOf({
      PORT: 'x',
      PUBLIC_URL: 'x',
      MASTER_KEY: 'x',
      LOG_LEVEL: 'x',
      GITHUB_CLIENT_ID: 'x',
    })
    expect(faults.map((fault) => fault.slice(0, fault.indexOf(':')))).toEqual([
      'PORT',
      'PUBLIC_URL',
      'MASTER_KEY',
      'LOG_LEVEL',
      'GITHUB_CLIENT_SECRET',
    ])
  })
})

test('a budget in dollars needs prices, which are JSON', () => {
  const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }
  const MODEL_PRICES = JSON.stringify({ 'claude-x': price })
  expect(readConfig({ RUN_DOLLARS: '2.5', MODEL_PRICES, DAY_TOKENS: '1000' }).budgets).toEqual({
    run: { tokens: null, dollars: 2.5 },
    day: { tokens: 1_000, dollars: null },
    prices: { 'claude-x': price },
  })
  expect(faultsOf({ DAY_DOLLARS: '1' })).toEqual(['DAY_DOLLARS: needs MODEL_PRICES.'])
  for (const bad of ['no JSON', '[]', '{"claude-x": 3}'])
    expect(faultsOf({ MODEL_PRICES: bad })).toEqual([expect.stringContaining('MODEL_PRICES: ')])
})

test('CLAUDE_BIN is a program: neither a folder nor a file that cannot be run', () => {
  const file = join(folder, 'claude')
  writeFileSync(file, '#!/bin/sh\n', { mode: 0o755 })
  expect(readConfig({ CLAUDE_BIN: file }).agents.claude.program).toBe(file)
  chmodSync(file, 0o644)
  expect(faultsOf({ CLAUDE_BIN: file })).toHaveLength(1)
  expect(faultsOf({ CLAUDE_BIN: folder })).toHaveLength(1)
})

describe('services', () => {
  const shared = {
    EVENTSTORE_URL: 'esdb://e',
    MONGODB_URL: 'mongodb://m',
    NATS_URL: 'nats://n',
    MASTER_KEY: 'ab'.repeat(32),
  }
  const all = ['codehost', 'command', 'github', 'maintenance', 'query', 'runner', 'gateway']

  test('are all of them when none is named; without the local code host where GitHub is', () => {
    expect([...readConfig({}).services]).toEqual(all)
    expect([...readConfig({ SERVICES: all.join(',') }).services]).toEqual(all)
    expect(new Set(readConfig({ SERVICES: 'gateway, runner ,query,command' }).services)).toEqual(new Set(all))
    const github = { GITHUB_CLIENT_ID: 'x', GITHUB_CLIENT_SECRET: 'x' }
    expect([...readConfig(github).services]).toEqual(all.slice(1))
  })

  test('of GitHub and maintenance run with `command`, and also by themselves', () => {
    const servicesOf = (SERVICES: string) => [...readConfig({ ...shared, SERVICES }).services]
    expect(servicesOf('command')).toEqual(['command', 'github', 'maintenance'])
    expect(servicesOf('github')).toEqual(['github'])
    expect(servicesOf('query,maintenance')).toEqual(['maintenance', 'query'])
  })

  test('run apart on engines that they share', () => {
    expect(readConfig({ ...shared, SERVICES: 'runner' })).toMatchObject({
      services: new Set(['runner']),
      engines: { eventStore: 'esdb://e', mongo: 'mongodb://m', nats: 'nats://n' },
    })
    const { NATS_URL: _left, ...two } = shared
    expect(faultsOf({ ...two, SERVICES: 'runner' })).toEqual([
      'NATS_URL: is required when SERVICES run separately.',
    ])
    expect(faultsOf({ SERVICES: 'command,query' })).toEqual(
      ['EVENTSTORE_URL', 'MONGODB_URL', 'NATS_URL'].map(
        (name) => `${name}: is required when SERVICES run separately.`,
      ),
    )
  })

  test('that the gateway has not beside it must have an address', () => {
    expect(faultsOf({ ...shared, SERVICES: 'gateway' })).toEqual([
      'COMMAND_URL: is required by a gateway without the command service.',
      'QUERY_URL: is required by a gateway without the query service.',
    ])
    const command = { COMMAND_URL: 'http://command:8080' }
    expect(readConfig({ ...shared, ...command, SERVICES: 'gateway,query' }).upstreams).toEqual({
      command: 'http://command:8080',
      query: null,
    })
  })

  test('are told of a variable once: what is not understood is not also missing', () => {
    const broken = { ...shared, MASTER_KEY: 'short', COMMAND_URL: 'command', SERVICES: 'gateway' }
    expect(
      faultsOf(broken)
        .map((fault) => fault.slice(0, fault.indexOf(':')))
        .toSorted(),
    ).toEqual(['COMMAND_URL', 'MASTER_KEY', 'QUERY_URL'])
    const { MASTER_KEY: _, ...keyless } = shared
    expect(faultsOf({ ...keyless, MASTER_KEY_FILE: join(folder, 'nowhere') })).toEqual([
      expect.stringMatching(/^MASTER_KEY_FILE: .* cannot be read\.$/),
    ])
  })

  test('share any one engine in one process', () => {
    expect(readConfig({ NATS_URL: 'nats://n' }).engines).toEqual({
      eventStore: null,
      mongo: null,
      nats: 'nats://n',
    })
  })
})

describe('a secret in a file', () => {
  const key = 'ab'.repeat(32)
  test('is taken without the line break at its end', () => {
    const file = join(folder, 'key')
    writeFileSync(file, `${key}\n`)
    expect(readConfig({ MASTER_KEY_FILE: file })).toMatchObject({ masterKey: key })
  })
  test('is a fault when it cannot be had, is empty, is given twice or is none, and is never shown', () => {
    const [empty, bad] = [join(folder, 'empty'), join(folder, 'bad')]
    writeFileSync(empty, '\n')
    writeFileSync(bad, 'a-secret-that-is-no-key')
    const missing = join(folder, 'missing')
    expect(faultsOf({ MASTER_KEY_FILE: missing })).toEqual([`MASTER_KEY_FILE: ${missing} cannot be read.`])
    expect(faultsOf({ MASTER_KEY_FILE: empty })).toEqual([`MASTER_KEY_FILE: ${empty} is empty.`])
    expect(faultsOf({ MASTER_KEY_FILE: empty, MASTER_KEY: key })).toEqual([
      'MASTER_KEY_FILE: MASTER_KEY is set as well; set only one of them.',
    ])
    expect(faultsOf({ MASTER_KEY_FILE: bad })).toEqual([expect.not.stringContaining('a-secret')])
  })
})

describe('a person’s own token', () => {
  const token = 'ghp_owner'
  test('is used with GitHub, in place of an App', () => {
    const { codeHost, passwordSignIn, unused } = readConfig({ CODE_HOST: 'github', GITHUB_TOKEN: token })
    expect(codeHost).toMatchObject({ kind: 'github', serverUrl: 'https://github.com', app: null, token })
    expect({ passwordSignIn, unused }).toEqual({ passwordSignIn: false, unused: [] })
    expect(
      readConfig({ CODE_HOST: 'github', GITHUB_TOKEN: token, HOST: '::1', PUBLIC_URL: 'http://localhost:9' })
        .codeHost,
    ).toMatchObject({ token })
  })
  test('is refused where other machines reach the server, and never shown', () => {
    for (const reached of [
      { HOST: '0.0.0.0' },
      { PUBLIC_URL: 'https://flightdeck.example' },
      { TRUST_PROXY: '1' },
    ]) {
      const faults = faultsOf({ GITHUB_TOKEN: token, ALLOWED_USERS: '*', CODE_HOST: 'github', ...reached })
      expect(faults).toEqual([expect.stringMatching(/^GITHUB_TOKEN: works only where no other machine/)])
      expect(faults.join()).not.toContain(token)
    }
  })
  test('of an App is refused: it acts for no person', () => {
    expect(faultsOf({ CODE_HOST: 'github', GITHUB_TOKEN: 'ghs_1_a.b' })).toEqual([
      expect.stringMatching(/^GITHUB_TOKEN: .*for no person/),
    ])
  })
  test('has no effect beside an App, and with the local code host, on whatever address', () => {
    const app = { GITHUB_CLIENT_ID: 'Iv1.a', GITHUB_CLIENT_SECRET: 'b' }
    for (const env of [app, { CODE_HOST: 'local' }, {}]) {
      const config = readConfig({
        ...env,
        GITHUB_TOKEN: token,
        HOST: '0.0.0.0',
        ALLOWED_USERS: '*',
        CODEHOST_HOST: '127.0.0.1',
      })
      expect(config.codeHost).not.toHaveProperty('token')
      expect(config.unused).toEqual(['GITHUB_TOKEN'])
    }
  })
  test.each([
    ['ghp_a', 'classic'],
    ['a'.repeat(40), 'classic'],
    ['github_pat_11A_b', 'fine_grained'],
    ['gho_a', 'oauth'],
    ['ghu_a', 'app_user'],
    ['ghs_1_a.b-c', 'installation'],
    ['glpat-a', 'other'],
  ])('%s is known by its beginning', (value, kind) => expect(tokenKindOf(value)).toBe(kind))
})

describe('the second agent', () => {
  test('has its program, its key and its hosts', () => {
    expect(readConfig({}).agents.cursor).toEqual({ hosts: [] })
    const env = {
      CURSOR_BIN: process.execPath,
      CURSOR_API_KEY: 'key',
      CURSOR_HOSTS: 'One.example.com, *.two.example,',
    }
    const hosts = ['one.example.com', '*.two.example']
    expect(readConfig(env).agents.cursor).toEqual({ program: process.execPath, apiKey: 'key', hosts })
  })
  test('has its key in a file, where that is wanted', () => {
    const file = join(folder, 'cursor')
    writeFileSync(file, 'key\n')
    expect(readConfig({ CURSOR_API_KEY_FILE: file }).agents.cursor.apiKey).toBe('key')
  })
  test('cannot be a folder, and its hosts no addresses', () => {
    expect(faultsOf({ CURSOR_BIN: folder })).toEqual([`CURSOR_BIN: ${folder} is no program that can be run.`])
    expect(faultsOf({ CURSOR_HOSTS: 'https://example.com, a b' })).toEqual([
      'CURSOR_HOSTS: is a list of host names with commas, as example.com or *.example.com: https://example.com, a b.',
    ])
  })
})

test('the help lists every variable that is read, each with what it is', () => {
  const [table = '', files] = describeVariables().split('\n\n')
  expect(files).toMatch(/MASTER_KEY, .*MASTER_KEY_FILE/)
  const lines = table.split('\n')
  const described = lines.map((line) => /^ {2}([A-Z_]+) +(\S.*)$/.exec(line))
  expect(described.every((found) => found !== null)).toBe(true)
  const names = described.map((found) => found?.[1])
  expect(names).toEqual(expect.arrayContaining(['PORT', 'MASTER_KEY', 'GITHUB_APP_PRIVATE_KEY', 'SANDBOX']))
  expect(new Set(names).size).toBe(names.length)
})

describe('who may come in', () => {
  const allowed = (env: Readonly<Record<string, string>>) => readConfig(env).allowed

  test('is everybody on loopback, where nobody is named', () => {
    for (const HOST of ['127.0.0.1', '127.1.2.3', 'localhost', '::1'])
      expect(allowed({ HOST, PUBLIC_URL: 'http://localhost:3000' }).everybody).toBe(true)
  })

  test('is who is named, also by admins alone', () => {
    expect(allowed({ ADMINS: 'Ada' })).toMatchObject({ everybody: false, admins: ['ada'] })
    expect(allowed({ ALLOWED_USERS: 'Grace, id:1001' }).users).toEqual(['grace', 'id:1001'])
    expect(allowed({ ALLOWED_ORGANIZATIONS: 'Acme,example/Core' }).organizations).toEqual([
      { organization: 'acme', team: null },
      { organization: 'example', team: 'core' },
    ])
  })

  test('is everybody when that is said', () => {
    expect(
      allowed({ ALLOWED_USERS: '*', ADMINS: 'ada', HOST: '0.0.0.0', CODEHOST_HOST: '127.0.0.1' }),
    ).toMatchObject({
      everybody: true,
      admins: ['ada'],
    })
  })
})

describe('finding low: what listens where others could reach it', () => {
  const open = { HOST: '0.0.0.0', ALLOWED_USERS: '*' }

  // Holds findings 1.67.
  test('finding low: the local code host only by its own name, since it asks for no passwords', () => {
    expect(() => readConfig(open)).toThrow('CODEHOST_HOST: is required')
    expect(readConfig({ ...open, CODEHOST_HOST: '127.0.0.1' }).codeHostHost).toBe('127.0.0.1')
    expect(readConfig({}).codeHostHost).toBe('127.0.0.1')
  })

  test('finding low: metrics only where that is said', () => {
    const config = { ...open, CODEHOST_HOST: '127.0.0.1', METRICS_PORT: '9090' }
    expect(readConfig(config).metricsHost).toBe('127.0.0.1')
    expect(readConfig({ ...config, METRICS_HOST: '0.0.0.0' }).metricsHost).toBe('0.0.0.0')
  })
})
