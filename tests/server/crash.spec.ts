/** kill -9 at any moment: everything that was confirmed is stored, nothing runs for ever, and nothing is left behind. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getChat, getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { createPullRequest, createTask, getTask, listTasks, retryTask } from '#domain/api/tasks.schema.ts'
import { asRead } from '../product/live.ts'
import { createGate } from '../standins/messagesApi.ts'
import { eventually } from './engines.ts'
import { hasEnded, openScene, watching, type Scene } from './scene.ts'

const gate = createGate()
const echo = { name: 'Bash', input: { command: 'echo printed', description: 'Print' } }

let scene: Scene
beforeAll(async () => {
  scene = await openScene([
    {
      when: /Be interrupted/,
      turns: [
        { text: 'I have begun.', tools: [echo] },
        { text: 'And I go on.', hold: { afterWords: 3, gate } },
      ],
    },
    {
      when: /Sleep long/,
      turns: [
        { tools: [{ name: 'Bash', input: { command: 'sleep 600 & sleep 700', description: 'Sleep' } }] },
      ],
    },
    {
      when: /Change something/,
      turns: [
        { tools: [{ name: 'Bash', input: { command: 'echo more >> README.md', description: 'Add' } }] },
        { text: 'Changed.' },
      ],
    },
  ])
})
afterAll(() => scene?.close())

/** Kills the process alone, and waits until all that it had started is gone as well. */
async function killAndSeeNothingLeft(): Promise<void> {
  const { product } = scene
  await product.kill9()
  await eventually('nothing of it is left', async () => (await product.processes()).length === 0)
}

test('of a first turn in which nothing changed yet, no pull request is opened, at the first request', async () => {
  const { product, ada, projectId } = scene
  const { id: taskId } = await ada.task(projectId, 'Sleep long')
  const runs = async () => (await product.processes()).some(({ command }) => command.includes('sleep 700'))
  await eventually('the agent’s own child runs', runs)
  await killAndSeeNothingLeft()
  await product.restart()
  await ada.taskOnce(taskId, hasEnded)
  for (const body of [{ tree: null }, {}])
    expect(await ada.refused(createPullRequest, { params: { taskId }, body })).toMatchObject({
      status: 409,
      code: 'no_changes',
    })
})

describe('while tasks run', () => {
  test('nothing is lost and nothing goes on: they end as failed with the reason, and can be tried again', async () => {
    const { product, ada, projectId } = scene
    const talking = await ada.task(projectId, 'Be interrupted')
    const sleeping = await ada.task(projectId, 'Sleep long')
    const live = await watching(ada, talking.id)
    await gate.reached
    const said = () => live.of('chat_message_delta').map(({ text }) => text)
    await live.until('what is being said', () => said().join('').includes('And I go'))
    // Output is recorded within 50 ms of being printed: what came less than that before a kill may be lost.
    await live.until('what was printed', () =>
      live.of('terminal_output').some(({ content }) => content.includes('printed\n')),
    )
    await eventually(
      'the agent’s own child runs',
      async () => (await product.processes()).some(({ command }) => command.includes('sleep 700')),
      20_000,
    )
    const heard = asRead(live.of('terminal_output'))

    await killAndSeeNothingLeft()
    gate.release()
    await product.restart()

    for (const taskId of [talking.id, sleeping.id]) {
      const task = await ada.taskOnce(taskId, hasEnded)
      expect(task).toMatchObject({
        status: 'failed',
        failure: {
          code: 'runner_lost',
          reason: expect.stringMatching(/stopped while this was running.*\.$/),
        },
      })
      const { messages } = await ada.ask(getChat, { params: { taskId } })
      expect(messages.at(-1)).toMatchObject({ messageType: 'error', message: task.failure?.reason })
    }
    const params = { taskId: talking.id }
    const { output, deltas } = await ada.ask(getTerminal, { params })
    expect(output.slice(-heard.length - 1, -1)).toEqual(heard)
    expect(output.at(-1)).toMatchObject({
      type: 'stderr',
      content: expect.stringMatching(/^The runner stopped/),
    })
    expect(output.map(({ content }) => content).join('')).toMatch(/\$ echo printed[^]*\nprinted\n/)
    expect(deltas.map(({ text }) => text).join('')).toContain('And I go')
    const { messages } = await ada.ask(getChat, { params })
    expect(messages.map(({ message }) => message).slice(0, 2)).toEqual(['Be interrupted', 'I have begun.'])

    const { task } = await ada.ask(retryTask, { params })
    expect(task).toMatchObject({ status: expect.stringMatching(/^(queued|running)$/), failure: null })
    expect(await ada.taskOnce(talking.id, hasEnded)).toMatchObject({ status: 'completed', failure: null })
    const after = await ada.ask(getChat, { params })
    expect(after.messages.at(-1)).toMatchObject({ messageType: 'response', message: 'And I go on.' })
    live.close()
  })

  test('a viewer who comes back with what it saw last is told the rest', async () => {
    const { product, ada } = scene
    const { tasks } = await ada.ask(listTasks)
    const taskId = tasks.find(({ title }) => title === 'Be interrupted')?.id ?? ''
    await product.kill9()
    await product.restart()
    const live = await ada.socket()
    const { output } = await ada.ask(getTerminal, { params: { taskId } })
    const seen = output[2]?.position ?? ''
    expect(await live.join(taskId, seen)).toMatchObject({ joined: true, resync: false })
    await live.until(
      'the end',
      ({ name, payload }) => name === 'task_status_changed' && payload.status === 'completed',
    )
    expect(asRead(live.of('terminal_output'))).toEqual(output.slice(3))
    live.close()
  })
})

