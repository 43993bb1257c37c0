/** Runs of agents that speak ACP, through the product: the real programs, each on its model's API as a script has it. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { setAgentKey } from '#domain/api/agentKeys.schema.ts'
import { getChat, getCommands, getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { uploadImage } from '#domain/api/images.schema.ts'
import { answerQuestion, listQuestions } from '#domain/api/questions.schema.ts'
import { setProjectMcpServers, type McpServerInput } from '#domain/api/mcpServers.schema.ts'
import {
  getProjectSettings,
  setProjectSecret,
  updateProjectSettings,
} from '#domain/api/projectSettings.schema.ts'
import { getAgents } from '#domain/api/server.schema.ts'
import { cancelTask, createTask, getTaskDiff, type Task } from '#domain/api/tasks.schema.ts'
import type { KeyProvider } from '#domain/agentKeys.ts'
import type { AgentMode } from '#domain/task/questionEvents.ts'
import type { Located } from '../../services/runner/agents/locate.ts'
import { isLongRun } from '../longRun.ts'
import { geminiProgram } from '../geminiProgram.ts'
import { opencodeProgram } from '../opencodeProgram.ts'
import { apiKey } from '../product.ts'
import { note } from '../report/notes.ts'
import { startGeminiApi } from '../standins/geminiApi.ts'
import {
  createGate,
  startMessagesApi,
  type Gate,
  type Script,
  type SeenRequest,
} from '../standins/messagesApi.ts'
import { picture } from './pictures.ts'
import { startRemoteMcp } from '../standins/mcp/remoteServer.ts'
import { localSettings, remoteSettings } from './mcpSettings.ts'
import { hasEnded, openScene, watching, type Scene } from './scene.ts'

type Tool = NonNullable<Script['turns'][number]['tools']>[number]
interface Opened {
  readonly scene: Scene
  /** What its model was asked. */
  readonly requests: readonly SeenRequest[]
  close(): Promise<void>
}
interface Case {
  readonly name: 'opencode' | 'gemini'
  program(): Promise<Located>
  open(program: string, scripts: readonly Script[]): Promise<Opened>
  readonly start: typeof startMessagesApi
  /** The last part of its API's address, which people may enter too. */
  readonly version: string
  readonly key: { readonly variable: string; readonly header: string; readonly provider: KeyProvider }
  bash(command: string): Tool
  write(file: string): Tool
  mcp(server: string, tool: string, input: Tool['input']): Tool
  readonly todos: readonly Tool[]
  /** What is told of its tools. */
  readonly logs: readonly object[]
  /** How full its context is, where it says that. */
  readonly measured: Pick<Task, 'context'>
  /** A file of the repository that could name programs to run, and what comes of it. */
  readonly plugged: { readonly file: string; readonly outcome: object }
  /** An image in the request to its model. */
  readonly image: RegExp
}

