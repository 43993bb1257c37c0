/** The real `opencode`, through the real broker, to a stand-in for the Messages API. It also shows that the CLI still is what we take it for. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { opencodeProgram } from '../../../../tests/opencodeProgram.ts'
import { startMessagesApi, type MessagesApi, type Script } from '../../../../tests/standins/messagesApi.ts'
import { startBroker } from '../../model/broker.ts'
import type { ModelUsage } from '../../model/meter.ts'
import { textThreads } from '../../redaction/textThreads.ts'
import { nothingBrought, writeHome } from '../home.ts'
import type { Located } from '../locate.ts'
import type { AgentEvent } from '../port.ts'
import { acpAgents } from './acpAgents.ts'

const realKey = 'sk-the-real-key-that-must-stay-outside'
const patienceMs = 120_000
const { opencode } = acpAgents
const threads = textThreads()
let program: Located
beforeAll(async () => {
  program = await opencodeProgram()
}, 300_000)
afterAll(() => threads.close())

let folder = ''
let workspace = ''
let clean: (() => Promise<unknown>)[] = []
beforeEach(async (context) => {
  if (!program.found) return context.skip(program.reason)
  folder = await realpath(await mkdtemp(join(tmpdir(), 'opencode-')))
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
  readonly api: MessagesApi
}

/** One turn, as the runner has it but for the sandbox. */
async function turn(scripts: readonly Script[], model: string | null = null): Promise<Ran> {
  if (!program.found) throw new Error(program.reason)
  const api = await startMessagesApi(scripts)
  clean.push(() => api.close())
  const usage: ModelUsage[] = []
  const broker = await startBroker({
    listen: 'loopback',
    runToken: 'token-of-this-run',
    upstream: { kind: 'http', api: 'messages', baseUrl: api.baseUrl, apiKey: realKey },
    threads,
    onUsage: (used) => usage.push(used),
    onFault: () => undefined,
  })
  clean.push(() => broker.close())
  const home = join(folder, 'home')
  await writeHome(home, opencode.home(new Set(['AGENTS.md']), workspace, nothingBrought))
  const launch = opencode.launch({
    binary: program.path,
    session: { kind: 'new', id: 'proposed' },
    model,
    access: {
      kind: 'loopback',
      origin: `http://127.0.0.1:${broker.port}`,
      runToken: 'token-of-this-run',
      scripted: false,
    },
    isRoot: false,
    mode: 'free',
    allowedRules: [],
  })
  const child = spawn(launch.argv[0] ?? '', launch.argv.slice(1), {
    cwd: workspace,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, ...launch.env },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const dialogue = opencode.dialogue({ model, mode: 'free', workspace })
  const events: AgentEvent[] = []
  const exited = once(child, 'close')
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    for (const event of dialogue.push(chunk)) {
      events.push(event)
      if (event.type === 'write') child.stdin.write(event.text)
      if (event.type === 'end') child.kill('SIGKILL')
    }
  })
  child.stdin.write(dialogue.message({ text: 'Hello', images: [], id: 'm1' }))
  await exited
  events.push(...dialogue.end())
  return { events, usage, api }
}

const texts = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'text' ? [event.text] : []))

test(
  'a repository gives it instructions, and the broker puts the key in the place of the token',
  async () => {
    await writeFile(join(workspace, 'AGENTS.md'), 'In this repository everybody says plugh.\n')
    const { events, usage, api } = await turn([{ turns: [{ text: 'Here.' }] }], 'claude-chosen-7')
    expect(texts(events)).toEqual(['Here.'])
    expect(events.at(-1)).toMatchObject({ type: 'end', ok: true })
    const main = api.requests.filter(({ body }) => JSON.stringify(body).includes('plugh'))
    expect(main).toMatchObject([{ headers: { 'x-api-key': realKey }, body: { model: 'claude-chosen-7' } }])
    expect(usage.length).toBeGreaterThan(0)
  },
  patienceMs,
)

test(
  'a model that there is not is told as such',
  async () => {
    const fault = { status: 404, type: 'not_found_error', message: 'model: claude-none-9' }
    const { events } = await turn([{ turns: [{ fault }] }], 'claude-none-9')
    expect(events.filter(({ type }) => type === 'error')).toMatchObject([{ code: 'bad_model' }])
    expect(events.at(-1)).toMatchObject({ type: 'end', ok: false })
  },
  patienceMs,
)
