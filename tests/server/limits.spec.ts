/** Limits that protect the server: on rates, numbers, sizes and types. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getMe } from '#domain/api/auth.schema.ts'
import { calls } from '#domain/api/calls.schema.ts'
import { sendMessage } from '#domain/api/chat.schema.ts'
import { getTaskHistory } from '#domain/api/history.schema.ts'
import { cancelTask, executeTask, listTasks, retryTask, updateTask } from '#domain/api/tasks.schema.ts'
import { addressOf } from '../product/person.ts'
import { createGate } from '../standins/messagesApi.ts'
import { goodQuery } from './goodBodies.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

describe('tasks at once', () => {
  const gate = createGate()
  let scene: Scene
  beforeAll(async () => {
    const script = { when: /Talk on/, turns: [{ text: 'I talk on and on.', hold: { afterWords: 2, gate } }] }
    scene = await openScene([script], { env: { TASKS_AT_ONCE: '2' } })
  })
  afterAll(async () => {
    gate.release()
    await scene?.close()
  })

  test('are as many as were allowed, also of those that come together, and the rest are told when to come again', async () => {
    const { ada, projectId } = scene
    const idle = await ada.task(projectId, 'Be idle')
    await ada.taskOnce(idle.id, hasEnded)
    const body = { description: 'Talk on', projectId, branch: 'main' }
    const asked = await Promise.all(Array.from({ length: 5 }, () => ada.api('POST', '/tasks', body)))
    expect(asked.map(({ status }) => status).toSorted()).toEqual([201, 201, 429, 429, 429])
    const refused = asked.find(({ status }) => status === 429)
    expect(refused?.body).toMatchObject({
      code: 'too_many_tasks',
      error: expect.stringContaining('2 of your'),
    })
    expect(refused?.headers.get('retry-after')).toBe('30')
    // Nothing half-done stays behind.
    const { tasks } = await ada.ask(listTasks)
    expect(tasks).toHaveLength(3)

    const params = { taskId: idle.id }
    for (const call of [retryTask, executeTask])
      expect(await ada.refused(call, { params })).toMatchObject({ status: 429, code: 'too_many_tasks' })
    const message = { params, body: { message: 'Go on' } }
    expect(await ada.refused(sendMessage, message)).toMatchObject({ status: 429 })
    // What only waits in a task that runs starts nothing more.
    const running = tasks.find(({ id }) => id !== idle.id)?.id ?? ''
    await ada.ask(sendMessage, { params: { taskId: running }, body: { message: 'Later' } })
    // Another person has places of their own.
    const grace = await scene.product.signIn('grace')
    const own = await grace.project('engine').catch(() => undefined)
    if (own !== undefined) await grace.task(own, 'Mine')

    await ada.ask(cancelTask, { params: { taskId: running } })
    await ada.taskOnce(running, hasEnded)
    await ada.ask(sendMessage, message)
  })
})

describe('requests', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene([], { env: { REQUESTS_PER_MINUTE: '60', TRUST_PROXY: '1', ALLOWED_USERS: '*' } })
  })
  afterAll(() => scene?.close())

  test('are limited by person and by address, with the time to wait, and nobody else pays for it', async () => {
    const { ada, product } = scene
    const from = (address: string) => ({ 'x-forwarded-for': address })
    const asked = await Promise.all(
      Array.from({ length: 70 }, (_, n) => ada.api('GET', '/auth/me', undefined, from(`192.0.2.${n}`))),
    )
    const refused = asked.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThanOrEqual(10)
    expect(refused.length).toBeLessThan(40)
    expect(refused[0]?.body).toMatchObject({
      code: 'rate_limited',
      error: expect.stringContaining('60 in a minute'),
    })
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
    await expect(ada.socket()).rejects.toThrow('Too many requests')

    const nobody = product.personWith(undefined)
    const knocks = await Promise.all(
      Array.from({ length: 130 }, () => nobody.api('GET', '/auth/me', undefined, from('198.51.100.7'))),
    )
    expect(knocks.filter(({ status }) => status === 401)).toHaveLength(120)
    expect(knocks.filter(({ status }) => status === 429)).toHaveLength(10)
    const elsewhere = await nobody.api('GET', '/auth/me', undefined, from('198.51.100.8'))
    expect(elsewhere.status).toBe(401)
    // What is no API is not counted.
    expect((await fetch(`${product.base}/auth`)).status).toBe(200)
  })
})

describe('what is sent', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene([], { env: { ALLOWED_USERS: '*', ADMINS: 'ada' } })
  })
  afterAll(() => scene?.close())

  test.each([
    ['of another type', 'text/plain'],
    ['of a form', 'application/x-www-form-urlencoded'],
    ['of no type that there is', 'a/b/c'],
  ])('%s is not taken for none', async (_, type) => {
    const answer = await scene.ada.api('PUT', '/auth/profile', '{"fullName":"x"}', { 'content-type': type })
    expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_type' } })
  })

  test.each([
    ['damaged', 'gzip', Buffer.from('{"fullName":"x"}').toString('latin1')],
    ['unknown', 'rot13', '{"fullName":"x"}'],
  ])('with a coding that is %s is refused', async (_, coding, body) => {
    const answer = await scene.ada.api('PUT', '/auth/profile', body, { 'content-encoding': coding })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.status).toBeLessThan(500)
    expect(answer.body).toMatchObject({ code: expect.any(String), error: expect.any(String) })
  })

  test('of a call that takes none may be missing, empty or an empty object', async () => {
    for (const body of [undefined, '', '{}']) {
      const grace = await scene.product.signIn('grace')
      expect((await grace.api('POST', '/auth/logout', body)).status).toBe(200)
    }
  })

  test('may name anything: what the call does not know is not kept', async () => {
    const before = (await scene.ada.ask(getMe)).user
    const extra = '{"fullName":"Ada L","id":"x","onboardingCompleted":false,"constructor":1,"toString":null}'
    const { body, status } = await scene.ada.api('PUT', '/auth/profile', extra)
    expect(status).toBe(200)
    expect(body).toMatchObject({ user: { ...before, fullName: 'Ada L', name: 'Ada L' } })
    const poisoned = await scene.ada.api(
      'PUT',
      '/auth/profile',
      '{"fullName":"x","__proto__":{"isAdmin":true}}',
    )
    expect(poisoned).toMatchObject({ status: 400, body: { code: 'invalid_input' } })
  })

  /** Lines of a changed file, a refusal and feedback are not there yet, and the set-up is not in the log. */
  const others = ['getFileLines', 'getRefusal', 'getSetup', 'readFeedbackMessage']
  const reads = calls.filter(({ name, call }) => call.method === 'GET' && !others.includes(name))

  test('every read may name the position that it must have seen', async () => {
    const { ada, projectId } = scene
    const task = await ada.task(projectId, 'Read me')
    const ended = await ada.taskOnce(task.id, hasEnded)
    const params = { taskId: task.id }
    const { items } = await ada.ask(getTaskHistory, { params })
    const changed = items.find((item) => item.kind === 'event' && item.event.type === 'WorkspaceChanged')
    const of = {
      executionId: ended.execution?.id ?? '',
      revision: String(changed?.kind === 'event' ? changed.event.revision : 0),
    }
    const { position = '0' } = await ada.ask(updateTask, { params, body: { title: 'Read' } })
    const asks = reads.map(async ({ name, call }) => {
      const read = async (minPosition: string) => {
        const answer = await ada.api(
          'GET',
          addressOf(call, { ...params, projectId }, { ...goodQuery(call, of), minPosition }),
        )
        return answer.status
      }
      return [name, await read(position), await read('soon'), await read('99999999999')]
    })
    expect(await Promise.all(asks)).toEqual(reads.map(({ name }) => [name, 200, 400, 504]))
  })
})