const cases: readonly Case[] = [
  {
    name: 'opencode',
    program: opencodeProgram,
    async open(program, scripts) {
      const scene = await openScene(scripts, { env: { OPENCODE_BIN: program, PRIVATE_EGRESS: '1' } })
      return { scene, requests: scene.api.requests, close: () => scene.close() }
    },
    start: startMessagesApi,
    version: 'v1',
    key: { variable: 'ANTHROPIC_API_KEY', header: 'x-api-key', provider: 'anthropic' },
    bash: (command) => ({ name: 'bash', input: { command, description: 'Work' } }),
    write: (file) => ({
      name: 'write',
      input: { filePath: `/workspace/${file}`, content: 'Written.\n' },
    }),
    mcp: (server, tool, input) => ({ name: `${server}_${tool}`, input }),
    todos: [
      {
        name: 'todowrite',
        input: {
          todos: [
            { content: 'Write the note', status: 'in_progress', priority: 'high' },
            { content: 'Look at it', status: 'pending', priority: 'low' },
          ],
        },
      },
    ],
    measured: { context: { usedTokens: expect.any(Number), windowTokens: expect.any(Number) } },
    logs: [
      { kind: 'thinking', name: 'thinking', status: 'completed', output: 'A note, then.' },
      { kind: 'todo', name: 'Todo', status: 'completed', input: expect.stringContaining('Look at it') },
      { kind: 'edit', name: 'Write', target: 'note.txt', status: 'completed' },
      {
        kind: 'run',
        name: 'Bash',
        target: expect.stringContaining('environ'),
        status: 'failed',
        exitCode: 3,
      },
    ],
    plugged: {
      file: '.opencode/plugin/own.js',
      outcome: {
        status: 'failed',
        failure: { code: 'no_agent', reason: expect.stringContaining('.opencode') },
      },
    },
    image: /"type":"image".{0,100}"media_type":"image\/png"/,
  },
  {
    name: 'gemini',
    program: geminiProgram,
    async open(program, scripts) {
      const api = await startGeminiApi(scripts)
      const env = { GEMINI_BIN: program, GEMINI_API_KEY: apiKey, GOOGLE_GEMINI_BASE_URL: api.baseUrl }
      const scene = await openScene([], { env: { ...env, PRIVATE_EGRESS: '1' } })
      return { scene, requests: api.requests, close: () => scene.close().finally(() => api.close()) }
    },
    start: startGeminiApi,
    version: 'v1beta',
    key: { variable: 'GEMINI_API_KEY', header: 'x-goog-api-key', provider: 'google' },
    bash: (command) => ({ name: 'Bash', input: { command, description: 'Work' } }),
    write: (file) => ({
      name: 'Write',
      // gemini does not start with settings that cannot be read.
      input: { file_path: `/workspace/${file}`, content: file.endsWith('.json') ? '{}\n' : 'Written.\n' },
    }),
    mcp: (server, tool, input) => ({ name: `mcp_${server}_${tool}`, input }),
    todos: [
      {
        name: 'mcp_flightdeck_update_todo_list',
        input: { todos: [{ content: 'Look at it', status: 'pending' }] },
      },
    ],
    measured: {},
    logs: [
      { kind: 'thinking', name: 'thinking', status: 'completed', output: expect.stringContaining('A note') },
      { kind: 'todo', name: 'Todo', status: 'completed', input: expect.stringContaining('Look at it') },
      { kind: 'edit', name: 'Edit', target: 'note.txt', status: 'completed' },
      { kind: 'run', name: 'Shell', target: expect.stringContaining('environ'), status: 'completed' },
    ],
    plugged: { file: '.gemini/settings.json', outcome: { status: 'completed', failure: null } },
    image: /"inlineData":\{[^}]*"mimeType":"image\/png"/,
  },
]

