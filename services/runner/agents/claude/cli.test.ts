/**
 * The real `claude` CLI through the real broker, with the scripted model and with a stand-in for the Messages API. It tests our side, and that the
 * CLI still behaves as we assume.
 */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { chmod, chown, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createGate, startMessagesApi } from '../../../../tests/standins/messagesApi.ts'
import type { MessagesApi, Script } from '../../../../tests/standins/messagesApi.ts'
import { refusedCommands, slashCommandsOf } from '#domain/task/slashCommands.ts'
import { budgetUsedUp } from '../../model/apiFault.ts'
import { budgetOf } from '../../../../tests/budgetOf.ts'
import { startBroker } from '../../model/broker.ts'
import type { Broker, BrokerOptions, Model } from '../../model/broker.ts'
import type { ModelUsage } from '../../model/meter.ts'
import { textThreads } from '../../redaction/textThreads.ts'
import { noteFile, scriptedModel } from '../../model/messages/scripted.ts'
import { claude, locateClaude, toolsNotOffered } from './claude.ts'
import { writeHome } from '../home.ts'
import { claudeHome } from './home.ts'
import type { AgentEvent, AgentImage } from '../port.ts'
import { isLongRun } from '../../../../tests/longRun.ts'

const patience = 30_000
const realKey = 'sk-ant-the-real-key-that-must-stay-outside'
const path = '/usr/local/bin:/usr/bin:/bin'

/** As root the CLI will not skip permissions, so it gets a user of its own; where that user cannot reach it, it is told it is sandboxed. */
const isRoot = process.getuid?.() === 0
const other = { uid: 27_182, gid: 27_182 }
let binary = ''
let user: typeof other | undefined
let sandboxed: Record<string, string> = {}

let folder = ''
let workspace = ''
let home = ''
let clean: (() => Promise<void>)[] = []

beforeAll(async () => {
  const located = await locateClaude({ configured: undefined, path: '' })
  if (!located.found) throw new Error(located.reason)
  binary = located.path
  if (!isRoot) return
  try {
    execFileSync(binary, ['--version'], { ...other, env: { HOME: '/nonexistent' }, timeout: patience })
    user = other
  } catch {
    sandboxed = { IS_SANDBOX: '1' }
  }
}, patience)

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'agent-')))
  await chmod(folder, 0o755)
  workspace = join(folder, 'workspace')
  home = join(folder, 'home')
  for (const place of [workspace, home]) {
    await mkdir(place)
    if (user !== undefined) await chown(place, user.uid, user.gid)
  }
  await writeFile(join(workspace, 'README.md'), '# The Widget\n\nMakes widgets.\n')
  await writeFile(join(workspace, 'CLAUDE.md'), 'In this repository everybody says plugh.\n')
  await writeFile(join(workspace, 'widget.txt'), 'alpha\nbeta\n', { mode: 0o666 })
  await chmod(join(workspace, 'widget.txt'), 0o666)
  const git = (...args: string[]) =>
    promisify(execFile)('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
      cwd: workspace,
      env: { PATH: path, HOME: home, GIT_CONFIG_NOSYSTEM: '1' },
      ...user,
    })
  await git('init', '--quiet', '--initial-branch=main')
  await git('add', '.')
  await git('commit', '--quiet', '--message=First')
})

const threads = textThreads()
afterAll(() => threads.close())
afterEach(async () => {
  for (const step of clean.reverse()) await step()
  clean = []
  await rm(folder, { recursive: true, force: true })
})

interface Running {
  readonly events: readonly AgentEvent[]
  readonly sessionId: string
  readonly pid: number
  /** The id that it was sent with. */
  say(text: string, images?: readonly AgentImage[]): string
  interrupt(): void
  /** Waits for an event that is like this, from the `from`th on. */
  seen(like: (event: AgentEvent) => boolean, from?: number): Promise<AgentEvent>
  ended(count: number): Promise<void>
  /** Closes its standard input and waits for its exit code. */
  finish(): Promise<number | null>
}

