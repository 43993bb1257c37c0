/**
 * What prevents the product from starting, or an agent from running: each is reported in a sentence that says what to do, and nothing half-made is
 * left.
 */
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listRepositories } from '#domain/api/projects.schema.ts'
import { getTaskDiff, listTasks, retryTask } from '#domain/api/tasks.schema.ts'
import { openSqlite } from '#platform/engines/sqlite.ts'
import { locateClaude } from '../../../services/runner/agents/claude/claude.ts'
import { localRepository } from '../../contracts/codeHost.fixture.ts'
import { processesOf } from '../../product/processes.ts'
import {
  cleanEnvironment,
  freePorts,
  ownFolder,
  runProduct,
  startProduct,
  type FailedStart,
} from '../../product.ts'
import { files, hasEnded, openScene, type Scene } from '../../server/scene.ts'

let folder = ''
let env: Record<string, string> = {}
beforeEach(async () => {
  folder = await ownFolder()
  const ports = await freePorts()
  env = {
    ...cleanEnvironment(folder),
    PORT: String(ports.product),
    CODEHOST_PORT: String(ports.codeHost),
    DATA_DIR: join(folder, 'data'),
  }
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Starts it with these changes, and expects it to end by itself with `sentence` and no more to say. */
async function cannotStart(
  change: Readonly<Record<string, string>>,
  sentence: RegExp,
  args: readonly string[] = [],
): Promise<FailedStart> {
  const ended = await runProduct({ ...env, ...change }, args)
  expect(ended).toMatchObject({ stdout: '', stderr: expect.stringMatching(sentence) })
  expect(ended.stderr).not.toMatch(/^\s+at .*:\d+/m)
  expect(ended.stderr.trim().split('\n')).toHaveLength(1)
  expect(await processesOf(folder)).toEqual([])
  return ended
}

/** What was left behind must not stand in the way: the repositories that a good start has. */
async function repositoriesNow(): Promise<readonly string[]> {
  const product = await startProduct({ dataDir: join(folder, 'data') })
  const ada = await product.signIn('ada')
  const { repositories } = await ada.ask(listRepositories)
  await product.stop()
  return repositories.map((repository) => repository.full_name).filter((name) => name.startsWith('ada/'))
}

/** What a code host that nothing was brought into has of ada's. */
const samples = ['ada/sample', 'ada/notes']

const taken = () =>
  new Promise<{ port: string; server: Server }>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve({ port: String(typeof address === 'object' && address ? address.port : 0), server })
    })
  })

describe('a port', () => {
  test.each(['PORT', 'CODEHOST_PORT'])('that somebody else has is named: %s', async (name) => {
    const { port, server } = await taken()
    try {
      await cannotStart({ [name]: port }, new RegExp(`^Port ${port} .*in use.*${name}.*\\.$`, 'm'))
    } finally {
      server.close()
    }
    expect(await repositoriesNow()).toEqual(samples)
  })

  test('cannot be had on an address that is not of this machine', async () => {
    const reachable = { HOST: '192.0.2.1', ALLOWED_USERS: 'ada', CODEHOST_HOST: '127.0.0.1' }
    expect(await cannotStart(reachable, /192\.0\.2\.1.*(HOST|PORT)/)).toMatchObject({ code: 1 })
  })
})

