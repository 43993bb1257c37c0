/** Whose account pays: three keys at stand-ins for the Messages API, of the person, of the project with a gateway of its own, and of the server. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { payers } from '#domain/agentKeys.ts'
import { listAgentKeys, setAgentKey } from '#domain/api/agentKeys.schema.ts'
import { getChat, getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { getTaskHistory } from '#domain/api/history.schema.ts'
import { getProjectSettings, updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { createProject } from '#domain/api/projects.schema.ts'
import { getAgents } from '#domain/api/server.schema.ts'
import { createTask, listTasks, type Task } from '#domain/api/tasks.schema.ts'
import type { Located } from '../../services/runner/agents/locate.ts'
import { absentAs } from '../../services/operations/backupFiles.ts'
import { codexProgram } from '../codexProgram.ts'
import { apiKey } from '../product.ts'
import type { Person } from '../product/person.ts'
import { startMessagesApi, type MessagesApi, type Script } from '../standins/messagesApi.ts'
import { startResponsesApi, type ResponsesApi } from '../standins/responsesApi.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

const keys = {
  person: 'sk-ant-api03-the-key-of-ada-which-no-sandbox-sees-0001',
  subscription: 'sk-ant-oat01-the-plan-of-ada-which-no-sandbox-sees-0002',
  ended: 'sk-ant-oat01-a-plan-that-has-ended-and-is-told-of-0003',
  project: 'sk-gateway-of-the-project-which-no-sandbox-sees-0004',
  openai: 'sk-proj-of-ada-at-the-other-provider-which-none-sees-0005',
} as const
const look = 'env; cat /proc/1/environ /proc/self/environ /proc/$PPID/environ; cat /proc/*/cmdline; ls -laR ~'

const scripts: readonly Script[] = [
  {
    when: /^Look/,
    turns: [
      { tools: [{ name: 'Bash', input: { command: look, description: 'Look' } }] },
      { text: 'Looked.' },
    ],
  },
  { when: /^Betray/, turns: [{ text: `The key is ${keys.person}.` }] },
  {
    when: /^Refuse/,
    turns: [
      {
        fault: {
          status: 401,
          type: 'authentication_error',
          message: 'OAuth token has expired',
          isFinal: true,
        },
      },
    ],
  },
  { when: /^Say/, turns: [{ text: 'Said.' }] },
]

const scriptsOfCodex: readonly Script[] = [
  { when: /^Refuse/, turns: [{ fault: { status: 401, type: 'invalid_api_key' } }] },
  { when: /./, turns: [{ text: 'Said by codex.' }] },
]

let scene: Scene
let gateway: MessagesApi
let responses: ResponsesApi
let codexGateway: ResponsesApi
let codex: Located
let ada: Person
beforeAll(async () => {
  gateway = await startMessagesApi(scripts)
  responses = await startResponsesApi(scriptsOfCodex)
  codexGateway = await startResponsesApi(scriptsOfCodex)
  codex = await codexProgram()
  scene = await openScene(scripts, {
    env: {
      PRIVATE_EGRESS: '1',
      LOG_LEVEL: 'debug',
      OPENAI_BASE_URL: responses.baseUrl,
      // The server's first run uses up what people may use of its key in a day.
      DAY_TOKENS: '1',
      ...(codex.found && { CODEX_BIN: codex.path }),
    },
  })
  ada = scene.ada
})
afterAll(async () => {
  await scene?.close()
  await gateway?.close()
  await responses?.close()
  await codexGateway?.close()
})

async function run(description: string): Promise<Task> {
  const task = await ada.task(scene.projectId, description)
  return ada.taskOnce(task.id, hasEnded)
}

const Started = z.object({ payer: z.enum(payers).optional() })

async function payerOf({ id }: Pick<Task, 'id'>): Promise<unknown> {
  const { items } = await ada.ask(getTaskHistory, { params: { taskId: id } })
  const started = items.flatMap((item) =>
    item.kind === 'event' && item.event.type === 'AgentStarted' ? [Started.parse(item.event.data).payer] : [],
  )
  return started.at(-1)
}

