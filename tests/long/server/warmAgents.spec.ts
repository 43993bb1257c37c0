/** An agent that has ended its turn waits in its sandbox for the next message, and leaves no process behind. */
import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendMessage } from '#domain/api/chat.schema.ts'
import { deleteTask, prepareTask, updateTask } from '#domain/api/tasks.schema.ts'
import { agentsOf, agentsOnce } from '../../server/agentProcesses.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'

const scripts = [{ when: /Say (\w+)/, turns: [{ text: 'Said.' }] }]

async function followUp({ ada }: Scene, taskId: string, message: string, turn: number) {
  await ada.ask(sendMessage, { params: { taskId }, body: { message } })
  return ada.taskOnce(taskId, (task) => hasEnded(task) && task.execution?.turn === turn)
}

describe('an agent', () => {
  let scene: Scene
  beforeAll(async () => {
    // Whatever memory the machine has.
    scene = await openScene(scripts, { env: { WARM_AGENTS: '8' } })
  })
  afterAll(() => scene?.close())

  test('takes the next message in the process that had the last, and knows what was said', async () => {
    const { ada, api, projectId } = scene
    const { id } = await ada.task(projectId, 'Say one')
    await ada.taskOnce(id, hasEnded)
    const [first] = await agentsOnce(scene.product, (pids) => pids.length === 1)
    expect(await followUp(scene, id, 'Say two', 2)).toMatchObject({ status: 'completed' })
    expect(await agentsOf(scene.product)).toEqual([first])
    expect(JSON.stringify(api.requests.at(-1)?.body)).toMatch(/Say one.*Said\..*Say two/)
    await ada.ask(deleteTask, { params: { taskId: id } })
    await agentsOnce(scene.product, (pids) => pids.length === 0)
  })

  test('makes place for one with the model that was chosen between turns, which knows what was said', async () => {
    const { ada, api, projectId } = scene
    const { id } = await ada.task(projectId, 'Say seven')
    await ada.taskOnce(id, hasEnded)
    const [first] = await agentsOnce(scene.product, (pids) => pids.length === 1)
    const codexModel = 'claude-chosen-7'
    const chosen = await ada.ask(updateTask, { params: { taskId: id }, body: { codexModel } })
    expect(chosen.task).toMatchObject({ codexModel, modelAgent: 'claude' })
    expect(await followUp(scene, id, 'Say eight', 2)).toMatchObject({ status: 'completed', codexModel })
    const [second] = await agentsOf(scene.product)
    expect(second).not.toBe(first)
    const heard = api.requests.at(-1)?.body
    expect(heard).toMatchObject({ model: codexModel })
    expect(JSON.stringify(heard)).toMatch(/Say seven.*Said\..*Say eight/)
    await ada.ask(deleteTask, { params: { taskId: id } })
  })

  test('that was killed while it waited is followed by one that goes on with its session', async () => {
    const { ada, api, projectId } = scene
    const { id } = await ada.task(projectId, 'Say three')
    await ada.taskOnce(id, hasEnded)
    const [first = 0] = await agentsOnce(scene.product, (pids) => pids.length === 1)
    process.kill(first, 'SIGKILL')
    expect(await followUp(scene, id, 'Say four', 2)).toMatchObject({ status: 'completed' })
    const [second] = await agentsOf(scene.product)
    expect(second).not.toBe(first)
    expect(JSON.stringify(api.requests.at(-1)?.body)).toMatch(/Say three.*Said\..*Say four/)
    await ada.ask(deleteTask, { params: { taskId: id } })
  })
})

describe('where agents may wait for a second', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(scripts, { env: { IDLE_AGENT_SECONDS: '1' } })
  })
  afterAll(() => scene?.close())

  test('one that nobody talks to is ended, and the next message finds another', async () => {
    const { ada, projectId } = scene
    const { id } = await ada.task(projectId, 'Say five')
    await ada.taskOnce(id, hasEnded)
    await agentsOnce(scene.product, (pids) => pids.length === 0)
    expect(await followUp(scene, id, 'Say six', 2)).toMatchObject({ status: 'completed' })
  })
})

describe('where one agent may wait', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(scripts, { env: { WARM_AGENTS: '1' } })
  })
  afterAll(() => scene?.close())

  test('the one that waited longest is ended for the next', async () => {
    const { ada, projectId } = scene
    const { id: older } = await ada.task(projectId, 'Say nine')
    await ada.taskOnce(older, hasEnded)
    const [first] = await agentsOnce(scene.product, (pids) => pids.length === 1)
    const { id: newer } = await ada.task(projectId, 'Say ten')
    await ada.taskOnce(newer, hasEnded)
    const [second] = await agentsOnce(scene.product, (pids) => pids.length === 1)
    expect(second).not.toBe(first)
    expect(await followUp(scene, older, 'Say eleven', 2)).toMatchObject({ status: 'completed' })
  })
})

describe('where none may wait', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene(scripts, { env: { WARM_AGENTS: '0' } })
  })
  afterAll(() => scene?.close())

  test('an agent ends with its turn, and nothing is prepared before a task', async () => {
    const { ada, projectId, product } = scene
    const taskId = randomUUID()
    await ada.ask(prepareTask, { params: { projectId }, body: { taskId, branch: 'main' } })
    const { id } = await ada.task(projectId, 'Say twelve')
    expect(await ada.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
    expect(await agentsOf(product)).toEqual([])
    expect(await readdir(join(product.dataDir, 'runner', 'tasks'))).toEqual([id])
    expect(await followUp(scene, id, 'Say thirteen', 2)).toMatchObject({ status: 'completed' })
  })
})