describe('the data folder', () => {
  test('that is a file is refused, and the file is left alone', async () => {
    await writeFile(join(folder, 'data'), 'mine')
    await cannotStart({}, /The data folder .*data is not writable\. .*DATA_DIR/)
    expect(await readFile(join(folder, 'data'), 'utf8')).toBe('mine')
    await cannotStart({ DATA_DIR: join(folder, 'data/below') }, /is not writable/)
  })

  test('that another one uses is refused, and the other goes on', async () => {
    const product = await startProduct({ dataDir: join(folder, 'data') })
    const second = await runProduct(env)
    expect(second).toMatchObject({ code: 1, stdout: '' })
    expect(second.stderr).toMatch(/^The data folder .* is in use by another Flightdeck\. .*DATA_DIR.*\.\n$/)
    expect((await product.signIn('ada')).token).toMatch(/./)
    await product.stop()
  })

  test('is free again the moment its process is killed', async () => {
    const product = await startProduct({ dataDir: join(folder, 'data') })
    await product.kill9()
    await product.restart()
    expect((await product.signIn('ada')).token).toMatch(/./)
    await product.stop()
  })

  test('that a newer version wrote is refused and not touched, whichever of its files it is', async () => {
    const product = await startProduct({ dataDir: join(folder, 'data') })
    await product.stop()
    for (const name of ['events.sqlite', 'views.sqlite', 'vault.sqlite', 'jobs.sqlite']) {
      const file = join(folder, 'data', name)
      const before = await readFile(file)
      const formats = Array.from({ length: 9 }, (_, n) => `CREATE TABLE newer_${n} (a)`)
      openSqlite({ file, synchronous: 'FULL', formats }).close()
      const newer = await readFile(file)
      await cannotStart({}, new RegExp(`${name} was written by a newer Flightdeck .*DATA_DIR.*\\.$`, 'm'))
      expect((await readFile(file)).equals(newer)).toBe(true)
      await writeFile(file, before)
    }
  })

  test('whose database is none is refused and not touched', async () => {
    await mkdir(join(folder, 'data'))
    const file = join(folder, 'data/events.sqlite')
    await writeFile(file, 'These are notes of mine. '.repeat(200))
    await cannotStart({}, /events\.sqlite is damaged or is not a Flightdeck database\./)
    expect(await readFile(file, 'utf8')).toBe('These are notes of mine. '.repeat(200))
  })

  test('is refused with another master key, without its key, and with a key that others can read', async () => {
    const product = await startProduct({ dataDir: join(folder, 'data') })
    await product.stop()
    const keyFile = join(folder, 'data/master.key')
    await cannotStart(
      { MASTER_KEY: 'ab'.repeat(32) },
      /sealed with another master key\. Use the original MASTER_KEY/,
    )

    await rename(keyFile, join(folder, 'kept.key'))
    await cannotStart({}, /master\.key is gone.*MASTER_KEY\.$/m)
    await expect(readFile(keyFile)).rejects.toMatchObject({ code: 'ENOENT' })

    const kept = await readFile(join(folder, 'kept.key'), 'utf8')
    await writeFile(keyFile, kept, { mode: 0o644 })
    await cannotStart({}, /can be read by others\. Run: chmod 600/)
    await rm(keyFile)
    await writeFile(keyFile, 'no key at all', { mode: 0o600 })
    await cannotStart({}, /holds no master key/)
    await rm(keyFile)

    // The key itself may come by the environment as well.
    const again = await startProduct({ dataDir: join(folder, 'data'), env: { MASTER_KEY: kept.trim() } })
    await again.stop()
  })
})

