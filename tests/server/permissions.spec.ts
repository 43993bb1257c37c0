/** Every call of the API, made by everybody who is not allowed to. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { decodeJwt, SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AnyCall } from '#domain/api/call.schema.ts'
import { calls as everyCall } from '#domain/api/calls.schema.ts'
import { endSession, getMe, listSessions, logout, updateProfile } from '#domain/api/auth.schema.ts'
import { readFeedbackMessage } from '#domain/api/feedback.schema.ts'
import { getTaskHistory } from '#domain/api/history.schema.ts'
import { getChat, sendMessage } from '#domain/api/chat.schema.ts'
import { createProject } from '#domain/api/projects.schema.ts'
import { createTask, listTasks } from '#domain/api/tasks.schema.ts'
import { sessionDays, sessions } from '#platform/http/session.ts'
import { loadMasterKey } from '#platform/vault/masterKey.ts'
import { purposeKey } from '#platform/vault/sealing.ts'
import type { Product } from '../product.ts'
import { connectLive } from '../product/live.ts'
import { addressOf, onboard, type Person } from '../product/person.ts'
import { note } from '../report/notes.ts'
import { commandRoutes } from '../../services/command/routes/routes.ts'
import { queryRoutes } from '../../services/query/routes/routes.ts'
import { goodBody, goodQuery, nameOf } from './goodBodies.ts'
import { hasEnded, openScene, watching, type Scene } from './scene.ts'

/** Registering and signing in are open to anybody, and have a table of their own in signIn.spec.ts; so is the count of pages (watching.spec.ts). */
const calls: readonly AnyCall[] = everyCall.map(({ call }) => call).filter(({ open }) => open !== 'anybody')
const named = calls.map((call) => [nameOf(call), call] as const)
/** Calls that are open before the onboarding is complete. */
const openToAll = new Set(calls.filter(({ open }) => open === 'signed_in').map(nameOf))
/** Calls about a thing of somebody's. */
const aboutThings = named.filter(([, { path }]) => path.includes(':'))

let scene: Scene
let ada: Person
let grace: Person
let ids: Readonly<
  Record<
    | 'projectId'
    | 'taskId'
    | 'messageId'
    | 'questionId'
    | 'feedbackId'
    | 'executionId'
    | 'revision'
    | 'name'
    | 'sessionId'
    | 'serverId'
    | 'port',
    string
  >
>

beforeAll(async () => {
  // A changed file, of which lines can be asked for.
  const change = { tools: [{ name: 'Bash', input: { command: 'echo more >> README.md' } }] }
  scene = await openScene([{ when: /The words of ada/, turns: [change, { text: 'Done.' }] }], {
    env: { ALLOWED_USERS: '*', ADMINS: 'ada' },
  })
  ada = scene.ada
  const task = await ada.task(scene.projectId, 'The words of ada')
  await ada.taskOnce(task.id, hasEnded)
  const { messages } = await ada.ask(getChat, { params: { taskId: task.id } })
  const { sessions } = await ada.ask(listSessions)
  const { items } = await ada.ask(getTaskHistory, { params: { taskId: task.id } })
  const changed = items.find((item) => item.kind === 'event' && item.event.type === 'WorkspaceChanged')
  ids = {
    projectId: scene.projectId,
    taskId: task.id,
    messageId: messages[0]?.id ?? '',
    questionId: task.id,
    feedbackId: task.id,
    executionId: messages[0]?.executionId ?? '',
    revision: changed?.kind === 'event' ? String(changed.event.revision) : '',
    name: 'A_SECRET',
    sessionId: sessions[0]?.id ?? '',
    serverId: task.id,
    port: '5173',
  }
  grace = await scene.product.signIn('grace', { onboarding: 'left' })
})
afterAll(() => scene?.close())

/** A body that the call would take from somebody who may ask. */
const bodyOf = (call: AnyCall): unknown =>
  goodBody(call, { projectId: ids.projectId, repoUrl: `${scene.product.codeHostUrl}/ada/engine` })
