/** Preparations before a task exists: its workspace and an agent that waits, under the id that the task will have. */
import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { prepareTask, createTask, executeTask } from '#domain/api/tasks.schema.ts'
import { hasEnded, openScene, watching, type Scene } from '../../server/scene.ts'
import { plantBomb } from '../../hostile/treeBomb.ts'
import { agentsOf, agentsOnce } from '../../server/agentProcesses.ts'
import { bareRepository } from '../../server/pushing.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene([{ when: /Say (\w+)/, turns: [{ text: 'Said.' }] }], { env: { WARM_AGENTS: '8' } })
})
afterAll(() => scene?.close())

const workspaces = ({ product }: Scene) =>
  readdir(join(product.dataDir, 'runner', 'tasks')).catch((): string[] => [])

async function prepared(taskId: string, branch = 'main'): Promise<void> {
  const { ada, projectId } = scene
  await ada.ask(prepareTask, { params: { projectId }, body: { taskId, branch } })
}

test('a task that is made with the id finds its workspace and its agent', async () => {
  const { ada, projectId, product } = scene
  const id = randomUUID()
  await prepared(id)
  const [waiting] = await agentsOnce(product, (pids) => pids.length === 1)
  const body = { id, projectId, branch: 'main', title: 'Say hello', description: 'Say hello' }
  await ada.ask(createTask, { body })
  const live = await watching(ada, id)
  const task = await ada.taskOnce(id, hasEnded)
  expect(task.status).toBe('completed')
  expect(task.workingBranch).toMatch(/^flightdeck\/say-hello-/)
  expect(await agentsOf(product)).toEqual([waiting])
  // The agent's own repository is on that branch too, and writes to it.
  const command = 'git branch --show-current && git commit -q --allow-empty -m Mine && echo "committed"'
  await ada.ask(executeTask, { params: { taskId: id }, body: { command } })
  await live.until('the end of the command', ({ name }) => name === 'command_completed')
  const { output } = await ada.ask(getTerminal, { params: { taskId: id } })
  expect(output.map(({ content }) => content).join('')).toContain(`${task.workingBranch}\ncommitted`)
  live.close()
})

test('one that is made on another branch does not', async () => {
  const { ada, projectId, product } = scene
  // It is refused before any of it is read out, and so ends without an agent.
  plantBomb(await bareRepository(product.dataDir), 'bomb', { levels: 12, width: 12 })
  const id = randomUUID()
  const before = await agentsOf(product)
  await prepared(id)
  await agentsOnce(product, (pids) => pids.length === before.length + 1)
  const body = { id, projectId, branch: 'bomb', title: 'Say no', description: 'Say no' }
  await ada.ask(createTask, { body })
  expect((await ada.taskOnce(id, hasEnded)).status).toBe('failed')
  expect(await agentsOf(product)).toEqual(before)
})

test('who changes their mind has one made at a time, and none for a task that is there', async () => {
  const { ada, projectId, product } = scene
  const before = await agentsOf(product)
  const [first, second] = [randomUUID(), randomUUID()]
  await prepared(first)
  await agentsOnce(product, (pids) => pids.length === before.length + 1)
  await prepared(second)
  await expect.poll(() => workspaces(scene)).not.toContain(first)
  await agentsOnce(product, (pids) => pids.length === before.length + 1)
  const { id: taskId } = await ada.task(projectId, 'Say there')
  await ada.taskOnce(taskId, hasEnded)
  const now = await workspaces(scene)
  await prepared(taskId)
  expect(await workspaces(scene)).toEqual(now)
})

test('after a kill nothing of it is left, and the task is made without', async () => {
  const { ada, projectId, product } = scene
  const id = randomUUID()
  await prepared(id)
  await expect.poll(() => workspaces(scene)).toContain(id)
  await product.kill9()
  await product.restart()
  expect(await workspaces(scene)).not.toContain(id)
  const body = { id, projectId, branch: 'main', title: 'Say again', description: 'Say again' }
  await ada.ask(createTask, { body })
  expect((await ada.taskOnce(id, hasEnded)).status).toBe('completed')
})
