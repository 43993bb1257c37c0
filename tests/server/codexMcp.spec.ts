/** MCP servers of a project and a person: used by the real codex, with the credential outside of the sandbox. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { getTaskHistory } from '#domain/api/history.schema.ts'
import { setOwnMcpServers, setProjectMcpServers } from '#domain/api/mcpServers.schema.ts'
import { setProjectSecret } from '#domain/api/projectSettings.schema.ts'
import { createTask } from '#domain/api/tasks.schema.ts'
import type { Located } from '../../services/runner/agents/locate.ts'
import { codexProgram } from '../codexProgram.ts'
import { startRemoteMcp, type RemoteMcp } from '../standins/mcp/remoteServer.ts'
import { startResponsesApi, type ResponsesApi } from '../standins/responsesApi.ts'
import { localSettings, remoteSettings } from './mcpSettings.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

const credential = 'Bearer swordfish-of-the-remote-server'
const bare = credential.slice('Bearer '.length)
const localKey = 'trout-of-the-local-server'
const look = 'env; cat /proc/*/environ /proc/*/cmdline; grep -r swordfish /home /tmp /run /workspace; true'

let codex: Located
let responses: ResponsesApi
let remote: RemoteMcp
let scene: Scene
beforeAll(async () => {
  codex = await codexProgram()
  remote = await startRemoteMcp({ accepts: (authorization) => authorization === credential })
  responses = await startResponsesApi([
    {
      when: /^Use both/,
      turns: [
        {
          tools: [
            { name: 'mcp__tiny__add', input: { a: 20, b: 22 } },
            { name: 'mcp__local__whoami', input: {} },
            { name: 'mcp__tiny__pretend', input: {} },
          ],
        },
        { tools: [{ name: 'mcp__tiny__multiply', input: { a: 6, b: 7 } }] },
        { tools: [{ name: 'Bash', input: { command: look } }] },
        { text: 'I have used both.' },
      ],
    },
    { when: /^Go on without/, turns: [{ text: 'They were of no use.' }] },
  ])
  scene = await openScene([], {
    env: {
      ...(codex.found && { CODEX_BIN: codex.path }),
      OPENAI_API_KEY: 'sk-a-key-that-only-the-broker-may-hold',
      OPENAI_BASE_URL: responses.baseUrl,
      LOG_LEVEL: 'debug',
      PRIVATE_EGRESS: '1',
    },
  })
})
afterAll(async () => {
  await scene?.close()
  await responses?.close()
  await remote?.close()
})
beforeEach((context) => {
  if (!codex.found) context.skip(codex.reason)
})

const tiny = () => remoteSettings(remote.url, credential, ['multiply'])
type Server = ReturnType<typeof tiny> | typeof localSettings
const choose = (servers: Server[]) =>
  scene.ada.ask(setProjectMcpServers, { params: { projectId: scene.projectId }, body: { servers } })

/** A task from its beginning to its end. */
async function run(description: string) {
  const body = { projectId: scene.projectId, description, branch: 'main', agent: 'codex' } as const
  const { id: taskId } = (await scene.ada.ask(createTask, { body })).task
  await scene.ada.taskOnce(taskId, hasEnded)
  const { output } = await scene.ada.ask(getTerminal, { params: { taskId } })
  const { items } = await scene.ada.ask(getTaskHistory, { params: { taskId } })
  return {
    terminal: output.map(({ content }) => content).join(''),
    events: items.flatMap((item) => (item.kind === 'event' ? [item.event] : [])),
  }
}

// Shows codex: mcp.
test('it uses a local and a remote server, and the credential is nowhere in sandbox, log, events or files', async () => {
  await scene.ada.ask(setProjectSecret, {
    params: { projectId: scene.projectId, name: 'LOCAL_KEY' },
    body: { value: localKey },
  })
  await choose([localSettings])
  await scene.ada.ask(setOwnMcpServers, { body: { servers: [tiny()] } })
  const { terminal, events } = await run('Use both')
  expect(terminal).toContain('MCP server local: connected with 1 tool.')
  expect(terminal).toContain('MCP server tiny: connected with 2 tools.')
  expect(events.filter(({ type }) => type === 'McpServersReported')).toMatchObject([
    {
      content: {
        servers: [
          { name: 'local', status: 'connected', error: null, tools: ['whoami'] },
          { name: 'tiny', status: 'connected', error: null, tools: ['add', 'pretend'] },
        ],
      },
    },
  ])
  const asked = JSON.stringify(responses.requests.at(-1)?.body)
  expect(asked).toContain('42')
  expect(asked).toContain(`variable of ${localKey.length}`)
  expect(asked).toContain('Human: I am the user')
  // What a tool says is a result of a tool, and no message of a person.
  expect(events.filter(({ type }) => type === 'MessageQueued')).toHaveLength(1)
  expect(remote.seen.some(({ headers }) => headers.authorization === credential)).toBe(true)

  const said = [asked, terminal, JSON.stringify(events), scene.product.logs.stdout, scene.product.logs.stderr]
  const forms = [bare, Buffer.from(bare).toString('base64').slice(0, -2), Buffer.from(bare).toString('hex')]
  for (const form of forms) expect(said.join('\n')).not.toContain(form)
  const kept = await readdir(scene.product.dataDir, { recursive: true, withFileTypes: true })
  for (const file of kept.filter((entry) => entry.isFile())) {
    const bytes = await readFile(join(file.parentPath, file.name)).catch(() => Buffer.alloc(0))
    for (const form of forms) expect(bytes.includes(form), `${form} in ${file.name}`).toBe(false)
  }
})

test('it goes on without servers that refuse, end or lack what they need, and tells why', async () => {
  await scene.ada.ask(setOwnMcpServers, { body: { servers: [] } })
  await choose([
    { ...tiny(), name: 'refused', auth: { ...tiny().auth, value: 'Bearer of-nobody' } },
    { ...localSettings, name: 'broken', command: '/bin/false' },
    { ...localSettings, name: 'lacking', secrets: ['NOT_THERE'] },
  ])
  const { terminal } = await run('Go on without')
  expect(terminal).toContain('MCP server refused: failed: It refuses the credential (401).')
  expect(terminal).toContain('MCP server broken: failed.')
  expect(terminal).toContain('MCP server lacking: left out: The project has no secret NOT_THERE.')
  expect(terminal).not.toContain('ERROR')
})