const setOwn = (value: string | null, kind: 'api_key' | 'subscription' = 'api_key') =>
  ada.ask(setAgentKey, { body: { provider: 'anthropic', kind, value } })
const setOfProject = (value: string | null, baseUrl: string | null = gateway.baseUrl) =>
  ada.ask(updateProjectSettings, {
    params: { projectId: scene.projectId },
    body: { modelKey: { provider: 'anthropic', baseUrl, value } },
  })
/** What a model's API was asked with since it was last looked at. */
function asksSince(api: MessagesApi) {
  let seen = api.requests.length
  return () => {
    const headers = api.requests.slice(seen).map((request) => request.headers)
    seen = api.requests.length
    return headers
  }
}

test('person, project, server: each pays in its turn, and the run says who did', async () => {
  const atServer = asksSince(scene.api)
  const atGateway = asksSince(gateway)
  const first = await run('Say one')
  expect(first.status).toBe('completed')
  expect(await payerOf(first)).toBe('server')
  for (const headers of atServer()) expect(headers['x-api-key']).toBe(apiKey)
  expect(await run('Say that the day is used up')).toMatchObject({ failure: { code: 'budget' } })

  const { settings } = await setOfProject(keys.project)
  expect(settings.modelKeys).toEqual([
    {
      provider: 'anthropic',
      baseUrl: gateway.baseUrl,
      ending: '0004',
      checked: true,
      setAt: expect.any(String),
    },
  ])
  atServer()
  const second = await run('Look')
  expect(second.status).toBe('completed')
  expect(await payerOf(second)).toBe('project')
  expect(atServer()).toEqual([])
  for (const headers of atGateway()) {
    expect(headers['x-api-key']).toBe(keys.project)
    expect(headers.authorization).toBe(`Bearer ${keys.project}`)
  }

  const { keys: own } = await setOwn(keys.person)
  expect(own).toEqual([
    { provider: 'anthropic', kind: 'api_key', ending: '0001', checked: true, setAt: expect.any(String) },
  ])
  expect(scene.api.asked.at(-1)?.['x-api-key']).toBe(keys.person)
  const third = await run('Look')
  expect(third.status).toBe('completed')
  expect(await payerOf(third)).toBe('person')
  expect(atGateway()).toEqual([])
  const asked = atServer()
  expect(asked.length).toBeGreaterThan(0)
  for (const headers of asked) expect(headers['x-api-key']).toBe(keys.person)

  await setOwn(keys.subscription, 'subscription')
  // The same task: its warm agent had another key.
  await ada.ask(sendMessage, { params: { taskId: third.id }, body: { message: 'Say it with the plan' } })
  await ada.taskOnce(third.id, (task) => hasEnded(task) && task.execution?.turn === 2)
  const withPlan = atServer()
  expect(withPlan.length).toBeGreaterThan(0)
  for (const headers of withPlan) {
    expect(headers.authorization).toBe(`Bearer ${keys.subscription}`)
    expect(headers['x-api-key']).toBeUndefined()
    expect(String(headers['anthropic-beta']).split(',')).toContain('oauth-2025-04-20')
  }
  expect(withPlan.some((headers) => String(headers['anthropic-beta']).includes(','))).toBe(true)

  expect(await setOwn(null)).toMatchObject({ keys: [] })
  expect(await payerOf(await run('Say by the project'))).toBe('project')
  expect((await setOfProject(null)).settings.modelKeys).toEqual([])
  atServer()
  expect(await run('Say by the server')).toMatchObject({ failure: { code: 'budget' } })
})

test('a key that is refused when it is entered is not stored, and the one before it stays', async () => {
  await setOwn(keys.person)
  const body = { provider: 'anthropic', value: 'sk-ant-api03-revoked-long-ago' } as const
  expect(await ada.refused(setAgentKey, { body })).toMatchObject({
    status: 422,
    code: 'key_refused',
    field: 'value',
    error:
      'Anthropic refused this key, so it was not stored. Check that it is whole and has not been revoked.',
  })
  expect((await ada.ask(listAgentKeys)).keys).toMatchObject([{ ending: '0001' }])
  const wrong = { provider: 'anthropic', kind: 'subscription', value: keys.person } as const
  expect(await ada.refused(setAgentKey, { body: wrong })).toMatchObject({ status: 400, field: 'value' })
  const modelKey = {
    provider: 'anthropic',
    baseUrl: gateway.baseUrl,
    value: 'sk-revoked-at-the-gateway',
  } as const
  const params = { projectId: scene.projectId }
  expect(await ada.refused(updateProjectSettings, { params, body: { modelKey } })).toMatchObject({
    status: 422,
    error: expect.stringMatching(/^127\.0\.0\.1:\d+ refused this key/),
  })
  expect((await ada.ask(getProjectSettings, { params })).settings.modelKeys).toEqual([])
})

