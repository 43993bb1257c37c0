/** A command has one effect however often it is sent, a read after a write shows the effect, and input is checked on arrival. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getMe, updateProfile } from '#domain/api/auth.schema.ts'
import { getChat, sendMessage } from '#domain/api/chat.schema.ts'
import { updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import {
  createProject,
  createRepository,
  deleteProject,
  listProjects,
  updateProject,
} from '#domain/api/projects.schema.ts'
import {
  createTask,
  deleteTask,
  executeTask,
  getTask,
  listTasks,
  retryTask,
  updateTask,
} from '#domain/api/tasks.schema.ts'
import type { Person } from '../product/person.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

const branch = 'main'

let scene: Scene
let ada: Person
let projectId = ''
beforeAll(async () => {
  scene = await openScene([])
  ada = scene.ada
  projectId = scene.projectId
  // A run ends soon: what agents do is not asked about here.
  await ada.ask(updateProjectSettings, { params: { projectId }, body: { setupCommand: 'exit 1' } })
})
afterAll(() => scene?.close())

const key = (name: string = randomUUID()) => ({ 'idempotency-key': name })
const tasksNamed = async (title: string) =>
  (await ada.ask(listTasks, { query: { limit: '1000' } })).tasks.filter((task) => task.title === title)
const messagesOf = async (taskId: string) =>
  (await ada.ask(getChat, { params: { taskId } })).messages.map(({ message }) => message)

describe('the same Idempotency-Key', () => {
  test('makes one task, whether sent again later or many times at once', async () => {
    const body = { description: 'Once only', projectId, branch }
    const headers = key()
    const first = await ada.ask(createTask, { body, headers })
    const rest = await Promise.all(Array.from({ length: 5 }, () => ada.ask(createTask, { body, headers })))
    for (const { task, position } of rest) {
      expect(task).toMatchObject({ id: first.task.id, createdAt: first.task.createdAt })
      expect(position).toBe(first.position)
    }
    expect(await tasksNamed('Once only')).toHaveLength(1)

    const together = key()
    const many = await Promise.all(
      Array.from({ length: 6 }, () =>
        ada.ask(createTask, { body: { ...body, description: 'At once' }, headers: together }),
      ),
    )
    expect(new Set(many.map(({ task }) => task.id)).size).toBe(1)
    expect(await tasksNamed('At once')).toHaveLength(1)
  })

  test('sends one message, and starts one turn', async () => {
    const task = await ada.task(projectId, 'For messages', branch)
    const params = { taskId: task.id }
    await ada.taskOnce(task.id, hasEnded)
    const headers = key()
    const ask = () => ada.ask(sendMessage, { params, body: { message: 'Just once' }, headers })
    const sent = await Promise.all([ask(), ask(), ask()])
    await ada.taskOnce(task.id, (now) => hasEnded(now) && now.execution?.turn === 2)
    const again = await ask()
    expect(new Set([...sent, again].map(({ chatMessage }) => chatMessage.id)).size).toBe(1)
    // Nobody can be asked for an agent that has no key here.
    const forCursor = { params, body: { message: 'For the other', agent: 'cursor' } } as const
    expect(await ada.refused(sendMessage, forCursor)).toMatchObject({
      status: 409,
      code: 'agent_unavailable',
      field: 'agent',
    })
    expect((await messagesOf(task.id)).filter((message) => message === 'Just once')).toHaveLength(1)
    expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({ execution: { turn: 2 } })
  })

  // Holds contract 7.22.
  test('runs a command once, retries once, and deletes once with the same answer', async () => {
    const task = await ada.task(projectId, 'For the rest', branch)
    const params = { taskId: task.id }
    await ada.taskOnce(task.id, hasEnded)
    const run = { params, body: { command: 'echo once' }, headers: key() }
    await Promise.all([ada.ask(executeTask, run), ada.ask(executeTask, run)])
    await ada.taskOnce(task.id, (now) => hasEnded(now) && now.execution?.turn === 2)
    await ada.ask(executeTask, run)
    expect((await messagesOf(task.id)).filter((message) => message === 'echo once')).toHaveLength(1)

    const retry = { params, headers: key() }
    await Promise.all([ada.ask(retryTask, retry), ada.ask(retryTask, retry)])
    await ada.taskOnce(task.id, (now) => hasEnded(now) && now.execution?.turn === 3)
    await ada.ask(retryTask, retry)
    expect((await ada.taskOnce(task.id, hasEnded)).execution?.turn).toBe(3)

    const remove = { params, headers: key() }
    const first = await ada.ask(deleteTask, remove)
    expect(await ada.ask(deleteTask, remove)).toEqual(first)
    expect(await ada.refused(deleteTask, { params, headers: key() })).toMatchObject({ status: 404 })
  })

  test('makes one project and deletes it once, with the same answer', async () => {
    const grace = await scene.product.signIn('grace')
    const body = { repoUrl: `${scene.product.codeHostUrl}/ada/engine` }
    const headers = key()
    const made = await Promise.all([1, 2, 3].map(() => grace.ask(createProject, { body, headers })))
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect((await grace.ask(listProjects)).projects).toHaveLength(1)
    const remove = { params: { projectId: made[0]?.id ?? '' }, headers: key() }
    const first = await grace.ask(deleteProject, remove)
    expect(await grace.ask(deleteProject, remove)).toEqual(first)
    expect(await grace.refused(deleteProject, { ...remove, headers: key() })).toMatchObject({ status: 404 })
  })

  test('with another body is refused, and changes nothing, also when the client names what it makes', async () => {
    const headers = key()
    const body = { description: 'The first body', projectId, branch }
    await ada.ask(createTask, { body, headers })
    for (const other of [
      { ...body, description: 'Another body' },
      { ...body, id: randomUUID() },
      { ...body, title: 'A title' },
    ]) {
      const refused = await ada.refused(createTask, { body: other, headers })
      expect(refused).toMatchObject({ status: 422, code: 'key_reused', field: 'Idempotency-Key' })
    }
    expect(await tasksNamed('The first body')).toHaveLength(1)
    expect(await tasksNamed('Another body')).toHaveLength(0)
    // The same members in another order, and one that nobody knows, are the same body.
    const same = JSON.stringify({ unknown: 1, branch, projectId, description: 'The first body' })
    expect((await ada.api('POST', '/tasks', same, headers)).status).toBe(201)
  })

  test('with another body is refused also when the first had no effect', async () => {
    const { fullName } = (await ada.ask(getMe)).user
    const task = await ada.task(projectId, 'Of no effect', branch)
    await ada.taskOnce(task.id, hasEnded)
    const params = { taskId: task.id }
    const headers = key()
    await ada.ask(updateTask, { params, body: { title: 'Of no effect' }, headers })
    const refused = await ada.refused(updateTask, { params, body: { title: 'Another' }, headers })
    expect(refused).toMatchObject({ status: 422, code: 'key_reused' })
    expect((await ada.ask(getMe)).user.fullName).toBe(fullName)
  })

  test('makes one repository at the code host, and answers as the first time', async () => {
    const headers = key()
    const body = { name: `made-${Date.now()}`, private: true }
    const first = await ada.ask(createRepository, { body, headers })
    const again = await ada.ask(createRepository, { body, headers })
    expect(again).toEqual(first)
    expect(first.position).toMatch(/^\d+$/)
    // Without the key, or with another, it is there already.
    for (const other of [{}, key()]) {
      const refused = await ada.refused(createRepository, { body, headers: other })
      expect(refused).toMatchObject({ status: 422, code: 'code_host_refused' })
    }
  })

  test('is nobody’s business when who sends it may not write', async () => {
    const headers = key()
    const body = { title: 'Not mine' }
    const task = await ada.task(projectId, 'Of ada alone', branch)
    const grace = await scene.product.signIn('grace')
    const params = { taskId: task.id }
    expect(await grace.refused(updateTask, { params, body, headers })).toMatchObject({ status: 404 })
    expect(await grace.refused(updateTask, { params, body: { title: 'Other' }, headers })).toMatchObject({
      status: 404,
    })
  })

  test('of another person, or at another address, is another command', async () => {
    const headers = key('shared')
    const [one, other] = await Promise.all([
      ada.task(projectId, 'One', branch),
      ada.task(projectId, 'Other', branch),
    ])
    await ada.ask(updateTask, { params: { taskId: one.id }, body: { title: 'One new' }, headers })
    await ada.ask(updateTask, { params: { taskId: other.id }, body: { title: 'Other new' }, headers })
    const grace = await scene.product.signIn('grace')
    await grace.ask(updateProfile, { body: { fullName: 'Grace Two' }, headers })
    await ada.ask(updateProfile, { body: { fullName: 'Ada Two' }, headers })
    expect(await tasksNamed('One new')).toHaveLength(1)
    expect(await tasksNamed('Other new')).toHaveLength(1)
    expect((await ada.api('GET', '/auth/me')).text).toContain('Ada Two')
  })

  test('survives a restart of the server', async () => {
    const body = { description: 'Over a restart', projectId, branch }
    const headers = key()
    const { task } = await ada.ask(createTask, { body, headers })
    await scene.product.kill9()
    await scene.product.restart()
    expect((await ada.ask(createTask, { body, headers })).task.id).toBe(task.id)
    expect(await tasksNamed('Over a restart')).toHaveLength(1)
  })

  test('may be any text up to 200 characters', async () => {
    const body = { description: 'Any key', projectId, branch }
    for (const name of ['x', 'a key with spaces', 'x'.repeat(200)])
      await ada.ask(createTask, { body, headers: key(name) })
    expect(await ada.refused(createTask, { body, headers: key('x'.repeat(201)) })).toMatchObject({
      status: 400,
      field: 'Idempotency-Key',
    })
  })
})

describe('an id that the client made', () => {
  test('names the task, and is taken once', async () => {
    const id = randomUUID()
    const body = { id, description: 'By my id', projectId, branch }
    expect((await ada.ask(createTask, { body })).task.id).toBe(id)
    expect(await ada.refused(createTask, { body })).toMatchObject({ status: 409, code: 'already_exists' })
  })

  test('names the message, and is taken once in its task', async () => {
    const task = await ada.task(projectId, 'Messages by id', branch)
    const params = { taskId: task.id }
    const body = { id: randomUUID(), message: 'By my id' }
    expect((await ada.ask(sendMessage, { params, body })).chatMessage.id).toBe(body.id)
    expect(await ada.refused(sendMessage, { params, body })).toMatchObject({ status: 409 })
  })
})

describe('a read after a write', () => {
  test('shows it, each of many times', async () => {
    const task = await ada.task(projectId, 'Read me', branch)
    const params = { taskId: task.id }
    for (let count = 0; count < 40; count += 1) {
      const { position, stale } = await ada.ask(updateTask, { params, body: { title: `Title ${count}` } })
      expect(position).toMatch(/^\d+$/)
      expect(stale).toBeUndefined()
      expect((await ada.ask(getTask, { params })).task.title).toBe(`Title ${count}`)
    }
  })

  test('may name the position that it must have seen, and waits for one to come', async () => {
    const task = await ada.task(projectId, 'Wait for me', branch)
    const params = { taskId: task.id }
    // Positions count for all tasks: nothing else may write meanwhile.
    const { tasks } = await ada.ask(listTasks)
    for (const { id } of tasks) await ada.taskOnce(id, hasEnded)
    const { position = '0' } = await ada.ask(updateTask, { params, body: { title: 'New' } })
    const { task: read } = await ada.ask(getTask, { params, query: { minPosition: position } })
    expect(read.title).toBe('New')
    // Each write is an event: the third of these is at that place or beyond.
    const soon = String(BigInt(position) + 3n)
    const waiting = ada.ask(getTask, { params, query: { minPosition: soon } })
    for (const title of ['One', 'Two', 'Three']) await ada.ask(updateTask, { params, body: { title } })
    expect((await waiting).task.title).toMatch(/^(Three|Two|One)$/)
  })

  test('that asks for a position that does not come is told so, not shown something old', async () => {
    const refused = await ada.refused(listTasks, { query: { minPosition: '99999999999' } })
    expect(refused).toMatchObject({ status: 504, code: 'timeout' })
    expect(await ada.refused(listTasks, { query: { minPosition: 'soon' } })).toMatchObject({
      status: 400,
      field: 'minPosition',
    })
  })
})

describe('input', () => {
  const good = () => ({ description: 'Words', projectId, branch })
  const asked = (body: unknown) => ada.api('POST', '/tasks', body)

  test.each([
    ['description', '', 'Please enter a task description'],
    ['description', '  \n ', 'Please enter a task description'],
    ['description', undefined, 'Please enter a task description'],
    ['description', null, 'Please enter a task description'],
    ['projectId', undefined, 'Please select a project'],
    ['projectId', null, 'Please select a project'],
    ['branch', '', 'Please select a branch'],
    ['branch', undefined, 'Please select a branch'],
    [
      'branch',
      'no-such-branch',
      'The repository has no branch no-such-branch. Choose one that exists, or push it first.',
    ],
    ['branch', 'a..b', 'The branch does not have a name that git allows.'],
  ])('of a task without %s (%j) is refused in the words of the spec', async (field, value, error) => {
    expect(await asked({ ...good(), [field]: value })).toMatchObject({
      status: 400,
      body: { error, code: 'invalid_input', field },
    })
  })

  test.each([
    ['an agent that there is not', { agent: 'nobody' }, 'agent'],
    ['a description that is no text', { description: 7 }, 'description'],
    ['a description with characters that cannot be kept', { description: 'a\u0000b' }, 'description'],
    ['half a character', { description: 'a\uD800' }, 'description'],
    ['too long a description', { description: 'x'.repeat(50_001) }, 'description'],
    ['a project id that is none', { projectId: '../1' }, 'projectId'],
    ['an id that is none', { id: 'DROP TABLE' }, 'id'],
    ['images that were never uploaded', { images: [{ url: 'x' }] }, 'images'],
  ])('with %s is refused by name', async (_, part, field) => {
    expect(await asked({ ...good(), ...part })).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', field: expect.stringContaining(field) },
    })
  })

  test('makes the title of the first line, cut to 100 characters that people see', async () => {
    const { task } = await ada.ask(createTask, {
      body: { ...good(), description: `  ${'🚀'.repeat(120)}\nmore` },
    })
    expect(task.title).toBe('🚀'.repeat(100))
    const named = await ada.ask(createTask, { body: { ...good(), title: ' My title ' } })
    expect(named.task.title).toBe('My title')
  })

  test.each([
    ['no JSON', '{"description": '],
    ['JSON of no object', '"words"'],
    ['nothing at all', ''],
  ])('that is %s is refused', async (_, body) => {
    expect(await asked(body)).toMatchObject({ status: 400, body: { code: 'invalid_input' } })
  })

  test('of two megabytes is refused for its size, whatever is in it', async () => {
    const huge = { ...good(), description: 'x'.repeat(2_000_000) }
    expect(await asked(huge)).toMatchObject({ status: 413, body: { code: 'too_large' } })
    // The server goes on.
    expect((await ada.api('GET', '/auth/me')).status).toBe(200)
  })

  test('in a message must not be empty, nor an empty command', async () => {
    const task = await ada.task(projectId, 'Empty', branch)
    for (const body of [{}, { message: ' ' }, { isCommand: true, commandText: '' }]) {
      const answer = await ada.api('POST', `/tasks/${task.id}/chat`, body)
      expect(answer).toMatchObject({ status: 400, body: { error: 'Enter a message.' } })
    }
    expect(await ada.api('POST', `/tasks/${task.id}/execute`, { command: '' })).toMatchObject({ status: 400 })
  })

  test('that names a repository badly is refused in the words of the spec', async () => {
    expect(await ada.api('POST', '/github/repos', { name: '' })).toMatchObject({
      status: 400,
      body: { error: 'Please enter a name for your new repository.' },
    })
    expect(await ada.api('POST', '/github/repos', { name: 'x'.repeat(101) })).toMatchObject({
      status: 400,
      body: { field: 'name' },
    })
    // The code host refuses it too, and not because there is one.
    expect(await ada.api('POST', '/github/repos', { name: 'x.git' })).toMatchObject({
      status: 403,
      body: { code: 'forbidden', error: expect.stringContaining('letters, digits') },
    })
    expect(await ada.api('POST', '/projects', { repoUrl: '' })).toMatchObject({
      status: 400,
      body: { error: 'Please choose a repository to create your project from.' },
    })
    expect(await ada.refused(updateProject, { params: { projectId }, body: { name: ' ' } })).toMatchObject({
      status: 400,
      field: 'name',
    })
  })

  test('that names a repository with other characters makes it with hyphens', async () => {
    const { data } = await ada.ask(createRepository, { body: { name: ' my / engine ' } })
    expect(data).toMatchObject({ name: 'my-engine', full_name: 'ada/my-engine' })
  })

  test('in the address is checked as well', async () => {
    expect(await ada.api('GET', '/tasks/not-an-id')).toMatchObject({ status: 400, body: { field: 'taskId' } })
    expect(await ada.api('GET', `/tasks/${randomUUID()}`)).toMatchObject({ status: 404 })
    for (const query of ['limit=0', 'limit=x', 'limit=100000', 'status=painted', 'project=x'])
      expect(await ada.api('GET', `/tasks?${query}`)).toMatchObject({ status: 400 })
    for (const path of ['/tasks/%00', '/tasks/%E0%A4%A', '/tasks/..%2f..%2fetc'])
      expect([400, 404]).toContain((await ada.api('GET', path)).status)
  })

  test('every refusal names its request, and none shows the insides', async () => {
    const answer = await asked({})
    expect(answer.body).toMatchObject({ requestId: answer.headers.get('x-request-id') })
    expect(answer.text).not.toMatch(/node_modules|at .*\(|zod/i)
  })
})

describe('lists', () => {
  test('come in pages, newest first, each task once', async () => {
    const seen: string[] = []
    let after: string | null = null
    do {
      const query: Record<string, string> = { limit: '3', ...(after === null ? {} : { after }) }
      const page: Awaited<ReturnType<typeof list>> = await list(query)
      seen.push(...page.tasks.map(({ id }) => id))
      after = page.next
    } while (after !== null)
    const { tasks } = await list({ limit: '1000' })
    expect(seen).toEqual(tasks.map(({ id }) => id))
    const times = tasks.map(({ createdAt }) => createdAt)
    expect(times).toEqual(times.toSorted().toReversed())
  })
  const list = (query: Record<string, string>) => ada.ask(listTasks, { query })
})