describe('right after an answer', () => {
  test.each([0, 5, 40])('a task that was made %i ms before is there and runs', async (ms) => {
    const { product, ada, projectId } = scene
    const body = { description: `Answer ${ms}`, projectId, branch: 'main' }
    const { task } = await ada.ask(createTask, { body })
    await new Promise((resolve) => {
      setTimeout(resolve, ms)
    })
    await killAndSeeNothingLeft()
    await product.restart()
    const ended = await ada.taskOnce(task.id, hasEnded)
    // A runner may have had it already: then it was lost with the process, and says so.
    expect([ended.status, ended.failure?.code]).toEqual(
      ended.status === 'completed' ? ['completed', undefined] : ['failed', 'runner_lost'],
    )
    expect(ended).toMatchObject({ description: `Answer ${ms}`, title: `Answer ${ms}` })
  })

  test('and the queue is lost, all that was asked for runs or ends as failed', async () => {
    const { product, ada, projectId } = scene
    const sleeping = await ada.task(projectId, 'Sleep long')
    await ada.taskOnce(sleeping.id, (now) => (now.execution?.startedAt ?? null) !== null)
    const asked = await Promise.all([1, 2, 3].map(() => ada.task(projectId, 'Change something')))
    await killAndSeeNothingLeft()
    for (const ending of ['', '-wal', '-shm'])
      await rm(join(product.dataDir, `jobs.sqlite${ending}`), { force: true })
    await product.restart()
    expect(await ada.taskOnce(sleeping.id, hasEnded)).toMatchObject({ failure: { code: 'runner_lost' } })
    for (const { id } of asked) await ada.taskOnce(id, hasEnded)
  })

  test('a message that was sent is there and answered', async () => {
    const { product, ada, projectId } = scene
    const task = await ada.task(projectId, 'Change something')
    const params = { taskId: task.id }
    await ada.taskOnce(task.id, hasEnded)
    await ada.ask(sendMessage, { params, body: { message: 'And one word more' } })
    await product.kill9()
    await product.restart()
    await ada.taskOnce(task.id, (now) => hasEnded(now) && now.execution?.turn === 2)
    const { messages } = await ada.ask(getChat, { params })
    expect(messages.map(({ message }) => message)).toContain('And one word more')
  })
})

test('a pull request that was being made is made once, however often it is cut short', async () => {
  const { product, ada, projectId } = scene
  const task = await ada.task(projectId, 'Change something')
  const params = { taskId: task.id }
  await ada.taskOnce(task.id, hasEnded)
  for (const ms of [20, 150, 400]) {
    const asking = ada.ask(createPullRequest, { params }).catch(() => undefined)
    await new Promise((resolve) => {
      setTimeout(resolve, ms)
    })
    await killAndSeeNothingLeft()
    await asking
    await product.restart()
  }
  const { pr } = await ada.ask(createPullRequest, { params })
  const { task: after } = await ada.ask(getTask, { params })
  expect(after).toMatchObject({ prNumber: pr.number, prUrl: pr.html_url, pullRequestPending: false })
  const pages = await Promise.all(
    [1, 2].map(async (number) => (await fetch(`${product.codeHostUrl}/ada/engine/pull/${number}`)).status),
  )
  expect(pages).toEqual([200, 404])
})
