/** The real programs that speak ACP, through the real broker, to stand-ins for the APIs of their models. It also shows that they still are what we take them for. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { geminiProgram } from '../../../../tests/geminiProgram.ts'
import { isLongRun } from '../../../../tests/longRun.ts'
import { opencodeProgram } from '../../../../tests/opencodeProgram.ts'
import { startGeminiApi } from '../../../../tests/standins/geminiApi.ts'
import { localServer } from '../../../../tests/standins/mcp/localServer.ts'
import { startRemoteMcp } from '../../../../tests/standins/mcp/remoteServer.ts'
import { startMessagesApi, type MessagesApi, type Script } from '../../../../tests/standins/messagesApi.ts'
import { mcpOf, mcpServersFor, type McpOfAgent } from '../../mcp/agentServers.ts'
import { permissionOptions, type AgentMode, type Answer } from '#domain/task/questionEvents.ts'
import type { ServersOfRun } from '../../mcp/runServers.ts'
import { startBroker } from '../../model/broker.ts'
import type { ModelUsage } from '../../model/meter.ts'
import { textThreads } from '../../redaction/textThreads.ts'
import { nothingBrought, writeHome } from '../home.ts'
import { ruleOfCodeHost } from '#platform/http/egressRules.ts'
import type { Located } from '../locate.ts'
import type { AgentEvent } from '../port.ts'
import { acpAgents } from './acpAgents.ts'

const realKey = 'sk-the-real-key-that-must-stay-outside'
const patienceMs = 120_000
const threads = textThreads()
const cases = [
  {
    name: 'opencode',
    find: opencodeProgram,
    api: 'messages',
    start: startMessagesApi,
    header: 'x-api-key',
    chosen: 'claude-chosen-7',
    // Its instructions have those of the repository.
    told: 'plugh',
    tool: (server: string, name: string) => `${server}_${name}`,
    hides: true,
    todos: [],
    unknown: { status: 404, type: 'not_found_error', message: 'model: claude-none-9' },
  },
  {
    name: 'gemini',
    find: geminiProgram,
    api: 'gemini',
    start: startGeminiApi,
    header: 'x-goog-api-key',
    chosen: 'gemini-chosen-7',
    // Its instructions say where those of the repository are.
    told: '/workspace/AGENTS.md and GEMINI.md',
    tool: (server: string, name: string) => `mcp_${server}_${name}`,
    hides: false,
    todos: [
      {
        name: 'mcp_flightdeck_update_todo_list',
        input: { todos: [{ content: 'Ask first', status: 'in_progress' }] },
      },
    ],
    unknown: { status: 404, type: 'NOT_FOUND', message: 'models/gemini-none-9 is not found for v1beta' },
  },
] as const
type Case = (typeof cases)[number]

const programs = new Map<string, Located>()
beforeAll(async () => {
  for (const { name, find } of cases) programs.set(name, await find())
}, 600_000)
afterAll(() => threads.close())

let folder = ''
let workspace = ''
let clean: (() => Promise<unknown>)[] = []
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'acp-')))
  workspace = join(folder, 'workspace')
  await mkdir(workspace)
  await mkdir(join(folder, 'home'))
})
afterEach(async () => {
  for (const step of clean.reverse()) await step()
  clean = []
  await rm(folder, { recursive: true, force: true })
})

interface Ran {
  readonly events: readonly AgentEvent[]
  readonly usage: readonly ModelUsage[]
  readonly faults: readonly string[]
  readonly api: Pick<MessagesApi, 'requests'>
  readonly mcp: McpOfAgent
}

interface Given {
  readonly model?: string | null
  readonly env?: Readonly<Record<string, string>>
  readonly servers?: ServersOfRun
  readonly mode?: AgentMode
  /** The answer to each question. */
  readonly answer?: Answer
}

