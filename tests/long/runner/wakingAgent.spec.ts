/** 500 conversations with an agent that wakes up by itself at random times: a real process, its pipes, stops between turns, and restarts. */
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { claude } from '../../../services/runner/agents/claude/claude.ts'
import { openAgent, type AgentProcess } from '../../../services/runner/execution/turn/agentProcess.ts'
import { anyAmount } from '../../../services/runner/model/budget.ts'
import { textThreads } from '../../../services/runner/redaction/textThreads.ts'
import { noSandbox } from '../../../services/runner/sandbox/none.ts'
import { openScratch } from '../../../services/runner/scratch.ts'
import { hostGit } from '../../../services/runner/workspace/git/git.ts'
import { executionId, taskId } from '../../domain/ids.ts'
import { note } from '../../report/notes.ts'
import { recordingOf } from '../../runner/turnRecording.ts'
import { answerTo, wokeUp } from '../../standins/wakingAgent.ts'

const conversations = 500
const turnsEach = 4
const path = process.env['PATH'] ?? '/usr/bin:/bin'

let folder = ''
let program = ''
const threads = textThreads()
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'waking-')))
  program = join(folder, 'agent.mjs')
  await build({
    entryPoints: [fileURLToPath(new URL('../../standins/wakingProgram.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: `#!${process.execPath}` },
  })
  await chmod(program, 0o755)
})
afterAll(async () => {
  await threads.close()
  await rm(folder, { recursive: true, force: true })
})

/** Starts the agent for a conversation, in its session where it had one. */
async function start(place: string, session: string | null): Promise<AgentProcess> {
  const sandbox = noSandbox({ path, git: hostGit({ program: 'git', path }) })
  const inPlace = { privateGitDir: place, mirrorDir: place, mirrorObjects: place, homeDir: place }
  const nothing = {
    env: {},
    readOnly: [],
    sockets: [],
    relayCount: 0,
    ownPorts: [],
    close: async () => ({ connections: 0, sent: 0, received: 0 }),
  }
  const opened = await openAgent(
    {
      scratch: await openScratch(randomUUID()),
      textThreads: threads,
      logger: pino({ level: 'silent' }),
      ids: { uuid: randomUUID },
      isRoot: false,
      installed: { report: () => undefined },
    },
    {
      agent: claude,
      program: { found: true, path: program, version: '1', shown: program },
      sandbox,
      workspace: {
        taskId: taskId(1),
        dir: place,
        ...inPlace,
        branch: 'b',
        baseBranch: 'main',
        startCommit: null,
        owner: undefined,
      },
      session,
      model: null,
      mode: 'free',
      allowedRules: [],
      backend: { kind: 'broker', model: { kind: 'scripted', api: 'messages' } },
      sandboxEnv: {
        fingerprint: '',
        modelFetches: false,
        open: async () => ({ ...nothing, command: (command) => command }),
      },
    },
  )
  return opened.begin()
}

/** One turn, some of them with a message that steers; what was recorded of it. */
async function turn(agent: AgentProcess, text: string) {
  const recording = recordingOf(executionId(1))
  const { messages, recorder, hasBegun } = recording
  const texts = [text]
  const textOf = new Map<string, string>()
  const send = (words: string) => {
    const id = randomUUID()
    textOf.set(id, words)
    return messages.add(id) ? { text: words, images: [], id } : undefined
  }
  const steers = Math.random() < 0.4
  const first = send(text)
  if (first === undefined) throw new Error('A turn that begins takes its message.')
  const end = await agent.turn(
    first,
    { model: null, effort: null },
    {
      budget: anyAmount,
      onModelCall: () => undefined,
      onOutput: () => undefined,
      async onEvent(event) {
        await recorder.record(event)
        if (!steers || texts.length > 1 || !hasBegun()) return
        const line = send(`${text} steered`)
        if (line === undefined) return
        texts.push(`${text} steered`)
        agent.steer(line)
      },
      onStderr: async () => undefined,
      isOver: messages.isOver,
    },
  )
  return { ...recording, texts, textOf, end }
}

test(`${conversations} conversations with an agent that wakes itself at random: every message answered by its own turn`, async () => {
  const counts = { completed: 0, failed: 0, unasked: 0, steered: 0, restarts: 0 }

  async function converse(number: number): Promise<void> {
    const place = join(folder, `c${number}`)
    await mkdir(place)
    let agent = await start(place, null)
    try {
      for (let index = 0; index < turnsEach; index += 1) {
        const text = `message ${number}-${index}`
        const { messages, recorded, seen, texts, textOf, end } = await turn(agent, text)
        expect(end).toBe('over')
        // Each message of the turn was answered by this turn alone.
        const lines = recorded.flatMap((event) =>
          event.type === 'MessagePosted' ? event.content.message.split('\n') : [],
        )
        const own = lines.filter((line) => line !== wokeUp)
        for (const line of own) expect(texts.map(answerTo)).toContain(line)
        for (const event of recorded)
          expect(event.type === 'AgentActedUnasked' && event.content.said.includes('Answer')).toBe(false)
        // What the model has not seen stays in the queue.
        const last = textOf.get(seen.at(-1) ?? '') ?? ''
        expect(own.includes(answerTo(last)) || !messages.isCompleted()).toBe(true)
        counts[messages.isCompleted() ? 'completed' : 'failed'] += 1
        counts.unasked += recorded.filter(({ type }) => type === 'AgentActedUnasked').length
        counts.steered += texts.length - 1
        // Between two turns it is stopped, or it is gone and its session is taken up by another process.
        if (Math.random() < 0.8 && (await agent.freeze())) continue
        await agent.close()
        counts.restarts += 1
        agent = await start(place, 'session')
      }
    } finally {
      await agent.close()
    }
  }
  let next = 0
  const worker = async () => {
    while (next < conversations) await converse((next += 1))
  }
  await Promise.all([worker(), worker(), worker(), worker()])
  expect(counts.completed + counts.failed).toBe(conversations * turnsEach)
  expect(counts.unasked).toBeGreaterThan(conversations)
  note('conversations with an agent that wakes itself', JSON.stringify(counts))
})
