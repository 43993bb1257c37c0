/** Models and efforts as the real `claude` reports them, chosen between turns, with a stand-in for the Messages API. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { getTaskHistory } from '#domain/api/history.schema.ts'
import { sendMessage } from '#domain/api/chat.schema.ts'
import { getAgents, type AgentModel } from '#domain/api/server.schema.ts'
import { createTask, updateTask } from '#domain/api/tasks.schema.ts'
import { patienceMs } from '../patience.ts'
import type { Script } from '../standins/messagesApi.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

// A process is told from the next by when it began.
const look = { command: 'cut -d " " -f 22 /proc/$PPID/stat', description: 'Look' }
const scripts: readonly Script[] = [
  { when: /^Look/, turns: [{ tools: [{ name: 'Bash', input: look }] }, { text: 'Looked.' }] },
]

let scene: Scene
beforeAll(async () => (scene = await openScene(scripts, { env: { WARM_AGENTS: '2' } })))
afterAll(() => scene?.close())

async function modelsOfClaude(): Promise<readonly AgentModel[]> {
  const { agents } = await scene.ada.ask(getAgents)
  return agents.find(({ name }) => name === 'claude')?.models ?? []
}

const Asked = z.object({ model: z.string(), output_config: z.object({ effort: z.string() }) })
/** What the model was asked with last, title requests aside. */
const askedLast = () => scene.api.requests.flatMap(({ body }) => Asked.safeParse(body).data ?? []).at(-1)

/** What the tool of the last message printed; requests without tools, such as for a title, tell nothing of it. */
function printed(): string {
  const bodies = JSON.stringify(scene.api.requests.map(({ body }) => body))
  const results = bodies.match(/"content":"(\d+)"/g) ?? []
  return results.at(-1) ?? ''
}

const Event = z.object({ model: z.string().optional(), effort: z.string().optional() })
async function recorded(taskId: string, type: string) {
  const { items } = await scene.ada.ask(getTaskHistory, { params: { taskId } })
  return items.flatMap((item) =>
    item.kind === 'event' && item.event.type === type ? [Event.parse(item.event.data)] : [],
  )
}

test('are reported by the agent, and changed between turns without a restart of it', async () => {
  const { ada, projectId } = scene
  // A runner that is still looking for its programs reports no agent.
  await expect.poll(modelsOfClaude, { timeout: patienceMs }).toContainEqual({ name: 'haiku', label: 'Haiku' })
  const wanted = { description: 'Look', projectId, branch: 'main', agent: 'claude' } as const
  const { task } = await ada.ask(createTask, { body: { ...wanted, codexModel: 'haiku', effort: 'low' } })
  expect(task).toMatchObject({ codexModel: 'haiku', effort: 'low' })
  expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({ status: 'completed' })
  expect(askedLast()).toMatchObject({
    model: expect.stringMatching(/haiku/),
    output_config: { effort: 'low' },
  })
  const began = printed()

  await expect.poll(modelsOfClaude, { timeout: patienceMs }).toContainEqual({
    name: 'haiku',
    label: 'Haiku',
    description: expect.stringMatching(/\$\d.* per Mtok/),
    effortLevels: expect.arrayContaining(['low', 'high']),
  })
  const params = { taskId: task.id }
  const chosen = await ada.ask(updateTask, { params, body: { codexModel: 'sonnet', effort: 'high' } })
  expect(chosen.task).toMatchObject({ codexModel: 'sonnet', effort: 'high', agent: 'claude' })
  await ada.ask(sendMessage, { params, body: { message: 'Look again' } })
  await ada.taskOnce(task.id, ({ status, execution }) => execution?.turn === 2 && hasEnded({ status }))
  expect(askedLast()).toMatchObject({
    model: expect.stringMatching(/sonnet/),
    output_config: { effort: 'high' },
  })
  expect(began).toMatch(/\d/)
  expect(printed()).toBe(began)

  // What is not named stays.
  const back = await ada.ask(updateTask, { params, body: { effort: null } })
  expect(back.task).toMatchObject({ codexModel: 'sonnet' })
  expect(back.task).not.toHaveProperty('effort')
  expect(await recorded(task.id, 'AgentStarted')).toEqual([
    { model: expect.stringMatching(/haiku/), effort: 'low' },
    { model: expect.stringMatching(/sonnet/), effort: 'high' },
  ])
  expect(await recorded(task.id, 'ModelChosen')).toEqual([{ effort: 'low' }, { effort: 'high' }, {}])
})

test('are still known after a restart, without the name of a model that somebody asked for', async () => {
  const { ada, projectId } = scene
  const wanted = { description: 'Hello', projectId, branch: 'main', agent: 'claude' } as const
  const { task } = await ada.ask(createTask, { body: { ...wanted, codexModel: 'claude-of-adas-own' } })
  expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({ status: 'completed' })
  await scene.product.terminate()
  await scene.product.restart()
  await expect.poll(async () => (await modelsOfClaude()).length, { timeout: patienceMs }).toBeGreaterThan(1)
  const models = await modelsOfClaude()
  expect(models.filter(({ isDefault }) => isDefault)).toHaveLength(1)
  expect(models.find(({ name }) => name === 'opus')?.effortLevels).toContain('max')
  expect(JSON.stringify(models)).not.toContain('own')
})

test('an effort that no agent could have is refused', async () => {
  const body = { description: 'Look', projectId: scene.projectId, branch: 'main', effort: '--settings' }
  expect(await scene.ada.refused(createTask, { body })).toMatchObject({ status: 400, field: 'effort' })
})
