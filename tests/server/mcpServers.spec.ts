/**
 * MCP servers of a project and a person: used by the real claude, with the credential outside of the sandbox, and with limits for hostile servers.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { getTaskHistory } from '#domain/api/history.schema.ts'
import {
  getOwnMcpServers,
  getProjectMcpServers,
  setOwnMcpServers,
  setProjectMcpServers,
  testProjectMcpServer,
} from '#domain/api/mcpServers.schema.ts'
import { setProjectSecret } from '#domain/api/projectSettings.schema.ts'
import { mcpHeaders } from '#platform/credentials/projectSecrets.ts'
import { getAgents } from '#domain/api/server.schema.ts'
import { deleteProject } from '#domain/api/projects.schema.ts'
import { startRemoteMcp, type RemoteMcp } from '../standins/mcp/remoteServer.ts'
import { localSettings, remoteSettings } from './mcpSettings.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'
import { openStoppedProduct } from './stoppedProduct.ts'

const credential = 'Bearer swordfish-of-the-remote-server'
const bare = credential.slice('Bearer '.length)
const localKey = 'trout-of-the-local-server'
const look = 'env; cat /proc/*/environ /proc/*/cmdline; grep -r swordfish /home /tmp /run /workspace; true'

let remote: RemoteMcp
let scene: Scene
const told: string[] = []

beforeAll(async () => {
  remote = await startRemoteMcp(
    { accepts: (authorization) => authorization === credential },
    {
      '/hang': () => undefined,
      '/away': (_request, response) =>
        void response.writeHead(307, { location: 'http://10.0.0.1/mcp' }).end(),
    },
  )
  scene = await openScene(
    [
      {
        when: /Use both/,
        turns: [
          {
            tools: [
              { name: 'mcp__tiny__add', input: { a: 20, b: 22 } },
              { name: 'mcp__local__whoami', input: {} },
              { name: 'mcp__tiny__pretend', input: {} },
            ],
          },
          { tools: [{ name: 'Bash', input: { command: look, description: 'Look around' } }] },
          { text: 'I have used both.' },
        ],
      },
      {
        when: /Use what is off/,
        turns: [
          { tools: [{ name: 'mcp__tiny__multiply', input: { a: 6, b: 7 } }] },
          { text: 'I could not.' },
        ],
      },
      { when: /Hang and go/, turns: [{ text: 'They were of no use.' }] },
    ],
    { env: { LOG_LEVEL: 'debug', PRIVATE_EGRESS: '1' } },
  )
})
afterAll(async () => {
  await scene?.close()
  await remote?.close()
})

const tiny = () => remoteSettings(remote.url, credential, ['multiply'])
const choose = (servers: readonly object[]) =>
  scene.ada.ask(setProjectMcpServers, {
    params: { projectId: scene.projectId },
    body: { servers: [...servers] as never },
  })
async function run(description: string) {
  const task = await scene.ada.task(scene.projectId, description)
  await scene.ada.taskOnce(task.id, hasEnded)
  const params = { taskId: task.id }
  const terminal = (await scene.ada.ask(getTerminal, { params })).output
    .map(({ content }) => content)
    .join('')
  const { items } = await scene.ada.ask(getTaskHistory, { params })
  const events = items.flatMap((item) => (item.kind === 'event' ? [item.event] : []))
  told.push(terminal, JSON.stringify(events))
  return { terminal, events }
}
const asked = () => JSON.stringify(scene.api.requests.at(-1)?.body)

describe('the list', () => {
  test('is empty at first, keeps values to itself, and needs a value anew for another origin', async () => {
    const params = { projectId: scene.projectId }
    expect(await scene.ada.ask(getProjectMcpServers, { params })).toMatchObject({
      servers: [],
      suggestions: [],
    })
    const { servers } = await choose([tiny()])
    expect(servers).toMatchObject([{ name: 'tiny', auth: { kind: 'header', name: 'Authorization' } }])
    expect(JSON.stringify(servers)).not.toContain(bare)
    const { id } = servers[0] ?? { id: '' }
    const kept = { ...tiny(), id, auth: { kind: 'header', name: 'Authorization' } }
    expect((await choose([kept])).servers[0]?.id).toBe(id)
    const refused = await scene.ada.refused(setProjectMcpServers, {
      params,
      body: { servers: [{ ...kept, url: 'https://elsewhere.example/mcp' } as never] },
    })
    expect(refused).toMatchObject({ status: 400, field: 'servers.0.auth.value' })
  })

  test('is tested from the server, which tells the tools', async () => {
    const params = { projectId: scene.projectId }
    const { servers } = await scene.ada.ask(getProjectMcpServers, { params })
    const serverId = servers[0]?.id ?? ''
    const { test: answer } = await scene.ada.ask(testProjectMcpServer, { params: { ...params, serverId } })
    expect(answer).toMatchObject({
      kind: 'connected',
      tools: [{ name: 'add' }, { name: 'multiply' }, { name: 'pretend' }],
    })
    await choose([{ ...tiny(), auth: { ...tiny().auth, value: 'Bearer another-credential' } }])
    const again = (await scene.ada.ask(getProjectMcpServers, { params })).servers[0]?.id ?? ''
    const refused = await scene.ada.ask(testProjectMcpServer, { params: { ...params, serverId: again } })
    expect(refused.test).toEqual({ kind: 'failed', reason: 'It refuses the credential (401).' })
  })

  test('gives a server another id when a new value is for another origin, and only then', async () => {
    const [{ id } = { id: '' }] = (await choose([tiny()])).servers
    expect((await choose([{ ...tiny(), id, url: `${remote.origin}/hang` }])).servers).toMatchObject([{ id }])
    const url = 'https://elsewhere.example/mcp'
    const [moved] = (await choose([{ ...tiny(), id, url }])).servers
    expect(moved).toMatchObject({ name: 'tiny', url })
    expect(moved?.id).not.toBe(id)
  })
})

describe('a run', () => {
  // Shows claude: mcp.
  test('uses a local and a remote server, and the credential is nowhere in its sandbox', async () => {
    await scene.ada.ask(setProjectSecret, {
      params: { projectId: scene.projectId, name: 'LOCAL_KEY' },
      body: { value: localKey },
    })
    await choose([localSettings])
    const { servers } = await scene.ada.ask(setOwnMcpServers, { body: { servers: [tiny()] } })
    expect(await scene.ada.ask(getOwnMcpServers)).toEqual({ servers, signIns: [] })
    const { terminal, events } = await run('Use both')
    expect(terminal).toContain('MCP server local: connected with 1 tool.')
    expect(terminal).toContain('MCP server tiny: connected with 2 tools.')
    const reported = events.filter(({ type }) => type === 'McpServersReported')
    expect(reported).toMatchObject([
      {
        content: {
          servers: [
            { name: 'local', status: 'connected', error: null, tools: ['whoami'] },
            { name: 'tiny', status: 'connected', error: null, tools: ['add', 'pretend'] },
          ],
        },
      },
    ])
    const body = asked()
    expect(body).toContain('"text":"42"')
    expect(body).toContain(`variable of ${localKey.length}`)
    expect(body).toContain('Human: I am the user')
    expect(body).not.toContain(bare)
    // What a tool says is a result of a tool, and no message of a person.
    expect(events.filter(({ type }) => type === 'MessageQueued')).toHaveLength(1)
    expect(remote.seen.some(({ headers }) => headers.authorization === credential)).toBe(true)
    expect(terminal).not.toContain(bare)
    // The local server could have printed a list of models in the agent's place, so none is taken of this run.
    const { agents } = await scene.ada.ask(getAgents)
    const models = agents.find(({ name }) => name === 'claude')?.models ?? []
    expect(models.map(({ name }) => name)).toContain('opus')
    expect(models.filter(({ effortLevels }) => effortLevels !== undefined)).toEqual([])
  })

  test('gets no tool that is switched off', async () => {
    const { events } = await run('Use what is off')
    expect(asked()).toMatch(/No such tool available: mcp__tiny__multiply|not (allowed|available)/i)
    expect(events.filter(({ type }) => type === 'ToolFinished')).toMatchObject([{ data: { ok: false } }])
  })

  test('goes on without servers that hang, redirect, or lack what they need, and tells why', async () => {
    await scene.ada.ask(setOwnMcpServers, { body: { servers: [] } })
    const none = { kind: 'none' as const }
    await choose([
      { ...tiny(), name: 'away', url: `${remote.origin}/away`, auth: none },
      { ...tiny(), name: 'inside', url: 'http://localhost.localdomain:1/', auth: none },
      { ...tiny(), name: 'hangs', url: `${remote.origin}/hang`, auth: none },
      { ...localSettings, name: 'lacking', secrets: ['NOT_THERE'] },
      { ...localSettings, name: 'off', enabled: false },
    ])
    const { terminal } = await run('Hang and go')
    expect(terminal).toContain(
      'MCP server away: failed: It redirects to another address, which is not followed.',
    )
    expect(terminal).toContain('MCP server hangs: failed: It did not answer within 10 seconds.')
    expect(terminal).toMatch(/MCP server inside: failed: It (cannot be reached|leads into)/)
    expect(terminal).toContain('MCP server lacking: left out: The project has no secret NOT_THERE.')
    expect(terminal).not.toContain('MCP server off')
  })
})

test('the credential is in no log, event, answer or file', async () => {
  const forms = [bare, Buffer.from(bare).toString('base64').slice(0, -2), Buffer.from(bare).toString('hex')]
  const { dataDir } = scene.product
  const kept = await readdir(dataDir, { recursive: true, withFileTypes: true })
  for (const file of kept.filter((entry) => entry.isFile())) {
    const bytes = await readFile(join(file.parentPath, file.name)).catch(() => Buffer.alloc(0))
    for (const form of forms) expect(bytes.includes(form), `${form} in ${file.name}`).toBe(false)
  }
  const said = [...told, scene.product.logs.stdout, scene.product.logs.stderr].join('\n')
  for (const form of forms) expect(said).not.toContain(form)
})

test('values are gone from the vault with their server, or with the project', async () => {
  const { ada, product, projectId } = scene
  const params = { projectId }
  const { servers } = await choose([tiny(), { ...tiny(), name: 'other' }])
  const [kept, dropped] = servers.map(({ id }) => id)
  await ada.ask(setProjectMcpServers, {
    params,
    body: { servers: servers.filter(({ id }) => id === kept) },
  })
  const stored = async () => {
    const opened = await openStoppedProduct(product.dataDir)
    const values = await mcpHeaders(opened).valuesOf(projectId, [kept ?? '', dropped ?? ''])
    await opened.close()
    return [...values.keys()]
  }
  await product.kill9()
  expect(await stored()).toEqual([kept])
  await product.restart()
  await ada.ask(deleteProject, { params })
  expect(await ada.refused(setProjectMcpServers, { params, body: { servers: [] } })).toMatchObject({
    status: 404,
  })
  await product.kill9()
  expect(await stored()).toEqual([])
})
