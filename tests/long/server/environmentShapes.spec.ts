/**
 * Repositories of five package managers, set up once from the registries of this machine; the task that follows takes what was kept, and works with no
 * host allowed. Registries and certificates are those that the environment of the tests names.
 */
import { execFile } from 'node:child_process'
import { readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { findProgram } from '../../../services/runner/sandbox/bubblewrap/findProgram.ts'
import { localRepository } from '../../contracts/codeHost.fixture.ts'
import type { Person } from '../../product/person.ts'
import { ownFolder, startProduct, type Product } from '../../product.ts'
import { note as reported } from '../../report/notes.ts'
import { hasEnded } from '../../server/scene.ts'
import { startMessagesApi, type MessagesApi } from '../../standins/messagesApi.ts'

const environment = process.env
const path = environment['PATH'] ?? ''

interface Shape {
  readonly needs: string
  /** The command that prints the addresses of the registries in use, and those of the program itself. */
  readonly asks?: readonly [string, ...string[]]
  readonly usual: readonly string[]
  readonly setup: string
  /** The repository's own tests. They need everything that the setup installed. */
  readonly use: string
}

/** By the name of the folder of each repository in `tests/data/shapes`. */
const shapes: Readonly<Record<string, Shape>> = {
  npm: {
    needs: 'npm',
    asks: ['npm', 'config', 'get', 'registry'],
    usual: [],
    setup: 'npm ci',
    use: 'npm test',
  },
  python: {
    needs: 'python3',
    asks: ['python3', '-m', 'pip', 'config', 'list'],
    usual: ['pypi.org', 'files.pythonhosted.org'],
    setup: 'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt',
    use: '.venv/bin/python -m unittest',
  },
  go: {
    needs: 'go',
    asks: ['go', 'env', 'GOPROXY'],
    usual: ['sum.golang.org'],
    setup: 'go mod download && go vet ./... && go test ./...',
    use: 'go test -count=1 ./...',
  },
  cargo: {
    needs: 'cargo',
    usual: ['index.crates.io', 'static.crates.io'],
    setup: 'cargo test --locked',
    use: 'cargo test --locked --offline',
  },
  maven: {
    needs: 'mvn',
    usual: ['repo.maven.apache.org'],
    setup: 'mvn -B -ntp test',
    use: 'mvn -B -o test',
  },
}

/** Variables that tell package managers their registries, and which certificates they trust. */
const passedOn = [
  'NODE_EXTRA_CA_CERTS',
  'PIP_CERT',
  'SSL_CERT_FILE',
  'CARGO_HTTP_CAINFO',
  'npm_config_registry',
  'PIP_INDEX_URL',
  'GOPROXY',
  'GOSUMDB',
].flatMap((name) => {
  const value = environment[name]
  return value === undefined ? [] : [{ name, value }]
})

async function hostsOf({ asks, usual }: Shape): Promise<readonly string[]> {
  if (!asks) return usual
  const [program, ...args] = asks
  const { stdout } = await promisify(execFile)(program, args)
  const named = [...stdout.matchAll(/https?:\/\/[^\s,|'"]+/g)].map(([address]) => new URL(address).host)
  return [...new Set([...usual, ...named])]
}

const data = join(dirname(fileURLToPath(import.meta.url)), '../../data/shapes')
async function filesOf(name: string): Promise<Readonly<Record<string, string>>> {
  const folder = join(data, name)
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [relative(folder, file), await readFile(file, 'utf8')])),
  )
}

let folder = ''
let api: MessagesApi
let product: Product
let ada: Person
const hosts = new Map<string, readonly string[]>()
beforeAll(async () => {
  folder = await ownFolder()
  for (const [name, shape] of Object.entries(shapes)) {
    await localRepository(join(folder, name), await filesOf(name))
    if (await findProgram(shape.needs, path)) hosts.set(name, await hostsOf(shape))
  }
  await localRepository(join(folder, 'refused'), await filesOf('npm'))
  api = await startMessagesApi(
    Object.entries(shapes).map(([name, { use }]) => ({
      when: new RegExp(`Test ${name}`),
      turns: [
        { text: 'Begun.', tools: [{ name: 'Bash', input: { command: use, description: 'Test' } }] },
        { text: 'Done.' },
      ],
    })),
  )
  product = await startProduct({
    repos: [...Object.keys(shapes), 'refused'].map((name) => join(folder, name)),
    model: { messagesApi: api },
    env: {
      PATH: path,
      HOME: environment['HOME'] ?? '',
      // A company's registries may be on its own network.
      PRIVATE_EGRESS: [...hosts.values()].flat().join(','),
    },
  })
  ada = await product.signIn('ada')
})
afterAll(async () => {
  await product?.stop()
  await api?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Runs a task to its end. `seconds`: from its request to the agent's first word. */
async function ran(projectId: string, description: string) {
  const live = await ada.socket()
  try {
    const begun = performance.now()
    const { id: taskId, position } = await ada.task(projectId, description)
    await live.join(taskId, position)
    const first = await live.until(
      "the agent's first word, or the end",
      ({ name, payload }) =>
        name === 'chat_message_words' ||
        name === 'chat_message_delta' ||
        (name === 'task_status_changed' && hasEnded(payload)),
      900_000,
    )
    const { status } = await ada.taskOnce(taskId, hasEnded, 300_000)
    const { output } = await ada.ask(getTerminal, { params: { taskId } })
    const terminal = output.map(({ content }) => content).join('')
    return { status, terminal, seconds: (first.at - begun) / 1_000 }
  } finally {
    live.close()
  }
}

test.for(Object.entries(shapes))('%s', async ([name, { needs, setup, use }], { skip }) => {
  const egress = hosts.get(name)
  if (!egress) {
    reported(`the environment of ${name}`, `nothing: this machine has no ${needs}`)
    return skip(`this machine has no ${needs}`)
  }
  const answers = await Promise.allSettled(
    egress.map((host) => fetch(`https://${host}/`, { method: 'HEAD' })),
  )
  if (answers.every(({ status }) => status === 'rejected')) {
    reported(`the environment of ${name}`, `nothing: this machine does not reach ${egress.join(', ')}`)
    return skip(`this machine does not reach ${egress.join(', ')}`)
  }
  const projectId = await ada.project(name)
  const settings = (allowed: readonly string[]) =>
    ada.ask(updateProjectSettings, {
      params: { projectId },
      body: { setupCommand: setup, variables: passedOn, egress: [...allowed] },
    })
  await settings(egress)
  const first = await ran(projectId, `Test ${name}`)
  expect(first.terminal).toContain('Its result is kept for other tasks.')
  await settings([])
  const second = await ran(projectId, `Test ${name}`)
  expect(second.terminal).toMatch(/The environment was prepared .* ago and is used again\./)
  expect(second.terminal).not.toContain('Setting up the workspace')
  for (const { status, terminal } of [first, second]) {
    expect(status).toBe('completed')
    expect(terminal).toContain(use)
    expect(terminal).toMatch(passes)
  }
  const times = [first, second].map(({ seconds }) => `${seconds.toFixed(1)} s`)
  reported(
    `the environment of ${name}, to the agent's first word`,
    `${times.join(' in the first task, ')} in the second: ${(second.seconds / first.seconds).toFixed(2)}`,
  )
})

// npm does not end by itself while a proxy answers each of its requests with a refusal.
test('a setup whose registry is not allowed ends, and its terminal names the host', async ({ skip }) => {
  if (!hosts.has('npm')) return skip('this machine has no npm')
  const projectId = await ada.project('refused')
  await ada.ask(updateProjectSettings, {
    params: { projectId },
    body: {
      setupCommand: `${shapes['npm']?.setup} --loglevel http`,
      variables: [{ name: 'npm_config_fetch_retries', value: '0' }],
      egress: [],
    },
  })
  const { status, terminal } = await ran(projectId, 'Test npm')
  expect(status).toBe('failed')
  expect(terminal).toContain('was not reached: it is not among the hosts')
})

/** What the test programs of the five print when all tests have passed. */
const passes = /^# fail 0$|^OK$|^ok\s+shape|^test result: ok\. [1-9]|Failures: 0, Errors: 0|ℹ fail 0/m
