/** The same eight runs for every agent, in the whole product: `claude` and `codex` are the real CLIs with scripted APIs, `cursor` is an imitation. */
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, type TestContext } from 'vitest'
import { agentNames } from '#domain/agents.ts'
import { getAgents } from '#domain/api/server.schema.ts'
import { getChat, getCommands, getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { uploadImage } from '#domain/api/images.schema.ts'
import { cancelTask, createTask, getTaskDiff, updateTask, type Task } from '#domain/api/tasks.schema.ts'
import type { Located } from '../../services/runner/agents/locate.ts'
import { codexProgram } from '../codexProgram.ts'
import { ownFolder } from '../product.ts'
import { note } from '../report/notes.ts'
import { installCursorAgent } from '../standins/cursorAgent.ts'
import { createGate, type Script } from '../standins/messagesApi.ts'
import { startResponsesApi, type ResponsesApi } from '../standins/responsesApi.ts'
import { picture } from './pictures.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'
import { firstCases, isLongRun } from '../longRun.ts'

/** Agents that speak ACP have runs of their own: acpRuns.spec.ts. */
const own = ['claude', 'cursor', 'codex'] as const
type Own = (typeof own)[number]

/** What the real CLI is answered, by what it is asked; the look-alike does the same by itself. */
const scripts: readonly Script[] = [
  {
    when: /^Write note\.txt/,
    turns: [
      {
        text: 'I write it.',
        tools: [
          {
            name: 'Write',
            input: { file_path: '/workspace/note.txt', content: 'Written by a look-alike.\n' },
          },
        ],
      },
      { text: 'Written.' },
    ],
  },
  {
    when: /^Run what fails/,
    turns: [
      { tools: [{ name: 'Bash', input: { command: 'echo tried; exit 3', description: 'Try' } }] },
      { text: 'It failed.' },
    ],
  },
  ...(
    [
      [401, 'authentication_error'],
      [429, 'rate_limit_error'],
      [529, 'overloaded_error'],
    ] as const
  ).map(([status, type]) => ({
    when: new RegExp(`^Answer ${status}`),
    turns: [{ fault: { status, type, isFinal: true } }],
  })),
  { when: /^Say it with another/, turns: [{ fault: { status: 404, type: 'not_found_error' } }] },
  {
    when: /^Wait/,
    turns: [{ text: 'I have begun. And I go on.', hold: { afterWords: 3, gate: createGate() } }],
  },
  { when: /^Be silent/, turns: [{ delayMs: 600_000 }] },
  { when: /^Remember/, turns: [{ text: 'Done.' }] },
  { when: /^What did I say/, turns: [{ text: 'You said it.' }] },
]

/** A model that each agent passes on and that its side does not have. */
const unknownModel = { claude: 'claude-none-9', cursor: 'gpt-none-9', codex: 'gpt-none-9' } as const

const chosenModel = { claude: 'claude-chosen-7', cursor: 'composer-2', codex: 'gpt-chosen-7' } as const

let folder = ''
let scene: Scene
/** Where the API that `codex` asks is, and its program; without the program its runs are skipped. */
let responses: ResponsesApi
let codex: Located
const environment = (cursorAgent: string) => ({
  ...(codex.found && { CODEX_BIN: codex.path }),
  OPENAI_API_KEY: 'sk-a-key-that-only-the-broker-may-hold',
  OPENAI_BASE_URL: responses.baseUrl,
  CURSOR_BIN: cursorAgent,
  CURSOR_API_KEY: 'the-key-of-cursor',
  // Each message finds a new process, which has to take its session up.
  IDLE_AGENT_SECONDS: '0',
  // An overloaded model is asked once more, and is still overloaded.
  MODEL_RETRY_SECONDS: '1',
})
beforeAll(async () => {
  folder = await ownFolder()
  const cursorAgent = await installCursorAgent(folder)
  responses = await startResponsesApi(scripts)
  codex = await codexProgram()
  scene = await openScene(scripts, { env: environment(cursorAgent) })
  note('runs of claude', 'the real CLI, on a scripted Messages API, not Anthropic')
  if (codex.found) note('runs of codex', 'the real CLI, on a scripted Responses API, not OpenAI')
  note('runs of cursor', 'a look-alike of cursor-agent made from its documented format, not the real one')
})
afterAll(async () => {
  await scene?.close()
  await responses?.close()
  await rm(folder, { recursive: true, force: true })
})

async function begin(agent: Own, description: string, codexModel: string | null = null, at = scene) {
  const body = {
    projectId: at.projectId,
    description,
    branch: 'main',
    agent,
    ...(codexModel === null ? {} : { codexModel }),
  }
  return (await at.ada.ask(createTask, { body })).task
}
async function run(agent: Own, description: string, codexModel: string | null = null): Promise<Task> {
  const { id } = await begin(agent, description, codexModel)
  return scene.ada.taskOnce(id, hasEnded)
}
const of = (task: { readonly id: string }) => ({ params: { taskId: task.id } })
const answersOf = async (task: { readonly id: string }) =>
  (await scene.ada.ask(getChat, of(task))).messages
    .filter(({ messageType }) => messageType === 'response')
    .map(({ message, agent }) => `${agent}: ${message}`)
/** What its agent did; what it thought is in the log as well. */
async function toolCallsOf(task: Parameters<typeof of>[0]) {
  const { logs } = await scene.ada.ask(getCommands, of(task))
  return logs.filter(({ kind }) => kind !== 'thinking')
}
/** A task whose agent has begun to speak and stays at it, and what it runs as. */
async function waiting(agent: Own) {
  const task = await begin(agent, 'Wait')
  const beingSaid = async () =>
    (await scene.ada.ask(getTerminal, of(task))).deltas.map(({ text }) => text).join('')
  await expect.poll(beingSaid).toContain('begun')
  const processes = await scene.product.processes()
  return {
    task,
    pids: processes.filter(({ command }) => command.startsWith('/opt/agent/')).map(({ pid }) => pid),
  }
}

function skipWithout(agent: Own, context: TestContext): void {
  if (agent === 'codex' && !codex.found) context.skip(codex.reason)
}

describe.each(own)('%s', (agent) => {
  beforeEach((context) => skipWithout(agent, context))

  test('does what it is asked, and what it did is told', async () => {
    const task = await run(agent, 'Write note.txt')
    expect(task).toMatchObject({ status: 'completed', failure: null, agent })
    expect(await answersOf(task)).toEqual([`${agent}: I write it.`, `${agent}: Written.`])
    const { data } = await scene.ada.ask(getTaskDiff, of(task))
    expect(data.changedFiles).toMatchObject([{ fileName: 'note.txt', additions: 1, deletions: 0 }])
    const logs = await toolCallsOf(task)
    expect(logs).toMatchObject([
      {
        kind: 'edit',
        name: 'Write',
        target: 'note.txt',
        status: 'completed',
        additions: 1,
      },
    ])
    const { output } = await scene.ada.ask(getTerminal, of(task))
    expect(output.map(({ content }) => content).join('')).toMatch(/Session opened.*note\.txt.*Finished in/s)
  })

  // Other tests show these with the agent alone, so `npm test` leaves them in the whole product to the long tests.
  describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
    test('goes on after a tool that failed, with its exit code told', async () => {
      const task = await run(agent, 'Run what fails')
      expect(task).toMatchObject({ status: 'completed', failure: null })
      expect(await answersOf(task)).toEqual([`${agent}: It failed.`])
      const logs = await toolCallsOf(task)
      expect(logs).toMatchObject([
        {
          kind: 'run',
          target: 'echo tried; exit 3',
          status: 'failed',
          exitCode: 3,
          output: expect.stringContaining('tried'),
        },
      ])
    })

    test.each([
      [401, 'unauthorized'],
      [429, 'rate_limited'],
      [529, 'overloaded'],
    ])('fails when its API answers %i, as %s', async (status, code) => {
      const task = await run(agent, `Answer ${status}`)
      expect(task).toMatchObject({ status: 'failed', failure: { code } })
      const { messages } = await scene.ada.ask(getChat, of(task))
      expect(messages.at(-1)).toMatchObject({ messageType: 'error', message: task.failure?.reason })
    })

    test('fails with a model that there is not, as bad_model', async () => {
      const task = await run(agent, 'Say it with another', unknownModel[agent])
      expect(task).toMatchObject({ status: 'failed', failure: { code: 'bad_model' } })
      expect(task.failure?.reason).toMatch(/model/)
    })
  })

  // Shows claude, cursor, codex: cancel.
  test('stops when it is cancelled, and nothing of it is left', async () => {
    const { task, pids } = await waiting(agent)
    expect(pids.length).toBeGreaterThan(0)
    await scene.ada.ask(cancelTask, of(task))
    expect(await scene.ada.taskOnce(task.id, hasEnded)).toMatchObject({ status: 'cancelled', failure: null })
    const left = (await scene.product.processes()).map(({ pid }) => pid)
    expect(left.filter((pid) => pids.includes(pid))).toEqual([])
  })

  test('fails when it is killed, with what it had said kept', async () => {
    const { task, pids } = await waiting(agent)
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    expect(await scene.ada.taskOnce(task.id, hasEnded)).toMatchObject({
      status: 'failed',
      failure: { code: 'agent_died' },
    })
    expect((await answersOf(task)).join()).toMatch(/I have begun\./)
  })

  // Shows claude, cursor, codex: resume, images.
  test('takes its session up with the next message, and is given the image that comes with it, and the model that was chosen since', async () => {
    const first = await run(agent, 'Remember the plum')
    const codexModel = chosenModel[agent]
    await scene.ada.ask(updateTask, { ...of(first), body: { codexModel } })
    const form = new FormData()
    form.set('image', new File([new Uint8Array(await picture('image/png', 60, 40))], 'plan.png'))
    const { base } = scene.product
    const uploaded = await fetch(`${base}/api${uploadImage.path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${scene.ada.token}` },
      body: form,
    })
    const image = uploadImage.answer.parse(await uploaded.json())
    const bytes = Buffer.from(await (await fetch(`${base}${image.url}`)).arrayBuffer())
    const message = 'What did I say?'
    await scene.ada.ask(sendMessage, { ...of(first), body: { message, images: [image.id] } })
    const task = await scene.ada.taskOnce(
      first.id,
      (now) => hasEnded(now) && now.execution?.turn === 2,
      50_000,
    )
    expect(task).toMatchObject({ status: 'completed', codexModel, modelAgent: agent })
    expect(
      (await scene.ada.ask(getTerminal, of(task))).output.map(({ content }) => content).join(''),
    ).toContain(codexModel)
    expect(await heardOf(agent, first)).toEqual({ earlier: true, image: digest(bytes) })
  })

  // Shows claude, cursor, codex: restart.
  test('goes on in its session after a restart of the server', async () => {
    const task = await run(agent, 'Remember the plum')
    await scene.product.kill9()
    await scene.product.restart()
    await scene.ada.ask(sendMessage, { ...of(task), body: { message: 'What did I say?' } })
    const turnTwo = (now: Task) => hasEnded(now) && now.execution?.turn === 2
    expect(await scene.ada.taskOnce(task.id, turnTwo, 90_000)).toMatchObject({ status: 'completed' })
    expect(await heardOf(agent, task)).toMatchObject({ earlier: true })
  })
})