const colour = { question: 'Which colour?', options: [{ label: 'Red' }, { label: 'Blue' }] }
const scriptsOf = (
  { bash, write, mcp, todos, plugged }: Case,
  { speak, wait }: Readonly<Record<'speak' | 'wait', Gate>>,
): readonly Script[] => [
  {
    when: /^Write note\.txt/,
    turns: [
      {
        thinking: 'A note, then.',
        text: 'I write it now.',
        hold: { afterWords: 0, gate: speak },
        tools: [...todos, write('note.txt')],
      },
      { tools: [bash('env; cat /proc/$PPID/environ | tr "\\0" "\\n"; exit 3')] },
      { text: 'Written, and looked.' },
    ],
  },
  { when: /What did you write\?$/, turns: [{ text: 'A note.' }] },
  { when: /And where\?$/, turns: [{ text: 'In note.txt.' }] },
  { when: /^Wait/, turns: [{ text: 'I have begun. And I go on.', hold: { afterWords: 3, gate: wait } }] },
  {
    when: /^Change it step by step/,
    turns: [
      { tools: [bash('touch one.txt')] },
      { tools: [write('two.txt')] },
      { tools: [bash('touch one.txt')] },
      { text: 'Changed.' },
    ],
  },
  {
    when: /^Use both/,
    turns: [
      { tools: [mcp('tiny', 'pretend', {})] },
      { tools: [mcp('local', 'whoami', {})] },
      {
        tools: [
          bash(
            'env; cat /proc/*/environ /proc/*/cmdline; grep -r swordfish /home /tmp /run /workspace; true',
          ),
        ],
      },
      { text: 'Used both.' },
    ],
  },
  // gemini puts the answer behind the message that it had not finished.
  { when: /Which colour\?\s+Blue/, turns: [{ text: 'Blue it is.' }] },
  {
    when: /^(?:Paint it|Ask and be killed)/,
    turns: [{ tools: [mcp('flightdeck', 'ask_person', colour)] }, { text: 'Painted.' }],
  },
  { when: /^Plug in/, turns: [{ tools: [write(plugged.file)] }, { text: 'Plugged in.' }] },
  { when: /^Say/, turns: [{ text: 'Said.' }] },
  {
    when: /^Answer 429 once/,
    turns: [{ fault: { status: 429, type: 'rate_limit_error' } }, { text: 'Said.' }],
  },
  { when: /^Answer 401/, turns: [{ fault: { status: 401, type: 'authentication_error' } }] },
]

/** Each start of gemini takes seconds of computing, so `npm test` leaves its runs to the long tests; `acp/cli.test.ts` always runs it. */
const tried = cases.filter(({ name }) => isLongRun || name !== 'gemini')
if (!isLongRun)
  note('runs of gemini', 'the real CLI without the product; the product only in `npm run test:long`')

