/** kill -9 between any two steps of a command: everything that was accepted is stored, and nothing is stored twice. */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getChat, sendMessage } from '#domain/api/chat.schema.ts'
import { updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import { createTask, listTasks } from '#domain/api/tasks.schema.ts'
import { ownFolder } from '../../product.ts'
import { command, openKilling, type Doing, type Killing } from '../../server/faults/killing.ts'
import { storedBy } from '../../server/faults/killPoints.ts'
import { openScene, type Scene } from '../../server/scene.ts'

let scene: Scene
let killing: Killing
let folder = ''
beforeAll(async () => {
  folder = await ownFolder()
  killing = openKilling(folder)
  scene = await openScene([], killing.options)
  // A run ends soon: it is not what is asked about here.
  const params = { projectId: scene.projectId }
  await scene.ada.ask(updateProjectSettings, { params, body: { setupCommand: 'exit 1' } })
})
afterAll(async () => {
  await scene?.close()
  await rm(folder, { recursive: true, force: true })
})

/** A client makes a task and sends it a message. */
async function taskAndMessage(): Promise<Doing> {
  const { ada, projectId } = scene
  const name = randomUUID()
  const [description, message] = [`Make ${name}`, `And paint ${name}`]
  return {
    commands: [
      command(ada, createTask, { body: { description, projectId, branch: 'main' } }),
      (key, [made]) => {
        const { task } = createTask.answer.parse(made?.body)
        return command(ada, sendMessage, { params: { taskId: task.id }, body: { message } })(key, [])
      },
    ],
    async check() {
      const { tasks } = await ada.ask(listTasks, { query: { limit: '1000' } })
      const made = tasks.filter(({ title }) => title === description)
      expect(made).toHaveLength(1)
      const { messages } = await ada.ask(getChat, { params: { taskId: made[0]?.id ?? '' } })
      const said = messages.filter(({ messageType }) => messageType === 'user')
      expect(said.map((one) => one.message)).toEqual([description, message])
    },
  }
}

test(
  'wherever it was killed, a task that was made and a message that was sent are there, once',
  { timeout: 240_000 },
  async () => {
    // Right after each write; killPoints.spec.ts has right before it as well, and every other kind of command.
    const points = await killing.everywhere(
      scene,
      { name: 'a task and a message', prepare: taskAndMessage },
      ['after'],
    )
    // The two requests, at the least: how much of what they bring about is written before the last answer is a matter of time.
    expect(points.filter((point) => point.startsWith('after events.sqlite')).length).toBeGreaterThanOrEqual(2)
    const { broken, kept, rebuilt } = await storedBy(scene.product)
    expect(broken).toEqual([])
    expect(kept).toBe(rebuilt)
  },
)