const asks = (person: Person, call: AnyCall, body: unknown = bodyOf(call)) =>
  person.api(call.method, addressOf(call, ids, goodQuery(call, ids)), body)

/** What the gateway answers by itself: sign-in, uploads, what runners tell. */
const atTheGateway = [
  '/auth/register',
  '/auth/login',
  '/auth/github/link',
  '/auth/github/refusal',
  '/upload/image',
  '/notices',
  '/agents',
  '/page-views',
  '/setup',
  '/tasks/:taskId/ports',
  '/tasks/:taskId/ports/:port/open',
]

test('every route that is served is a call of the document, and every call of it is served', () => {
  const served = [...commandRoutes, ...queryRoutes].map(({ call }) => nameOf(call))
  const stated = everyCall.map(({ call }) => call)
  const elsewhere = stated.filter(({ path }) => !atTheGateway.includes(path)).map(nameOf)
  expect(served.toSorted()).toEqual(elsewhere.toSorted())
})

test.each(atTheGateway)('the gateway serves %s', async (path) => {
  const call = everyCall.map((known) => known.call).find((known) => known.path === path)
  const body = call?.method === 'GET' ? undefined : {}
  const { text } = await ada.api(call?.method ?? '', path, body)
  expect(text).not.toContain('There is no such call.')
})

test('the table knows every call, each once', () => {
  expect(new Set(named.map(([name]) => name)).size).toBe(calls.length)
  expect(calls.length).toBeGreaterThan(25)
  // No token, none and no input, five that are not ours, one that has run out, one whose session has ended; then the onboarding, and
  // another's things.
  const cases = 9 * calls.length + named.filter(([name]) => !openToAll.has(name)).length + aboutThings.length
  note('permissions', `${calls.length} calls × who may not ask them: ${cases} cases`)
})

describe('who has not signed in', () => {
  test.each(named)('is refused: %s', async (_, call) => {
    const nobody = scene.product.personWith(undefined)
    const refusal = { status: 401, body: { code: 'sign_in_required', error: expect.stringMatching(/\.$/) } }
    expect(await asks(nobody, call)).toMatchObject(refusal)
    // And learns nothing of what would be asked for.
    const nothing = call.method === 'GET' ? undefined : {}
    expect(await asks(nobody, call, nothing)).toMatchObject(refusal)
  })
})

describe('who brings a token that is none of ours', () => {
  const claims = { sid: randomUUID() }
  const forged = (token: SignJWT) =>
    token
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(randomUUID())
      .setAudience('flightdeck')
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode('a key that somebody made up, 32 bytes'))

  test.each(named)('is refused: %s', async (_, call) => {
    const tokens = ['garbage', 'a.b.c', `${ada.token.slice(0, -4)}AAAA`, await forged(new SignJWT(claims))]
    const unsigned = new UnsecuredJWT(claims).setSubject(randomUUID()).setAudience('flightdeck').encode()
    for (const token of [...tokens, unsigned]) {
      const answer = await asks(scene.product.personWith(token), call)
      expect(answer).toMatchObject({ status: 401, body: { code: 'sign_in_required' } })
    }
  })

  test('is refused also with another scheme, or with our token for no scheme', async () => {
    for (const authorization of [ada.token, `Basic ${ada.token}`, 'Bearer', 'Bearer  ']) {
      const answer = await scene.product
        .personWith(undefined)
        .api('GET', '/auth/me', undefined, { authorization })
      expect(answer.status).toBe(401)
    }
  })
})

describe('whose token has run out', () => {
  let late = ''
  beforeAll(async () => {
    late = await expiredToken(scene.product, ada.token)
  })

  test.each(named)('is refused: %s', async (_, call) => {
    const answer = await asks(scene.product.personWith(late), call)
    expect(answer).toMatchObject({ status: 401, body: { code: 'sign_in_required' } })
  })

  test('is refused by the socket', async () => {
    await expect(connectLive(scene.product.base, late)).rejects.toThrow('Sign in to continue.')
  })
})