/** One turn, as the runner has it but for the sandbox. */
async function turn(
  { name, api: spoken, start }: Case,
  scripts: readonly Script[],
  { model = null, env = {}, servers, mode = 'free', answer }: Given = {},
): Promise<Ran> {
  const program = programs.get(name)
  if (program?.found !== true) throw new Error(program?.reason)
  const agent = acpAgents[name]
  const api = await start(scripts)
  clean.push(() => api.close())
  const usage: ModelUsage[] = []
  const faults: string[] = []
  const started = {
    agent,
    backend: { kind: 'broker' },
    sandbox: { kind: 'none' },
    workspace: { taskId: 'task' },
    sandboxEnv: { ...(servers && { mcp: servers }) },
  } as const
  const mcp = mcpOf(
    { logger: { warn: (...told: readonly unknown[]) => void faults.push(JSON.stringify(told)) } },
    started,
  )
  const runToken = 'token-of-this-run'
  const broker = await startBroker({
    listen: 'loopback',
    runToken,
    ...(mcp.gateway && { mcp: mcp.gateway }),
    upstream: { kind: 'http', api: spoken, baseUrl: api.baseUrl, apiKey: realKey },
    threads,
    onUsage: (used) => usage.push(used),
    onFault: ({ message }) => faults.push(message),
  })
  clean.push(() => broker.close())
  const home = join(folder, 'home')
  const present = new Set([
    'AGENTS.md',
    ...(agent.heededFiles ?? []).filter((file) => existsSync(join(workspace, file))),
  ])
  await writeHome(home, agent.home(present, workspace, nothingBrought))
  const mcpServers = mcpServersFor(started, { runToken, port: broker.port })
  const launch = agent.launch({
    binary: program.path,
    session: { kind: 'new', id: 'proposed' },
    model,
    access: {
      kind: 'loopback',
      origin: `http://127.0.0.1:${broker.port}`,
      runToken,
      scripted: false,
    },
    isRoot: false,
    mode,
    allowedRules: [],
    mcpServers,
  })
  const child = spawn(launch.argv[0] ?? '', launch.argv.slice(1), {
    cwd: workspace,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, ...launch.env, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const dialogue = agent.dialogue({ model, mode, workspace, mcpServers })
  const events: AgentEvent[] = []
  mcp.own?.follow(async (event) => {
    events.push(event)
    if (event.type !== 'question') return
    expect(mcp.own?.answer(event.requestId, [{ choices: ['Blue'], text: 'and not red', values: [] }])).toBe(
      true,
    )
  })
  const exited = once(child, 'close')
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    for (const event of dialogue.push(chunk)) {
      events.push(event)
      if (event.type === 'write') child.stdin.write(event.text)
      if (event.type === 'question' && answer !== undefined)
        child.stdin.write(dialogue.answer(event.requestId, [answer]))
      if (event.type === 'end') child.kill('SIGKILL')
    }
  })
  child.stdin.write(dialogue.message({ text: 'Hello', images: [], id: 'm1' }))
  await exited
  events.push(...dialogue.end())
  return { events, usage, faults, api, mcp }
}

/** A remote server, whose tool `multiply` is off, and two local ones, of which one has a tool that is off. */
async function someServers(): Promise<ServersOfRun> {
  const remote = await startRemoteMcp({ accepts: (authorization) => authorization === 'Bearer of-tiny' })
  clean.push(() => remote.close())
  const local = {
    name: 'local',
    command: process.execPath,
    args: ['--input-type=module', '-e', localServer],
    env: { LOCAL_KEY: 'trout' },
    toolsOff: [],
  }
  const network = { mayReachPrivate: true, codeHost: ruleOfCodeHost('http://127.0.0.1:1/ada/engine', []) }
  return {
    local: [local, { ...local, name: 'quiet', toolsOff: ['whoami'] }],
    remote: [
      {
        id: 'tiny-id',
        name: 'tiny',
        url: remote.url,
        header: { name: 'Authorization', value: 'Bearer of-tiny' },
        toolsOff: ['multiply'],
        network,
      },
    ],
    leftOut: [],
  }
}
const usesServers = ({ tool }: Case) => [
  {
    turns: [
      { tools: [{ name: tool('tiny', 'pretend'), input: {} }] },
      { tools: [{ name: tool('local', 'whoami'), input: {} }] },
      { text: 'Used.' },
    ],
  },
]

const texts = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'text' ? [event.text] : []))