/** Starts the CLI as the runner would, but for the sandbox. */
async function startClaude(
  broker: { readonly socketPath: string; readonly runToken: string; readonly scripted: boolean },
  resume?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Running> {
  await writeHome(home, claudeHome(new Set(['CLAUDE.md']), workspace), user)
  const sessionId = resume ?? randomUUID()
  const kind = resume === undefined ? 'new' : 'resume'
  const launch = claude.launch({
    binary,
    session: { kind, id: sessionId },
    model: 'o4-mini',
    access: { kind: 'socket', ...broker },
    isRoot: false,
    mode: 'free',
    allowedRules: [],
  })
  const child = spawn(launch.argv[0] ?? '', launch.argv.slice(1), {
    cwd: workspace,
    env: {
      PATH: path,
      HOME: home,
      TMPDIR: home,
      CLAUDE_CODE_TMPDIR: home,
      LANG: 'C.UTF-8',
      ...sandboxed,
      ...launch.env,
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...user,
  })
  const events: AgentEvent[] = []
  const dialogue = claude.dialogue({ model: null, mode: 'free' })
  let complaints = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => events.push(...dialogue.push(chunk)))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    complaints += chunk
  })
  const exited = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  clean.push(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const seen = async (like: (event: AgentEvent) => boolean, from = 0): Promise<AgentEvent> => {
    for (const end = Date.now() + patience; Date.now() < end; await sleep(2)) {
      const found = events.slice(from).find(like)
      if (found !== undefined) return found
      if (child.exitCode !== null) break
    }
    throw new Error(`Not seen. ${complaints}\n${JSON.stringify(events, null, 1)}`)
  }
  return {
    events,
    sessionId,
    pid: child.pid ?? 0,
    say(text, images = []) {
      const id = randomUUID()
      child.stdin.write(dialogue.message({ text, images, id }))
      return id
    },
    interrupt: () => child.stdin.write(dialogue.interrupt() ?? ''),
    seen,
    async ended(count) {
      await seen(() => events.filter((event) => event.type === 'end').length >= count)
    },
    async finish() {
      child.stdin.end()
      return exited
    },
  }
}

async function brokerTo(upstream: Model, more: Partial<BrokerOptions> = {}) {
  const usage: ModelUsage[] = []
  const runToken = randomUUID()
  const socketPath = join(folder, `model-${clean.length}.sock`)
  const broker: Broker = await startBroker({
    listen: { socketPath, owner: user },
    runToken,
    upstream,
    threads,
    onUsage: (used) => usage.push(used),
    onFault: () => undefined,
    ...more,
  })
  clean.push(() => broker.close())
  return { socketPath, runToken, usage, scripted: upstream.kind === 'scripted' }
}

async function apiWith(scripts: readonly Script[]): Promise<{ api: MessagesApi; model: Model }> {
  const api = await startMessagesApi(scripts)
  clean.push(() => api.close())
  return { api, model: { kind: 'http', api: 'messages', baseUrl: api.baseUrl, apiKey: realKey } }
}

const texts = (events: readonly AgentEvent[]) =>
  events.filter((event) => event.type === 'text').map((event) => event.text)
const errors = (events: readonly AgentEvent[]) => events.filter((event) => event.type === 'error')
const session = (events: readonly AgentEvent[]) => events.find((event) => event.type === 'session')
const last = (events: readonly AgentEvent[]) => events.at(-1)

describe('with the scripted model', { timeout: patience }, () => {
  test('a task leaves a note in the repository, and a follow-up on the same process adds to it', async () => {
    const broker = await brokerTo({ kind: 'scripted', api: 'messages', pauseMs: 1 })
    const agent = await startClaude(broker)
    agent.say('Make the widget blue\nand round')
    await agent.ended(1)
    const first = await readFile(join(workspace, noteFile), 'utf8')
    expect(first).toContain('> Make the widget blue\n> and round\n')
    expect(first).toContain('- tracked files: 3\n')
    expect(first).toContain('- `README.md`: The Widget\n')
    expect(texts(agent.events)[0]).toContain('built-in scripted model, not a real one')
    expect(texts(agent.events).at(-1)).toContain(`${noteFile} | 1`)

    agent.say('Now make it green')
    await agent.ended(2)
    const second = await readFile(join(workspace, noteFile), 'utf8')
    expect(second.startsWith(first.trimEnd())).toBe(true)
    expect(second).toContain('## Message 2\n\n> Now make it green\n')

    expect(await agent.finish()).toBe(0)
    expect(agent.events.filter((event) => event.type === 'unknown')).toEqual([])
    const used = agent.events.filter((event) => event.type === 'usage')
    expect(used.map(({ model, costUsd }) => ({ model, costUsd }))).toEqual([
      { model: scriptedModel, costUsd: 0 },
      { model: scriptedModel, costUsd: 0 },
    ])
    const metered = broker.usage.reduce((sum, { outputTokens }) => sum + outputTokens, 0)
    expect(used.reduce((sum, { outputTokens }) => sum + outputTokens, 0)).toBe(metered)
  })
})