test('claude, whose session is lost, is told the conversation', async () => {
  const task = await run('claude', 'Remember the plum')
  const home = join(scene.product.dataDir, 'runner', 'tasks', task.id, 'home')
  await rm(join(home, '.claude/projects'), { recursive: true })
  await scene.ada.ask(sendMessage, { ...of(task), body: { message: 'What did I say?' } })
  const turnTwo = (now: Task) => hasEnded(now) && now.execution?.turn === 2
  expect(await scene.ada.taskOnce(task.id, turnTwo)).toMatchObject({ status: 'completed' })
  expect(await heardOf('claude', task)).toMatchObject({ earlier: true })
})

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** Whether the agent knew, in its last turn, what was said before, and the hash of the image that it was given. */
async function heardOf(agent: Own, task: { readonly id: string }) {
  const { requests } = agent === 'codex' ? responses : scene.api
  const said =
    agent === 'cursor' ? ((await answersOf(task)).at(-1) ?? '') : JSON.stringify(requests.at(-1)?.body)
  const sent = /(?:"data":"|data:image\/png;base64,)([^"]+)"/.exec(said)?.[1] ?? ''
  const image =
    agent === 'cursor' ? /bytes, ([0-9a-f]{64})/.exec(said)?.[1] : digest(Buffer.from(sent, 'base64'))
  return { earlier: said.includes('Remember the plum'), image }
}