describe('whose session has ended', () => {
  let gone: Person
  beforeAll(async () => {
    gone = await scene.product.signIn('ada')
    await gone.ask(logout)
  })

  test.each(named)('is refused: %s', async (_, call) => {
    expect(await asks(gone, call)).toMatchObject({ status: 401, body: { code: 'sign_in_required' } })
  })

  test('has ended that session alone', async () => {
    expect((await ada.ask(getMe)).user.githubUsername).toBe('ada')
  })

  test('is cut off from what was live', async () => {
    const person = await scene.product.signIn('ada')
    const live = await watching(person, ids.taskId)
    const other = await watching(ada, ids.taskId)
    await person.ask(logout)
    await expect.poll(() => live.isConnected()).toBe(false)
    expect(other.isConnected()).toBe(true)
    other.close()
  })

  // Holds findings 1.27.
  test('finding 9: is told of, and ended by its person alone, at every door at once', async () => {
    const [one, two, three] = await Promise.all(Array.from({ length: 3 }, () => scene.product.signIn('ada')))
    if (!one || !two || !three) throw new Error('Three have signed in.')
    const current = async (person: Person) =>
      (await person.ask(listSessions)).sessions.find((session) => session.current)?.id ?? ''
    const live = await watching(two, ids.taskId)
    const params = { sessionId: await current(two) }
    expect((await one.ask(listSessions)).sessions.map(({ id }) => id)).toContain(params.sessionId)
    // Another's session is none.
    expect(await grace.refused(endSession, { params })).toMatchObject({ status: 404 })
    expect((await two.ask(getMe)).user.githubUsername).toBe('ada')
    // What was read with the token before must not be read from memory afterwards.
    const reads = [getMe, listTasks] as const
    for (const read of reads) await two.ask(read)
    await one.ask(endSession, { params })
    for (const read of reads) expect(await two.refused(read)).toMatchObject({ status: 401 })
    await expect.poll(() => live.isConnected()).toBe(false)
    expect(await one.refused(endSession, { params })).toMatchObject({ status: 404 })
    expect((await three.ask(getMe)).user.githubUsername).toBe('ada')
  })
})

describe('who has not completed the onboarding', () => {
  // Holds contract 6.1c.
  test.each(named.filter(([name]) => !openToAll.has(name)))('is refused: %s', async (_, call) => {
    const answer = await asks(grace, call)
    expect(answer).toMatchObject({ status: 403, body: { code: 'onboarding_incomplete' } })
  })

  test('may ask who they are and change their profile', async () => {
    expect((await grace.ask(getMe)).user).toMatchObject({
      githubUsername: 'grace',
      onboardingCompleted: false,
    })
    const { user } = await grace.ask(updateProfile, { body: { fullName: 'Grace H' } })
    expect(user).toMatchObject({ fullName: 'Grace H', onboardingCompleted: false })
  })

  test('may not listen', async () => {
    await expect(grace.socket()).rejects.toThrow('Complete onboarding first.')
  })
})