describe('the configuration', () => {
  test('is checked whole: every fault is told at once, each with the name of its variable', async () => {
    const broken = {
      PORT: 'many',
      CODEHOST_PORT: '70000',
      PUBLIC_URL: 'my server',
      MASTER_KEY: 'short',
      SERVICES: 'query,painter',
      SANDBOX: 'wood',
      LOG_LEVEL: 'loud',
      CLAUDE_BIN: join(folder, 'no-such-claude'),
      GITHUB_CLIENT_ID: 'Iv1.x',
      GITHUB_API_URL: 'ftp://x',
      ANTHROPIC_BASE_URL: 'not an address',
      COMMAND_URL: 'command',
      QUERY_URL: 'nats://x',
    }
    const { code, stdout, stderr } = await runProduct({ ...env, ...broken })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    const lines = stderr.trim().split('\n')
    const named = lines.map((line) => line.slice(0, line.indexOf(':')))
    const { GITHUB_CLIENT_ID: _known, ...faulty } = broken
    expect(named.toSorted()).toEqual([...Object.keys(faulty), 'GITHUB_CLIENT_SECRET'].toSorted())
    for (const line of lines) {
      expect(line).toMatch(/^[A-Z_]+: .*\.$/)
      expect(line).not.toMatch(/Invalid|\bNaN\b|undefined|expected|regex/i)
    }
    // A key is never shown, not even a broken one.
    expect(stderr).not.toContain('short')
    expect(await readdir(folder)).toEqual([])
  })

  test('that wants services apart without what they share is told all that they need', async () => {
    const { code, stdout, stderr } = await runProduct({ ...env, SERVICES: 'query,gateway' })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr.trim().split('\n')).toEqual([
      'EVENTSTORE_URL: is required when SERVICES run separately.',
      'MONGODB_URL: is required when SERVICES run separately.',
      'NATS_URL: is required when SERVICES run separately.',
      'COMMAND_URL: is required by a gateway without the command service.',
    ])
    expect(await readdir(folder)).toEqual([])
  })

  test('that shares keys without the key to them, or has both ports the same, is refused', async () => {
    const ended = [
      await cannotStart(
        { MONGODB_URL: 'mongodb://127.0.0.1/' },
        /^MASTER_KEY: is required with MONGODB_URL/m,
      ),
      await cannotStart({ CODEHOST_PORT: env['PORT'] ?? '' }, /^CODEHOST_PORT: is the same as PORT\.$/m),
      await cannotStart({ CLAUDE_BIN: folder }, /^CLAUDE_BIN: .* is no program that can be run\.$/m),
    ]
    expect(ended.map(({ code }) => code)).toEqual([1, 1, 1])
  })

  test('that names an engine for sandboxes which is not there is told so, and where to name another', async () => {
    const change = { SANDBOX: 'container', CONTAINER_HOST: `unix://${join(folder, 'no-engine.sock')}` }
    const { code, stdout } = await cannotStart(
      change,
      /^SANDBOX=container: The container engine cannot be used: there is none at .*CONTAINER_HOST/m,
    )
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  })

  test('is listed by --help, with an exit code of 0', async () => {
    const { code, stdout, stderr } = await runProduct({ PATH: env['PATH'] ?? '' }, ['--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const name of ['PORT', 'CODEHOST_PORT', 'HOST', 'DATA_DIR', 'SERVICES', 'PUBLIC_URL', 'MASTER_KEY'])
      expect(stdout).toMatch(new RegExp(`^ +${name} +\\S`, 'm'))
    for (const name of ['PASSWORD_SIGN_IN', 'GITHUB_SERVER_URL', 'GITHUB_API_URL', 'GITHUB_APP_ID'])
      expect(stdout).toContain(name)
    for (const name of [
      'GITHUB_APP_PRIVATE_KEY',
      'MASTER_KEY_FILE',
      'GITHUB_CLIENT_ID',
      'GITHUB_CLIENT_SECRET',
    ])
      expect(stdout).toContain(name)
    for (const name of ['GITHUB_WEBHOOK_SECRET', 'GITHUB_TOKEN', 'EVENTSTORE_URL', 'MONGODB_URL', 'NATS_URL'])
      expect(stdout).toContain(name)
    for (const name of [
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_BASE_URL',
      'CURSOR_API_KEY',
      'CLAUDE_BIN',
      'CURSOR_BIN',
    ])
      expect(stdout).toContain(name)
    expect(stdout).toMatch(/SANDBOX .*\n/)
    expect(stdout).toContain('--repo <path or git URL>')
  })

  test.each([['--repos'], ['--repo'], ['start']])(
    'with an argument that it does not know is refused: %s',
    async (argument) => {
      const { code, stdout, stderr } = await runProduct(env, [argument])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain('Usage: npm start')
      expect(await readdir(folder)).toEqual([])
    },
  )
})

describe('--repo', () => {
  test.each([
    ['a folder that is not there', 'nowhere', /nowhere: there is no such folder\./],
    ['a folder that is no repository', 'plain', /plain: git cannot clone it: /],
    ['a file', 'file', /file: there is no such folder\./],
  ])('that names %s is refused, and nothing of it stays', async (_, name, sentence) => {
    await mkdir(join(folder, 'plain'))
    await writeFile(join(folder, 'file'), '')
    const { stderr } = await cannotStart({}, sentence, ['--repo', join(folder, name)])
    expect(stderr).toMatch(/^--repo /)
    expect(JSON.stringify(await readdir(join(folder, 'data'), { recursive: true }))).not.toContain(name)
  })

  test('that names an address where nobody answers is refused', async () => {
    const { port, server } = await taken()
    server.close()
    const address = `http://127.0.0.1:${port}/some/where.git`
    const { stderr } = await cannotStart({}, /git cannot clone it/, ['--repo', address])
    expect(stderr).toMatch(/^--repo .*where\.git: git cannot clone it: /)
  })

  test('refuses a slip in the last before anything is brought in', async () => {
    await localRepository(join(folder, 'good'), files)
    const repos = ['--repo', join(folder, 'good'), '--repo', join(folder, 'nowhere')]
    await cannotStart({}, /nowhere: there is no such folder/, repos)
    expect(await repositoriesNow()).toEqual(samples)
  })

  test.each([[''], ['-x'], ['ext::sh -c id'], ['https://user:word@example.com/x.git']])(
    'is never taken for anything else: %j',
    async (source) => {
      expect(await cannotStart({}, /^--repo/, [`--repo=${source}`])).toMatchObject({ code: 1 })
    },
  )
})

test('without git the product says what to install', async () => {
  await mkdir(join(folder, 'bin'))
  expect(await cannotStart({ PATH: join(folder, 'bin') }, /git/i)).toMatchObject({ code: 1 })
})

describe('asked to end', () => {
  test('by Ctrl-C it does as by SIGTERM', async () => {
    const product = await startProduct({ dataDir: join(folder, 'data') })
    await expect(product.terminate('SIGINT')).resolves.toBeUndefined()
    await product.stop()
  })

  test('while it starts it ends as well, and the next start finds all in order', async () => {
    for (const ms of [100, 250, 400, 550]) {
      const { code, stderr } = await runProduct(env, [], ms)
      // Before it has read its configuration, the signal itself ends it.
      expect([0, null]).toContain(code)
      expect(stderr).toBe('')
      expect(await processesOf(folder)).toEqual([])
    }
    expect(await repositoriesNow()).toEqual(samples)
  })
})

describe('once it runs', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene([], { env: { CLAUDE_BIN: '/bin/false' } })
  })
  afterAll(() => scene?.close())

  const asking = (agent: 'claude' | 'cursor') =>
    scene.ada.api('POST', '/tasks', {
      description: 'Words',
      projectId: scene.projectId,
      branch: 'main',
      agent,
    })

  test('an agent’s program that is none is refused with a sentence, and the server goes on', async () => {
    const error = 'CLAUDE_BIN names /bin/false, which is no program that can be run.'
    expect(await asking('claude')).toMatchObject({
      status: 409,
      body: { code: 'agent_unavailable', field: 'agent', error },
    })
    expect(await scene.ada.ask(listTasks)).toMatchObject({ tasks: [] })
  })

  test('the other agent, where it is not installed, is refused, and says how to get it', async () => {
    const error = expect.stringMatching(/^The cursor-agent CLI is not installed: .*CURSOR_BIN.*\.$/)
    expect(await asking('cursor')).toMatchObject({
      status: 409,
      body: { code: 'agent_unavailable', field: 'agent', error },
    })
  })
})

