/** The usage of an agent's models, told by the agent or counted by the broker; with a real process in place of `claude`. */
import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { taskId } from '../../../../tests/domain/ids.ts'
import { testGit, testPath } from '../../../../tests/runner/workspaceScene.ts'
import { claude } from '../../agents/claude/claude.ts'
import type { AgentEvent } from '../../agents/port.ts'
import { anyAmount } from '../../model/budget.ts'
import { scriptedModel } from '../../model/messages/scripted.ts'
import { textThreads } from '../../redaction/textThreads.ts'
import { noSandbox } from '../../sandbox/none.ts'
import { openScratch } from '../../scratch.ts'
import { openAgent } from './agentProcess.ts'

const model = scriptedModel
const modelUsage = {
  told: {
    inputTokens: 1,
    outputTokens: 2,
    cacheReadInputTokens: 3,
    cacheCreationInputTokens: 4,
    costUSD: 5,
  },
}
const result = { type: 'result', subtype: 'success', is_error: false, session_id: 'session-1', modelUsage }
/** Asks its model once. Then it dies, or reports its result, as the message says. */
const agentScript = `#!${process.execPath}
import { request } from 'node:http'
import { createInterface } from 'node:readline'

const body = JSON.stringify(${JSON.stringify({
  model,
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Name this talk' }],
})})
const headers = { 'x-api-key': process.env.ANTHROPIC_API_KEY, 'content-length': body.length }
const place = { socketPath: process.env.ANTHROPIC_UNIX_SOCKET, path: '/v1/messages', method: 'POST', headers }
createInterface(process.stdin).on('line', (line) => {
  if (!line.includes('"type":"user"')) return
  const after = () => {
    if (line.includes('Die')) process.kill(process.pid, 'SIGKILL')
    process.stdout.write(${JSON.stringify(`${JSON.stringify(result)}\n`)})
  }
  request(place, (answer) => answer.resume().on('end', after)).end(body)
}).on('close', () => process.exit())
`

let folder = ''
const threads = textThreads()
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'agent-process-')))
  await writeFile(join(folder, 'agent.mjs'), agentScript)
  await chmod(join(folder, 'agent.mjs'), 0o755)
})
afterAll(async () => {
  await threads.close()
  await rm(folder, { recursive: true, force: true })
})

async function started() {
  const program = join(folder, 'agent.mjs')
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
      sandbox: noSandbox({ path: testPath, git: testGit }),
      workspace: {
        taskId: taskId(1),
        dir: folder,
        privateGitDir: folder,
        mirrorDir: folder,
        mirrorObjects: folder,
        homeDir: folder,
        branch: 'b',
        baseBranch: 'main',
        startCommit: null,
        owner: undefined,
      },
      session: null,
      model: null,
      mode: 'free',
      allowedRules: [],
      backend: { kind: 'broker', model: { kind: 'scripted', api: 'messages' } },
      sandboxEnv: {
        fingerprint: '',
        modelFetches: false,
        open: async () => ({
          env: {},
          readOnly: [],
          sockets: [],
          relayCount: 0,
          ownPorts: [],
          command: (command) => command,
          close: async () => ({ connections: 0, sent: 0, received: 0 }),
        }),
      },
    },
  )
  return opened.begin()
}

/** How a turn with this message ended, and the usage that was reported until the agent was gone. */
async function usageOf(text: string) {
  const events: AgentEvent[] = []
  const listener = {
    budget: anyAmount,
    onModelCall: () => undefined,
    onOutput: () => undefined,
    onEvent: async (event: AgentEvent) => void events.push(event),
    onStderr: async () => undefined,
    isOver: () => events.some(({ type }) => type === 'end'),
  }
  const agent = await started()
  try {
    const message = { text, images: [], id: randomUUID() }
    const end = await agent.turn(message, { model: null, effort: null }, listener)
    await agent.close(listener)
    return { end, usage: events.filter(({ type }) => type === 'usage') }
  } finally {
    await agent.close()
  }
}

test('what an agent used that dies before it tells its usage is what the broker has counted', async () => {
  expect(await usageOf('Die')).toMatchObject({
    end: 'gone',
    usage: [{ model, outputTokens: expect.any(Number), costUsd: 0 }],
  })
})

test('what an agent has told itself is not counted twice', async () => {
  expect(await usageOf('End')).toMatchObject({
    end: 'over',
    usage: [{ model: 'told', inputTokens: 1, outputTokens: 2, costUsd: 5 }],
  })
})