describe('cursor, whose process is its own affair,', () => {
  test('may hang after its result: its turn is over all the same', async () => {
    const task = await run('cursor', 'Hang after the result')
    expect(task).toMatchObject({ status: 'completed' })
    expect(await answersOf(task)).toEqual(['cursor: I am done and stay.'])
  })

  test('shows its key in nothing that is recorded or logged', async () => {
    const task = await run('cursor', 'Print the key')
    const { output } = await scene.ada.ask(getTerminal, of(task))
    const logs = await toolCallsOf(task)
    expect(logs).toMatchObject([{ kind: 'run', target: 'printenv CURSOR_API_KEY', status: 'completed' }])
    const recorded = JSON.stringify([
      output,
      logs,
      await scene.ada.ask(getChat, of(task)),
      scene.product.logs,
    ])
    expect(recorded).not.toContain('the-key-of-cursor')
  })
})

test('every agent is there, each with its version and what people should know of its key', async () => {
  expect(await scene.ada.ask(getAgents)).toEqual({
    agents: [
      {
        name: 'claude',
        installed: true,
        version: expect.stringMatching(/^\d+\.\d+/),
        missing: null,
        keyInSandbox: false,
        models: expect.arrayContaining([expect.objectContaining({ name: 'opus', label: 'Opus' })]),
        ownKey: 'anthropic',
      },
      {
        name: 'cursor',
        installed: true,
        version: '2026.01.28-lookalike',
        missing: null,
        keyInSandbox: true,
        models: expect.arrayContaining([{ name: 'auto', label: 'Auto' }]),
      },
      {
        name: 'codex',
        installed: codex.found,
        version: codex.found ? codex.version : null,
        missing: codex.found ? null : codex.reason,
        keyInSandbox: false,
        // codexTalks.spec.ts looks at what it reports.
        models: expect.any(Array),
        ownKey: 'openai',
      },
      // acpRuns.spec.ts looks at those that speak ACP.
      ...agentNames.slice(own.length).map((name) => expect.objectContaining({ name })),
    ],
  })
})

describe('an agent that is silent for longer than it may be is stopped:', () => {
  let short: Scene
  beforeAll(async () => {
    const env = { ...environment(join(folder, 'cursor-agent/cursor-agent')), SILENT_AGENT_SECONDS: '4' }
    short = await openScene(scripts, { env })
  })
  afterAll(() => short?.close())

  // What ends the turn is the same for all, so `npm test` leaves the others to the long tests.
  test.for(firstCases(own, 1))('%s', async (agent, context) => {
    skipWithout(agent, context)
    const { id } = await begin(agent, 'Be silent', null, short)
    const task = await short.ada.taskOnce(id, hasEnded)
    expect(task).toMatchObject({ status: 'failed', failure: { code: 'agent_silent' } })
    expect(task.failure?.reason).toContain('4 seconds')
    const left = await short.product.processes()
    expect(left.filter(({ command }) => command.startsWith('/opt/agent/'))).toEqual([])
  })
})