describe.each(tried)('$name', (agent) => {
  const gates = { speak: createGate(), wait: createGate() }
  let program: Located
  let opened: Opened
  let scene: Scene
  beforeAll(async () => {
    program = await agent.program()
    if (!program.found) return
    opened = await agent.open(program.path, scriptsOf(agent, gates))
    scene = opened.scene
    const more = isLongRun ? '' : '; images, keys, MCP servers and retries only in `npm run test:long`'
    note(`runs of ${agent.name}`, `the real CLI, on a scripted API of its model${more}`)
  }, 360_000)
  beforeEach((context) => {
    if (!program.found) context.skip(program.reason)
  })
  afterAll(async () => {
    gates.speak.release()
    gates.wait.release()
    await opened?.close()
  })

  const begin = async (description: string, mode: AgentMode = 'free') => {
    const body = { projectId: scene.projectId, description, branch: 'main', agent: agent.name, mode }
    return (await scene.ada.ask(createTask, { body })).task.id
  }
  const of = (taskId: string) => ({ params: { taskId } })
  const ended = (taskId: string, turn = 1) =>
    scene.ada.taskOnce(taskId, (now) => hasEnded(now) && now.execution?.turn === turn, 60_000)
  const answersOf = async (taskId: string) =>
    (await scene.ada.ask(getChat, of(taskId))).messages
      .filter(({ messageType }) => messageType === 'response')
      .map(({ message }) => message)
  const say = (taskId: string, message: string) =>
    scene.ada.ask(sendMessage, { ...of(taskId), body: { message } })
  const earlier = () => JSON.stringify(opened.requests.at(-1)?.body)

  // Shows opencode: todos, context.
  // Shows opencode, gemini: streaming, thinking, resume, restart.
  test('it streams its text, tells what it does, and goes on after a restart of the server', async () => {
    const taskId = await begin('Write note.txt')
    const live = await watching(scene.ada, taskId)
    gates.speak.release()
    const streamed = () =>
      live
        .of('chat_message_delta')
        .map(({ text }) => text)
        .join('')
    await live.until('its first words', () => streamed().includes('I write it now.'))
    live.close()
    expect(await ended(taskId)).toMatchObject({ status: 'completed', failure: null, ...agent.measured })
    expect(await answersOf(taskId)).toEqual(['I write it now.', 'Written, and looked.'])
    const { data } = await scene.ada.ask(getTaskDiff, of(taskId))
    expect(data.changedFiles).toMatchObject([{ fileName: 'note.txt', additions: 1 }])
    const { logs } = await scene.ada.ask(getCommands, of(taskId))
    expect(logs).toMatchObject(agent.logs)
    expect(JSON.stringify(logs)).toContain('HOME=/home/agent')
    expect(JSON.stringify(logs)).not.toContain(apiKey)
    expect(opened.requests.every(({ headers }) => headers[agent.key.header] === apiKey)).toBe(true)

    await say(taskId, 'What did you write?')
    expect(await ended(taskId, 2)).toMatchObject({ status: 'completed' })
    expect(await answersOf(taskId)).toContain('A note.')
    expect(earlier()).toContain('I write it now.')

    await scene.product.kill9()
    await scene.product.restart()
    await say(taskId, 'And where?')
    expect(await ended(taskId, 3)).toMatchObject({ status: 'completed' })
    expect(await answersOf(taskId)).toEqual([
      'I write it now.',
      'Written, and looked.',
      'A note.',
      'In note.txt.',
    ])
    // The session itself goes on, and is not told anew.
    expect(earlier()).toContain('A note.')
    expect(earlier().split('What did you write?')).toHaveLength(2)
    expect(scene.product.logs.stdout + scene.product.logs.stderr).not.toContain(apiKey)
  })

  // Shows opencode, gemini: ask.
  test('it asks before each change, and not again what is allowed in the task', async () => {
    const { ada } = scene
    const questions = async (taskId: string) => (await ada.ask(listQuestions, of(taskId))).questions
    const answer = async (taskId: string, count: number, said: string) => {
      await expect.poll(async () => (await questions(taskId)).length).toBe(count)
      const asked = (await questions(taskId)).at(-1)
      await ada.ask(answerQuestion, {
        params: { taskId, questionId: asked?.id ?? '' },
        body: { answer: said },
      })
      return asked
    }
    const taskId = await begin('Change it step by step', 'ask')
    expect(await answer(taskId, 1, 'allow_in_task')).toMatchObject({
      kind: 'permission',
      title: 'Run a command',
      body: '```sh\ntouch one.txt\n```',
      allowsText: false,
    })
    expect(await answer(taskId, 2, 'allow')).toMatchObject({
      title: 'Edit two.txt',
      body: expect.stringContaining('+Written.'),
    })
    expect(await ended(taskId)).toMatchObject({ status: 'completed' })
    expect((await answersOf(taskId)).at(-1)).toBe('Changed.')
    expect((await questions(taskId)).map(({ isDelivered }) => isDelivered)).toEqual([true, true])
  })

  // Shows opencode, gemini: cancel.
  test('it stops when it is cancelled, and nothing of it is left', async () => {
    const running = async () =>
      (await scene.product.processes())
        .filter(({ command }) => command.includes('/opt/agent/'))
        .map(({ pid }) => pid)
    // Agents of other tasks wait for their next message.
    const others = await running()
    const taskId = await begin('Wait')
    const beingSaid = async () =>
      (await scene.ada.ask(getTerminal, of(taskId))).deltas.map(({ text }) => text).join('')
    await expect.poll(beingSaid).toContain('begun')
    const pids = (await running()).filter((pid) => !others.includes(pid))
    expect(pids.length).toBeGreaterThan(0)
    await scene.ada.ask(cancelTask, of(taskId))
    expect(await scene.ada.taskOnce(taskId, hasEnded)).toMatchObject({ status: 'cancelled', failure: null })
    expect((await running()).filter((pid) => pids.includes(pid))).toEqual([])
  })

  const open = async (taskId: string) => {
    const find = async () =>
      (await scene.ada.ask(listQuestions, of(taskId))).questions.find(({ status }) => status === 'open')
    await expect.poll(find).toBeDefined()
    return (await find())?.id ?? ''
  }

  test('its question waits in sight, and the answer reaches it', async () => {
    const taskId = await begin('Paint it')
    const params = { taskId, questionId: await open(taskId) }
    const answered = await scene.ada.ask(answerQuestion, { params, body: { answer: 'Blue' } })
    expect(answered.question).toMatchObject({ status: 'answered', delivery: 'agent', title: 'Which colour?' })
    expect(await ended(taskId)).toMatchObject({ status: 'completed', waitingFor: null })
    expect(await answersOf(taskId)).toEqual(['Painted.'])
    const [question] = (await scene.ada.ask(listQuestions, of(taskId))).questions
    expect(question).toMatchObject({ isDelivered: true })
    // Only the question itself is shown.
    expect((await scene.ada.ask(getCommands, of(taskId))).logs).toEqual([])
  })

  test('what a repository has for it runs no programs', async () => {
    const taskId = await begin('Plug in')
    expect(await ended(taskId)).toMatchObject({ status: 'completed' })
    await say(taskId, 'Go on')
    expect(await ended(taskId, 2)).toMatchObject(agent.plugged.outcome)
  })

  test('it is told as installed, with its version', async () => {
    const { agents } = await scene.ada.ask(getAgents, {})
    expect(agents.find(({ name }) => name === agent.name)).toMatchObject({
      installed: true,
      version: program.found ? program.version : null,
      keyInSandbox: false,
      missing: null,
    })
  })

  // Each start of a program takes seconds of computing, so `npm test` leaves these to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    // Shows opencode, gemini: images.
    test('it is given the image that comes with a message', async () => {
      const form = new FormData()
      form.set('image', new File([new Uint8Array(await picture('image/png', 60, 40))], 'plan.png'))
      const headers = { authorization: `Bearer ${scene.ada.token}` }
      const address = `${scene.product.base}/api${uploadImage.path}`
      const uploaded = await fetch(address, { method: 'POST', headers, body: form })
      const image = uploadImage.answer.parse(await uploaded.json())
      const taskId = await begin('Say')
      expect(await ended(taskId)).toMatchObject({ status: 'completed' })
      const body = { message: 'What did you write?', images: [image.id] }
      await scene.ada.ask(sendMessage, { ...of(taskId), body })
      expect(await ended(taskId, 2)).toMatchObject({ status: 'completed' })
      expect(earlier()).toMatch(agent.image)
    })

    test('its question of a run that a crash ended is answered with the next turn', async () => {
      const taskId = await begin('Ask and be killed')
      const params = { taskId, questionId: await open(taskId) }
      await scene.product.kill9()
      await scene.product.restart()
      expect(await ended(taskId)).toMatchObject({ status: 'failed', waitingFor: 'question' })
      await scene.ada.ask(answerQuestion, { params, body: { answer: 'Blue' } })
      expect(await ended(taskId, 2)).toMatchObject({ status: 'completed', waitingFor: null })
      expect(await answersOf(taskId)).toContain('Blue it is.')
    })

    test('it uses a local and a remote MCP server, and the credential is nowhere in its sandbox', async () => {
      const credential = 'Bearer swordfish-of-the-remote-server'
      const remote = await startRemoteMcp({ accepts: (authorization) => authorization === credential })
      const { ada, projectId } = scene
      const params = { projectId }
      const choose = (servers: readonly McpServerInput[]) =>
        ada.ask(setProjectMcpServers, { params, body: { servers: [...servers] } })
      try {
        await ada.ask(setProjectSecret, {
          params: { ...params, name: 'LOCAL_KEY' },
          body: { value: 'trout-of-it' },
        })
        await choose([localSettings, remoteSettings(remote.url, credential)])
        const taskId = await begin('Use both')
        expect(await ended(taskId)).toMatchObject({ status: 'completed' })
        expect(earlier()).toContain('I am the user')
        expect(earlier()).toContain('variable of 11')
        expect(earlier()).not.toContain('swordfish-of-the')
        const { output } = await ada.ask(getTerminal, of(taskId))
        const shown = output.map(({ content }) => content).join('')
        expect(shown).toContain('MCP server tiny: connected with 3 tools.')
        expect(shown).toContain('MCP server local: given to the agent, which does not say how it is.')
        expect(shown).not.toContain('swordfish-of-the')
      } finally {
        await choose([])
        await remote.close()
      }
    })

    test('a key that its model refuses is told in a sentence', async () => {
      const taskId = await begin('Answer 401')
      const { failure } = await ended(taskId)
      expect(failure).toMatchObject({
        code: 'unauthorized',
        reason: expect.stringContaining(agent.key.variable),
      })
    })

    test('a retry of a call to its model, of which it says nothing, is told', async () => {
      const taskId = await begin('Answer 429 once')
      expect(await ended(taskId)).toMatchObject({ status: 'completed' })
      const { output } = await scene.ada.ask(getTerminal, of(taskId))
      expect(output.map(({ content }) => content).join('')).toContain(
        "The model's API answers 429. The agent may try again by itself.",
      )
    })

    test("a person's own key pays, and one that is refused when it is entered is not stored", async () => {
      const { provider, header } = agent.key
      const own = 'sk-the-key-of-ada-which-no-sandbox-sees-0001'
      await scene.ada.ask(setAgentKey, { body: { provider, value: own } })
      const revoked = { body: { provider, value: 'sk-revoked-long-ago-0001' } }
      expect(await scene.ada.refused(setAgentKey, revoked)).toMatchObject({ code: 'key_refused' })
      const taskId = await begin('Say')
      expect(await ended(taskId)).toMatchObject({ status: 'completed' })
      expect(opened.requests.at(-1)?.headers[header]).toBe(own)
      await scene.ada.ask(setAgentKey, { body: { provider, value: null } })
    })

    test("a project's key pays, at the project's own address alone", async () => {
      const { provider, header } = agent.key
      const value = 'sk-of-the-gateway-which-no-sandbox-sees-0002'
      const gateway = await agent.start(scriptsOf(agent, gates))
      onTestFinished(() => gateway.close())
      const params = { projectId: scene.projectId }
      const modelKey = { provider, baseUrl: `${gateway.baseUrl}/team/${agent.version}/`, value }
      const set = (change: object = {}) => ({ params, body: { modelKey: { ...modelKey, ...change } } })
      const revoked = set({ value: 'sk-revoked-at-the-gateway-0002' })
      expect(await scene.ada.refused(updateProjectSettings, revoked)).toMatchObject({ code: 'key_refused' })
      await scene.ada.ask(updateProjectSettings, set())
      const { settings } = await scene.ada.ask(getProjectSettings, { params })
      expect(settings.modelKeys).toMatchObject([{ baseUrl: `${gateway.baseUrl}/team`, checked: true }])
      expect(await ended(await begin('Say'))).toMatchObject({ status: 'completed' })
      expect(gateway.requests.length).toBeGreaterThan(0)
      for (const { path, headers } of gateway.requests) {
        expect(path.startsWith(`/team/${agent.version}/`)).toBe(true)
        expect(headers).toMatchObject({ [header]: value, authorization: `Bearer ${value}` })
      }
      const { failure } = await ended(await begin('Answer 401'))
      expect(failure?.reason).toMatch(/^127\.0\.0\.1:\d+ refused the project's key\. Replace or remove it/)
      expect(opened.requests.filter(({ headers }) => headers[header] === value)).toEqual([])
      await scene.ada.ask(updateProjectSettings, set({ value: null }))
    })
  })
})