describe('somebody else', () => {
  let theirTask = ''
  beforeAll(async () => {
    await onboard(grace, 'Grace Hopper')
    // A public repository is anybody's to look at: this project of it is hers.
    const repoUrl = `${scene.product.codeHostUrl}/ada/engine`
    const { id: projectId } = await grace.ask(createProject, { body: { repoUrl } })
    theirTask = (await grace.task(projectId, 'The words of grace')).id
    await grace.taskOnce(theirTask, hasEnded)
  })

  test.each(aboutThings)('finds nothing of ada’s: %s', async (_, call) => {
    const answer = await asks(grace, call)
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect(answer.text).not.toContain('words of ada')
  })

  test.each(named.filter(([, { path }]) => path.startsWith('/admin/')))(
    'is no administrator: %s',
    async (_, call) => {
      expect(await asks(grace, call)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    },
  )

  test('cannot make a task on a project of ada’s, nor take the id of a task of hers', async () => {
    const body = { description: 'Words', projectId: ids.projectId, branch: 'main' }
    expect(await grace.refused(createTask, { body })).toMatchObject({ status: 404, field: 'projectId' })
    const own = { ...body, projectId: await idOfProject(grace), id: ids.taskId }
    const refused = await grace.refused(createTask, { body: own })
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(JSON.stringify(refused)).not.toContain('words of ada')
  })

  test('who gives a message the id of one of ada’s has a message of their own', async () => {
    const params = { taskId: theirTask }
    const body = { id: ids.messageId, message: 'I am grace' }
    const { chatMessage } = await grace.ask(sendMessage, { params, body })
    expect(chatMessage).toMatchObject({ message: 'I am grace', task: theirTask })
    await grace.taskOnce(theirTask, (task) => hasEnded(task) && task.execution?.turn === 2)
    const seen = JSON.stringify(scene.api.requests.at(-1)?.body)
    expect(seen).toContain('I am grace')
    expect(seen).not.toContain('words of ada')
    const { messages } = await ada.ask(getChat, { params: { taskId: ids.taskId } })
    expect(messages[0]).toMatchObject({ id: ids.messageId, message: 'The words of ada' })
  })

  test('may not enter a room of ada’s, and hears nothing of what happens there', async () => {
    const live = await grace.socket()
    expect(await live.join(ids.taskId)).toMatchObject({ joined: false, code: 'not_found' })
    expect(await live.join(ids.taskId, '0')).toMatchObject({ joined: false, code: 'not_found' })
    expect(await live.join('not an id')).toMatchObject({ joined: false, code: 'invalid_input' })
    await ada.ask(sendMessage, { params: { taskId: ids.taskId }, body: { message: 'More words of ada' } })
    await ada.taskOnce(ids.taskId, (task) => hasEnded(task) && task.execution?.turn === 2)
    expect(live.heard).toEqual([])
    live.close()
  })

  test('sees in lists nothing but their own', async () => {
    for (const path of ['/tasks', '/projects', `/tasks?project=${ids.projectId}`]) {
      const { text } = await grace.api('GET', path)
      expect(text).not.toContain(ids.projectId)
      expect(text).not.toContain(ids.taskId)
    }
  })
})

describe('the socket', () => {
  test.each([
    ['without a token', undefined],
    ['with an empty token', ''],
    ['with a made-up token', 'garbage'],
  ])('is refused %s', async (_, token) => {
    await expect(connectLive(scene.product.base, token ?? '')).rejects.toThrow('Sign in to continue.')
  })
})

describe('whose things they are', () => {
  // Of feedback, this task has none: it is read by its owner in its own tests.
  const theirs = named.filter(([, { method, path }]) => method === 'GET' && path !== readFeedbackMessage.path)
  test.each(theirs)('may read them: %s', async (_, call) => {
    expect((await asks(ada, call)).status).toBe(200)
  })
})

/** A token of the same session that the server's own key has signed, and whose time is over. */
async function expiredToken({ dataDir }: Product, token: string): Promise<string> {
  const masterKey = await loadMasterKey({ configured: undefined, file: join(dataDir, 'master.key') })
  const before = sessions(
    {
      vault: { deriveKey: (purpose) => purposeKey(masterKey, purpose) },
      clock: { now: () => new Date(Date.now() - (sessionDays + 1) * 86_400_000) },
      ids: { uuid: () => randomUUID() },
    },
    { epoch: 1 },
  )
  const { sub = '', sid } = decodeJwt<{ sid: string }>(token)
  return before.token({ userId: sub, sessionId: sid }, before.begin('').expiresAt)
}

async function idOfProject(person: Person): Promise<string> {
  const { body } = await person.api('GET', '/projects')
  return /"id":"([^"]+)"/.exec(JSON.stringify(body))?.[1] ?? ''
}