describe.each(cases)('$name', (agent) => {
  beforeEach((context) => {
    const program = programs.get(agent.name)
    if (program?.found !== true) context.skip(program?.reason)
  })

  test(
    'a repository gives it instructions, and the broker puts the key in the place of the token',
    async () => {
      await writeFile(join(workspace, 'AGENTS.md'), 'In this repository everybody says plugh.\n')
      const { events, usage, api } = await turn(agent, [{ turns: [{ text: 'Here.' }] }], {
        model: agent.chosen,
      })
      expect(texts(events)).toEqual(['Here.'])
      expect(events.at(-1)).toMatchObject({ type: 'end', ok: true })
      const main = api.requests.filter(({ body }) => JSON.stringify(body).includes(agent.told))
      expect(main).toMatchObject([{ headers: { [agent.header]: realKey } }])
      expect(JSON.stringify(main)).toContain(agent.chosen)
      expect(usage.length).toBeGreaterThan(0)
    },
    patienceMs,
  )

  // Shows opencode, gemini: mcp.
  test(
    'it uses remote and local MCP servers, and no tool that is off',
    async () => {
      const { events, api, mcp, faults } = await turn(agent, usesServers(agent), {
        servers: await someServers(),
      })
      expect(texts(events)).toEqual(['Used.'])
      const asked = JSON.stringify(api.requests.at(-1)?.body)
      expect(asked).toContain('I am the user')
      expect(asked).toContain('variable of 5')
      expect(asked).toContain(agent.tool('tiny', 'pretend'))
      expect(asked).not.toContain(agent.tool('tiny', 'multiply'))
      expect(asked).not.toContain(agent.tool('quiet', 'whoami'))
      expect(mcp.leftOut.map(({ name }) => name)).toEqual(agent.hides ? [] : ['quiet'])
      expect(mcp.seen()).toEqual([
        ...['local', ...(agent.hides ? ['quiet'] : [])].map((name) => ({
          name,
          status: 'given',
          error: null,
          tools: [],
        })),
        { name: 'tiny', status: 'connected', error: null, tools: ['add', 'pretend'] },
      ])
      expect(faults).toEqual([])
    },
    patienceMs,
  )

  // Shows gemini: todos.
  // Shows opencode, gemini: questions.
  test(
    'it asks a person with our own server, which tells of its to-do list as well if it has none to tell of',
    async () => {
      const options = [{ label: 'Red' }, { label: 'Blue', description: 'As the sky.' }]
      const input = { question: 'Which <b>colour</b>?', options }
      const ask = { name: agent.tool('flightdeck', 'ask_person'), input }
      const tools = [...agent.todos.map((tool) => ({ tools: [tool] })), { tools: [ask] }]
      const { events, api, faults } = await turn(agent, [{ turns: [...tools, { text: 'Painted.' }] }])
      expect(events.filter(({ type }) => type === 'question')).toMatchObject([
        {
          asked: [
            {
              kind: 'question',
              title: 'Which <b>colour</b>?',
              options: [{ value: 'Red' }, { value: 'Blue', description: 'As the sky.' }],
            },
          ],
        },
      ])
      expect(JSON.stringify(api.requests.at(-1)?.body)).toContain('Blue, and not red')
      expect(events.filter(({ type }) => type === 'tool_started')).toMatchObject(
        agent.todos.map(() => ({ kind: 'todo', input: expect.stringContaining('Ask first') })),
      )
      expect(texts(events)).toEqual(['Painted.'])
      expect(faults).toEqual([])
    },
    patienceMs,
  )

  // Each start of a program takes seconds of computing, so `npm test` leaves these to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test(
      'a model that there is not is told as such',
      async () => {
        const { events } = await turn(agent, [{ turns: [{ fault: agent.unknown }] }], {
          model: agent.chosen,
        })
        expect(events.filter(({ type }) => type === 'error')).toMatchObject([{ code: 'bad_model' }])
        expect(events.at(-1)).toMatchObject({ type: 'end', ok: false })
      },
      patienceMs,
    )
  })
})