test('a turn whose agent is gone by now is not tried again: the refusal says so, and the task stays as it was', async () => {
  const located = await locateClaude({ configured: undefined, path: process.env['PATH'] ?? '' })
  if (!located.found) throw new Error(located.reason)
  const program = join(folder, 'claude')
  await symlink(located.path, program)
  const scene = await openScene([], { env: { CLAUDE_BIN: program } })
  try {
    const { ada, product, projectId } = scene
    const task = await ada.task(projectId, 'Words')
    const params = { taskId: task.id }
    expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({ status: 'completed' })
    await product.terminate()
    await rm(program)
    await symlink('/bin/false', program)
    await product.restart()
    expect(await ada.refused(retryTask, { params })).toMatchObject({
      status: 409,
      code: 'agent_unavailable',
      field: 'agent',
    })
    expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({
      status: 'completed',
      execution: { turn: 1 },
    })
  } finally {
    await scene.close()
  }
})

test('a repository that cannot be cloned fails the task, leaves nothing half-made, and can be tried again', async () => {
  const scene = await openScene([])
  try {
    const { ada, product, projectId } = scene
    const hosted = join(product.dataDir, 'codehost')
    const names = await readdir(hosted, { recursive: true })
    const bare =
      names.find((name) => /ada\/engine(\.git)?$/.test(name)) ?? names.find((name) => name.endsWith('.git'))
    if (bare === undefined) throw new Error(`Where is the repository? ${names.slice(0, 20).join(' ')}`)
    await rename(join(hosted, bare), join(folder, 'away'))
    const task = await ada.task(projectId, 'Words')
    const params = { taskId: task.id }
    const ended = await ada.taskOnce(task.id, hasEnded)
    expect(ended).toMatchObject({
      status: 'failed',
      failure: { code: 'clone_failed', reason: expect.stringMatching(/\w.*\.$/) },
    })
    expect((await ada.ask(getTaskDiff, { params })).data).toMatchObject({
      status: 'not_initialized',
      exists: false,
      message: 'Task repository not initialized. Run a command to start.',
    })
    await rename(join(folder, 'away'), join(hosted, bare))
    await ada.ask(retryTask, { params })
    expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({ status: 'completed' })
  } finally {
    await scene.close()
  }
})