test('a provider that is not reached: the key is stored, and not as checked', async () => {
  const { settings } = await setOfProject(keys.project, 'http://127.0.0.1:1/v1/')
  expect(settings.modelKeys).toMatchObject([{ baseUrl: 'http://127.0.0.1:1', checked: false }])
  const google = await setOfProject(keys.project, 'http://127.0.0.1:1/gemini/v1beta')
  expect(google.settings.modelKeys).toMatchObject([{ baseUrl: 'http://127.0.0.1:1/gemini' }])
  await setOfProject(null)
})

test.each([
  ['http://gateway.example.org', 'Enter an https address: without TLS, others could read the key.'],
  ['http://169.254.169.254', expect.stringMatching(/^This address leads to the server's own machine/)],
  ['https://[fe80::1]:8443', expect.stringMatching(/^This address leads to the server's own machine/)],
  ['https://user:pass@gateway.example.org', 'Enter the address without a password or parameters.'],
  ['ftp://gateway.example.org', 'Enter an address such as https://gateway.example.org.'],
])('a project may not name %s', async (baseUrl, error) => {
  const body = { modelKey: { provider: 'anthropic', baseUrl, value: keys.project } } as const
  const params = { projectId: scene.projectId }
  expect(await ada.refused(updateProjectSettings, { params, body })).toMatchObject({ status: 400, error })
})

test('a subscription that has ended is told of as whose it is, with what to do', async () => {
  await setOwn(keys.ended, 'subscription')
  const { failure } = await run('Refuse')
  expect(failure?.code).toBe('unauthorized')
  expect(failure?.reason).toMatch(
    /^Anthropic refused the token of your own subscription, which may have ended\. Run claude setup-token again .* Settings, Agents and Keys/,
  )
  await setOfProject(keys.project)
  await setOwn(null)
  const ofProject = await run('Refuse')
  expect(ofProject.failure?.reason).toMatch(
    /^127\.0\.0\.1:\d+ refused the project's key\. Replace or remove it/,
  )
  await setOfProject(null)
})

test("an agent without a key of the server's runs for who has one", async (context) => {
  if (!codex.found) return context.skip(codex.reason)
  const stateOf = async (person: Person) =>
    (await person.ask(getAgents)).agents.find(({ name }) => name === 'codex')?.missing
  const grace = await scene.product.signIn('grace')
  const lacking = expect.stringMatching(/No API key is set for codex.*add a key of your own under Settings/)
  expect(await stateOf(ada)).toEqual(lacking)
  const body = { projectId: scene.projectId, description: 'Say', branch: 'main', agent: 'codex' } as const
  expect(await ada.refused(createTask, { body })).toMatchObject({ code: 'agent_unavailable', error: lacking })

  await ada.ask(setAgentKey, { body: { provider: 'openai', value: keys.openai } })
  expect(await stateOf(ada)).toBeNull()
  expect(await stateOf(grace)).toEqual(lacking)
  const { task } = await ada.ask(createTask, { body })
  expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({ status: 'completed' })
  expect(await payerOf(task)).toBe('person')
  for (const { headers } of responses.requests) expect(headers.authorization).toBe(`Bearer ${keys.openai}`)

  // By a project's key, the agent runs in that project.
  await ada.ask(setAgentKey, { body: { provider: 'openai', value: null } })
  const baseUrl = `${codexGateway.baseUrl}/team/v1`
  const modelKey = { provider: 'openai', baseUrl, value: keys.project } as const
  const params = { projectId: scene.projectId }
  const { settings } = await ada.ask(updateProjectSettings, { params, body: { modelKey } })
  expect(settings.modelKeys).toMatchObject([{ baseUrl: `${codexGateway.baseUrl}/team`, checked: true }])
  expect(await stateOf(ada)).toBeNull()
  expect(await stateOf(grace)).toEqual(lacking)
  const { agents } = await ada.ask(getAgents, { query: { project: scene.projectId } })
  expect(agents.find(({ name }) => name === 'codex')?.missing).toBeNull()
  expect(await grace.refused(getAgents, { query: { project: scene.projectId } })).toMatchObject({
    status: 404,
  })

  // The key is used at the project's own address alone.
  const second = (await ada.ask(createTask, { body })).task
  expect(await ada.taskOnce(second.id, hasEnded)).toMatchObject({ status: 'completed' })
  expect(await payerOf(second)).toBe('project')
  expect(codexGateway.requests.length).toBeGreaterThan(0)
  for (const { path, headers } of codexGateway.requests) {
    expect(path).toBe('/team/v1/responses')
    expect(headers.authorization).toBe(`Bearer ${keys.project}`)
  }
  const refused = (await ada.ask(createTask, { body: { ...body, description: 'Refuse' } })).task
  const { failure } = await ada.taskOnce(refused.id, hasEnded)
  expect(failure?.reason).toMatch(/^127\.0\.0\.1:\d+ refused the project's key\. Replace or remove it/)
  const ofProject = `Bearer ${keys.project}`
  expect(responses.requests.filter(({ headers }) => headers.authorization === ofProject)).toEqual([])
  await ada.ask(updateProjectSettings, { params, body: { modelKey: { ...modelKey, value: null } } })
})

test("nobody sees or uses another's key", async () => {
  await setOwn(keys.person)
  const grace = await scene.product.signIn('grace')
  expect((await grace.ask(listAgentKeys)).keys).toEqual([])
  const repoUrl = `${scene.product.codeHostUrl}/ada/engine`
  const { id: projectId } = await grace.ask(createProject, { body: { repoUrl } })
  const atServer = asksSince(scene.api)
  const task = await grace.task(projectId, 'Say by grace')
  expect(await grace.taskOnce(task.id, hasEnded)).toMatchObject({ status: 'completed' })
  for (const headers of atServer()) expect(headers['x-api-key']).toBe(apiKey)
})

test('no key is in anything that was said, printed or kept', async () => {
  const { items } = await ada.ask(getTaskHistory, { params: { taskId: (await run('Look')).id } })
  const told: unknown[] = [items, await ada.ask(listAgentKeys)]
  for (const { id: taskId } of (await ada.ask(listTasks)).tasks) {
    told.push(await ada.ask(getChat, { params: { taskId } }))
    const terminal = await ada.ask(getTerminal, { params: { taskId }, query: { limit: '5000' } })
    told.push(terminal)
  }
  // The sandbox was really looked at.
  expect(JSON.stringify(told)).toContain('HOME=/home/agent')
  await scene.product.terminate()
  const entries = await readdir(scene.product.dataDir, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const places = await Promise.all(
    files.map(async (file) => [file, await readFile(file).catch(absentAs(Buffer.alloc(0)))] as const),
  )
  expect(places.length).toBeGreaterThan(20)
  const said = Buffer.from(JSON.stringify(told) + scene.product.logs.stdout + scene.product.logs.stderr)
  const found = Object.values(keys).flatMap((key) =>
    [...places, ['what was said', said] as const].flatMap(([where, bytes]) =>
      [key, Buffer.from(key).toString('base64').replace(/=+$/, ''), Buffer.from(key).toString('hex')]
        .filter((form) => bytes.includes(form))
        .map(() => `${key.slice(-4)} in ${where}`),
    ),
  )
  expect(found).toEqual([])
  await scene.product.restart()
  expect((await ada.ask(listAgentKeys)).keys).toMatchObject([{ ending: '0001' }])
  expect(await payerOf(await run('Say after a restart'))).toBe('person')
  // A model that knows the key, and says it.
  const betrayed = await run('Betray')
  const { messages } = await ada.ask(getChat, { params: { taskId: betrayed.id } })
  expect(JSON.stringify(messages)).toContain('The key is [redacted].')
})