// `tests/server/acpRuns.spec.ts` asks and allows in the whole product.
describe.each(isLongRun ? ['opencode'] : [])('%s', () => {
  test(
    'where it asks, one tool of an MCP server that is always allowed does not allow the others',
    async () => {
      const [agent] = cases
      const { events } = await turn(agent, usesServers(agent), {
        servers: await someServers(),
        mode: 'ask',
        answer: { choices: [permissionOptions.allowInTask], text: '', values: [] },
      })
      expect(texts(events)).toEqual(['Used.'])
      const asked = events.flatMap((event) => (event.type === 'question' ? event.asked : []))
      expect(asked.map(({ title }) => title)).toEqual(['Use tiny_pretend', 'Use local_whoami'])
    },
    patienceMs,
  )
})

describe('gemini', () => {
  const [, agent] = cases
  beforeEach((context) => {
    const program = programs.get('gemini')
    if (program?.found !== true) context.skip(program?.reason)
  })

  /** A repository whose settings run programs; which of them ran is in the folder. */
  async function trap(): Promise<() => Promise<readonly string[]>> {
    const sprung = join(folder, 'sprung')
    await mkdir(sprung)
    await mkdir(join(workspace, '.gemini'))
    const touch = (name: string) => `touch ${join(sprung, name)}`
    const hooks = [{ hooks: [{ type: 'command', command: touch('hook') }] }]
    const settings = {
      hooksConfig: { enabled: true },
      hooks: { SessionStart: hooks, BeforeTool: hooks, BeforeModel: hooks },
      mcpServers: { own: { command: 'touch', args: [join(sprung, 'server')] } },
      tools: { discoveryCommand: touch('discovery') },
    }
    await writeFile(join(workspace, '.gemini/settings.json'), JSON.stringify(settings))
    await writeFile(join(workspace, '.env'), 'GEMINI_MODEL=gemini-of-the-repository\n')
    return () => readdir(sprung)
  }
  const scripts = [
    {
      turns: [{ tools: [{ name: 'Bash', input: { command: 'pwd', description: 'Look' } }] }, { text: 'So.' }],
    },
  ]

  test(
    'nothing of what a repository sets takes effect',
    async () => {
      const sprung = await trap()
      const { events, api, mcp } = await turn(agent, scripts, { servers: await someServers() })
      expect(events.at(-1)).toMatchObject({ type: 'end', ok: true })
      expect(texts(events)).toEqual(['So.'])
      expect(await sprung()).toEqual([])
      expect(JSON.stringify(api.requests)).not.toContain('of-the-repository')
      expect(mcp.seen().find(({ name }) => name === 'tiny')).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('a folder .gemini'),
      })
    },
    patienceMs,
  )

  test(
    'neither do skills and variables of a repository that has no settings for it',
    async () => {
      await mkdir(join(workspace, '.agents/skills/own'), { recursive: true })
      const skill = '---\nname: own\ndescription: A skill of-the-repository\n---\nDo it.\n'
      await writeFile(join(workspace, '.agents/skills/own/SKILL.md'), skill)
      await writeFile(join(workspace, '.env'), 'GEMINI_MODEL=gemini-of-the-repository\n')
      const { events, api, mcp } = await turn(agent, scripts, { servers: await someServers() })
      expect(texts(events)).toEqual(['So.'])
      expect(mcp.seen().at(-1)).toMatchObject({ name: 'tiny', status: 'connected' })
      expect(JSON.stringify(api.requests)).not.toContain('of-the-repository')
    },
    patienceMs,
  )

  // Each start of a program takes seconds of computing, so `npm test` leaves this to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test(
      'it would, if the folder were trusted',
      async () => {
        const sprung = await trap()
        await turn(agent, scripts, { env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' } })
        expect(await sprung()).not.toEqual([])
      },
      patienceMs,
    )
  })

  test(
    'a search, which the model would do from its side, is refused by the broker',
    async () => {
      const search = { name: 'google_web_search', input: { query: 'flightdeck' } }
      const { faults, api } = await turn(agent, [{ turns: [{ tools: [search] }, { text: 'Not found.' }] }])
      expect(faults).toEqual([expect.stringContaining('tools: googleSearch')])
      expect(api.requests.at(-1)?.body).toMatchObject({ contents: expect.anything() })
      expect(JSON.stringify(api.requests.at(-1)?.body)).toContain('network settings can allow it')
    },
    patienceMs,
  )
})