describe('with a Messages API', { timeout: patience }, () => {
  const edit = {
    name: 'Edit',
    input: { file_path: 'widget.txt', old_string: 'beta', new_string: 'gamma' },
  }

  test('a file is really edited, and the way there is told', async () => {
    const file_path = join(workspace, 'widget.txt')
    const { api, model } = await apiWith([
      {
        turns: [
          {
            thinking: 'Let me see.',
            text: 'I will look first.',
            tools: [{ name: 'Read', input: { file_path } }],
          },
          { tools: [{ name: 'Edit', input: { ...edit.input, file_path } }] },
          { tools: [{ name: 'Bash', input: { command: 'cat widget.txt; false', description: 'Look' } }] },
          { text: 'The widget is gamma now.' },
        ],
      },
    ])
    const agent = await startClaude(await brokerTo(model))
    agent.say('Make beta gamma')
    await agent.ended(1)
    expect(await readFile(file_path, 'utf8')).toBe('alpha\ngamma\n')
    expect(texts(agent.events)).toEqual(['I will look first.', 'The widget is gamma now.'])
    const tools = agent.events.filter(
      (event) => event.type === 'tool_started' || event.type === 'tool_finished',
    )
    expect(tools).toMatchObject([
      { type: 'tool_started', kind: 'read', name: 'Read', target: 'widget.txt' },
      { type: 'tool_finished', ok: true, summary: '' },
      { type: 'tool_started', kind: 'edit', name: 'Edit', target: 'widget.txt' },
      {
        type: 'tool_finished',
        ok: true,
        additions: 1,
        deletions: 1,
        output: '@@ -1,2 +1,2 @@\n alpha\n-beta\n+gamma',
      },
      { type: 'tool_started', kind: 'run', name: 'Bash', target: 'cat widget.txt; false' },
      { type: 'tool_finished', ok: false, exitCode: 1, output: 'Exit code 1\nalpha\ngamma' },
    ])
    expect(session(agent.events)).toMatchObject({ sessionId: agent.sessionId })
    expect(last(agent.events)).toMatchObject({ type: 'end', ok: true, sessionId: agent.sessionId })
    expect(agent.events.filter((event) => event.type === 'unknown')).toEqual([])
    expect(JSON.stringify(api.requests[0]?.body)).toContain('everybody says plugh')
  })

  // Shows claude: streaming.
  test('the first words arrive while the last are not sent yet', async () => {
    const gate = createGate()
    const { model } = await apiWith([
      { turns: [{ text: 'one two three four', hold: { afterWords: 2, gate } }] },
    ])
    const agent = await startClaude(await brokerTo(model))
    agent.say('Count')
    await agent.seen((event) => event.type === 'text_delta' && event.text.includes('two'))
    expect(texts(agent.events)).toEqual([])
    gate.release()
    await agent.ended(1)
    expect(texts(agent.events)).toEqual(['one two three four'])
    const deltas = agent.events.filter((event) => event.type === 'text_delta')
    expect(deltas.map((event) => event.text).join('')).toBe('one two three four')
    expect(new Set(deltas.map((event) => event.messageKey)).size).toBe(1)
  })

  test('the real key reaches the API alone: neither the CLI nor a command it runs has it', async () => {
    const { api, model } = await apiWith([
      {
        turns: [
          {
            tools: [
              {
                name: 'Bash',
                input: { command: 'env; cat /proc/$PPID/environ | tr "\\0" "\\n"', description: 'Look' },
              },
            ],
          },
          { text: 'Looked.' },
        ],
      },
    ])
    const broker = await brokerTo(model)
    const agent = await startClaude(broker)
    agent.say('Look around')
    await agent.ended(1)
    const environment = await readFile(`/proc/${agent.pid}/environ`, 'utf8').catch(() => '')
    const printed = JSON.stringify(agent.events)
    expect(printed).toContain('ANTHROPIC_UNIX_SOCKET')
    expect(printed + environment).not.toContain(realKey)
    expect(api.requests.length).toBeGreaterThan(0)
    for (const { headers } of api.requests) expect(headers['x-api-key']).toBe(realKey)
    expect(JSON.stringify(api.requests.map(({ headers }) => headers))).not.toContain(broker.runToken)
  })

  test('an interrupt ends a turn, and the session can be resumed', async () => {
    const gate = createGate()
    const { api, model } = await apiWith([
      { when: /^Count/, turns: [{ text: 'one two three four', hold: { afterWords: 2, gate } }] },
      { when: /^Go on/, turns: [{ text: 'three four' }] },
    ])
    const broker = await brokerTo(model)
    const agent = await startClaude(broker)
    agent.say('Count')
    await agent.seen((event) => event.type === 'text_delta' && event.text.includes('two'))
    agent.interrupt()
    await agent.ended(1)
    expect(errors(agent.events)).toMatchObject([{ code: 'aborted' }])
    expect(last(agent.events)).toMatchObject({ type: 'end', ok: false })
    expect(agent.events.find((event) => event.type === 'text')).toMatchObject({ text: 'one two ', cut: true })
    await agent.finish()
    expect(api.requests[0]?.aborted).toBe(true)

    const resumed = await startClaude(broker, agent.sessionId)
    resumed.say('Go on')
    await resumed.ended(1)
    expect(texts(resumed.events)).toEqual(['three four'])
    expect(session(resumed.events)).toMatchObject({ sessionId: agent.sessionId })
    expect(JSON.stringify(api.requests.at(-1)?.body)).toContain('one two')
    const used = resumed.events.filter((event) => event.type === 'usage')
    expect(used.map(({ outputTokens }) => outputTokens)).toEqual([broker.usage.at(-1)?.outputTokens])
  })

  // Each start of the CLI takes a second of computing, so `npm test` leaves these to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('an interrupt stops a command that runs', async () => {
      const { model } = await apiWith([
        { turns: [{ tools: [{ name: 'Bash', input: { command: 'sleep 600', description: 'Wait' } }] }] },
      ])
      const agent = await startClaude(await brokerTo(model))
      agent.say('Wait')
      await agent.seen((event) => event.type === 'tool_started')
      await sleep(300)
      agent.interrupt()
      await agent.ended(1)
      expect(agent.events.find((event) => event.type === 'tool_finished')).toMatchObject({
        ok: false,
        summary: 'Interrupted.',
      })
      expect(errors(agent.events)).toMatchObject([{ code: 'aborted' }])
    })

    test('a follow-up on the same process is a turn of its own', async () => {
      const { model } = await apiWith([
        { when: /^One/, turns: [{ text: 'First answer.' }] },
        { when: /^Two/, turns: [{ text: 'Second answer.' }] },
      ])
      const agent = await startClaude(await brokerTo(model))
      agent.say('One')
      await agent.ended(1)
      agent.say('Two')
      await agent.ended(2)
      expect(texts(agent.events)).toEqual(['First answer.', 'Second answer.'])
      expect(agent.events.filter((event) => event.type === 'end').map(({ ok }) => ok)).toEqual([true, true])
      expect(await agent.finish()).toBe(0)
    })

    test('commands that are offered do what they say, and one that is refused would do nothing', async () => {
      const { api, model } = await apiWith([{ turns: [{ text: 'Hello.' }] }])
      const agent = await startClaude(await brokerTo(model))
      const told: string[] = []
      for (const [index, message] of ['Hello', '/compact keep names', '/cost', '/help'].entries()) {
        const before = texts(agent.events).length
        agent.say(message)
        await agent.ended(index + 1)
        told.push(texts(agent.events).slice(before).join('\n'))
      }
      expect(told).toEqual([
        'Hello.',
        'The conversation so far was summarized.',
        expect.stringMatching(/^Estimated cost: /),
        "/help isn't available in this environment.",
      ])
      expect(JSON.stringify(api.requests.map(({ body }) => body))).toContain('keep names')
      for (const { name } of slashCommandsOf('claude')) expect(refusedCommands('claude')).not.toContain(name)
    })
  })

  // Holds findings 1.130, 1.136.
  test('agents D1: no tool that cannot work here is offered to the model', async () => {
    const { api, model } = await apiWith([
      { turns: [{ tools: [{ name: 'ToolSearch', input: { query: 'select:CronCreate,Monitor' } }] }] },
    ])
    const agent = await startClaude(await brokerTo(model))
    agent.say('Wake me in an hour')
    await agent.ended(1)
    const asked = api.requests.map(({ body }) => Offered.parse(body))
    expect(asked.flatMap(({ tools }) => tools.map(({ name }) => name))).toContain('Bash')
    for (const { tools, rest } of asked)
      for (const name of toolsNotOffered) {
        expect(tools.map((tool) => tool.name)).not.toContain(name)
        // Tools that are loaded later are listed by name.
        expect(rest).not.toMatch(new RegExp(`^${name}$`, 'm'))
      }
    const [found] = agent.events.flatMap((event) => (event.type === 'tool_finished' ? [event.output] : []))
    expect(found).not.toMatch(/CronCreate|Monitor/)
  })

  // Shows claude: steering.
  // Holds findings 1.132.
  test('agents D1: each result names the messages that it is for, also where one steers', async () => {
    const { model } = await apiWith([
      {
        when: /^Work/,
        turns: [
          { tools: [{ name: 'Bash', input: { command: 'sleep 1', description: 'Work' } }] },
          { text: 'Both heard.' },
        ],
      },
    ])
    const agent = await startClaude(await brokerTo(model))
    const first = agent.say('Work')
    await agent.seen((event) => event.type === 'tool_started')
    const second = agent.say('And mind the tests')
    await agent.ended(1)
    const third = agent.say('Then say hello')
    await agent.ended(2)
    const took = agent.events.flatMap((event) => (event.type === 'taken_up' ? event.messageIds : []))
    expect(took).toEqual([first, second, third])
    const ends = agent.events.flatMap((event) => (event.type === 'end' ? [event.answers] : []))
    expect(ends).toEqual([[first, second], [third]])
    expect(agent.events.filter((event) => event.type === 'unasked' || event.type === 'unknown')).toEqual([])
  })

  // Holds findings 1.139.
  test('agents D4: of a sub-agent its report is shown', async () => {
    const { model } = await apiWith([
      {
        when: /^Delegate/,
        turns: [
          {
            tools: [
              {
                name: 'Task',
                input: { description: 'look', prompt: 'Look in there', subagent_type: 'general-purpose' },
              },
            ],
          },
          { text: 'Done.' },
        ],
      },
      {
        when: /^Look in there/,
        turns: [
          { tools: [{ name: 'Bash', input: { command: 'true', description: 'Look' } }] },
          { text: 'All is well.' },
        ],
      },
    ])
    const agent = await startClaude(await brokerTo(model))
    agent.say('Delegate')
    await agent.ended(1)
    expect(agent.events.filter((event) => event.type === 'tool_finished').at(-1)).toMatchObject({
      summary: 'All is well.',
      output: 'All is well.',
    })
  })

  // Holds findings 1.143.
  test('agents D7: a compaction does not tell an earlier answer again', async () => {
    const { model } = await apiWith([{ turns: [{ text: 'Hello.' }] }])
    const agent = await startClaude(await brokerTo(model))
    const messages = ['One', 'Two', '/cost', '/context', '/compact']
    for (const [index, message] of messages.entries()) {
      agent.say(message)
      await agent.ended(index + 1)
    }
    const said = texts(agent.events)
    expect(said.length).toBe(messages.length)
    expect(said.at(-1)).toBe('The conversation so far was summarized.')
  })

  // Each start of the CLI takes a second of computing, so `npm test` leaves these to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('an image arrives byte for byte', async () => {
      const { api, model } = await apiWith([{ turns: [{ text: 'I see.' }] }])
      const agent = await startClaude(await brokerTo(model))
      agent.say('What is it?', [{ mediaType: 'image/png', base64: redSquare }])
      await agent.ended(1)
      const sent =
        /"media_type":"image\/png","data":"([^"]+)"|"data":"([^"]+)","media_type":"image\/png"/.exec(
          JSON.stringify(api.requests[0]?.body),
        )
      const digest = (base64: string) =>
        createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex')
      expect(digest(sent?.[1] ?? sent?.[2] ?? '')).toBe(digest(redSquare))
    })

    test.each([
      { status: 401, type: 'authentication_error', code: 'unauthorized', tries: 2 },
      { status: 529, type: 'overloaded_error', code: 'overloaded', tries: 2 },
      { status: 429, type: 'rate_limit_error', code: 'rate_limited', tries: 2 },
      { status: 404, type: 'not_found_error', code: 'bad_model', tries: 1 },
    ] as const)(
      'an API that answers $status ends the turn as $code',
      async ({ status, type, code, tries }) => {
        const { api, model } = await apiWith([{ turns: [{ fault: { status, type } }] }])
        const agent = await startClaude(await brokerTo(model), undefined, { CLAUDE_CODE_MAX_RETRIES: '1' })
        agent.say('Hello')
        await agent.ended(1)
        expect(errors(agent.events)).toMatchObject([{ code, httpStatus: status }])
        expect(last(agent.events)).toMatchObject({ type: 'end', ok: false })
        expect(texts(agent.events)).toEqual([])
        expect(api.requests.length).toBeGreaterThanOrEqual(tries)
        expect(agent.events.filter((event) => event.type === 'notice').length).toBe(tries - 1)
      },
    )
  })

  // Holds findings 1.142.
  test('agents D6: an answer that breaks off is asked for again, and is told once', async () => {
    const breaks = [createGate(), createGate()]
    const { model } = await apiWith([
      {
        turns: [
          ...breaks.map((gate) => ({
            text: 'one two three four',
            cutAfterWords: 3,
            hold: { afterWords: 3, gate },
          })),
          { text: 'one two and more' },
        ],
      },
    ])
    const agent = await startClaude(await brokerTo(model))
    agent.say('Count')
    for (const gate of breaks) {
      const from = agent.events.length
      await agent.seen((event) => event.type === 'text_delta' && event.text.includes('three'), from)
      gate.release()
    }
    await agent.ended(1)
    expect(texts(agent.events)).toEqual(['one two and more'])
    expect(agent.events.filter(({ type }) => type === 'text_restarted').length).toBe(2)
    const began = new Set(
      agent.events.filter((event) => event.type === 'text_delta').map((event) => event.messageKey),
    )
    const done = agent.events.filter((event) => event.type === 'text').map((event) => event.messageKey)
    expect(new Set(done).size).toBe(done.length)
    for (const key of began) expect(done).toContain(key)
  })

  // Each start of the CLI takes a second of computing, so `npm test` leaves these to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('a run whose budget is used up is told so', async () => {
      const { model } = await apiWith([{ turns: [{ text: 'One.' }] }])
      const broker = await brokerTo(model, { budget: budgetOf(1) })
      const agent = await startClaude(broker, undefined, { CLAUDE_CODE_MAX_RETRIES: '1' })
      agent.say('One')
      await agent.ended(1)
      agent.say('Two')
      await agent.ended(2)
      expect(errors(agent.events)).toMatchObject([{ code: 'budget', message: budgetUsedUp }])
    })
  })

  test('a session that is not there is told apart from other failures', async () => {
    const { model } = await apiWith([])
    const agent = await startClaude(await brokerTo(model), randomUUID())
    agent.say('Hello')
    await agent.ended(1)
    expect(errors(agent.events)).toMatchObject([{ code: 'unknown_session' }])
  })
})

/** What a model is offered, and all that it is told beside. */
const Offered = z
  .looseObject({ tools: z.array(z.object({ name: z.string() })).default([]) })
  .transform(({ tools, ...rest }) => ({ tools, rest: JSON.stringify(rest).replaceAll('\\n', '\n') }))

/** 64 by 64 pixels, valid: the CLI drops an image that it cannot read. */
const redSquare =
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAb0lEQVR4nO3PAQkAAAyEwO9feoshgnABdLep8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3IPanc8OLDQitxAAAAAElFTkSuQmCC'
