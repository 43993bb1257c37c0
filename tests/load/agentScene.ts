/** A person who uses the product, with a project whose repository is already mirrored, and the stamping model as the agent's model. */
import { randomUUID } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { sendMessage } from '#domain/api/chat.schema.ts'
import { prepareTask, createTask } from '#domain/api/tasks.schema.ts'
import type { Position } from '#domain/kernel/event.ts'
import { connectLive, type Live } from '../product/live.ts'
import type { Person } from '../product/person.ts'
import { agentsOf, agentsOnce } from '../server/agentProcesses.ts'
import { startProduct } from '../product.ts'
import type { Scene } from './row.ts'
import { asking, startStampingModel, type Speech } from './stampingModel.ts'

export interface AgentScene {
  readonly modelUrl: string
  /**
   * Makes the agent give a speech in a new task, and listens from before the start to the end; with `knowsWords` false, like a client that knows only
   * the events of the specification.
   */
  turn(speech: Speech, knowsWords?: boolean): Promise<Turn>
  /** Makes the agent give a speech as the next turn of the latest task. */
  followUp(speech: Speech): Promise<Turn>
  /** Makes the agent give a speech in a task that was fully prepared before it was requested. */
  preparedTurn(speech: Speech): Promise<Turn>
}

/** What was received of a turn; `askedAt` is when the task was sent, in milliseconds of `performance.now()`. */
export interface Turn {
  readonly askedAt: number
  readonly heard: Live['heard']
}

const turnWithinMs = 60_000
/** How long a person goes on writing after they have chosen a project, in milliseconds; the CLI has started by then. */
const agentReadyMs = 2_500

/** Starts everything, and has one task done, after which the mirror of the repository is warm. */
export async function openAgentScene(
  scene: Scene,
  env: Readonly<Record<string, string>> = {},
): Promise<AgentScene> {
  const model = await startStampingModel()
  scene.atEnd(() => model.close())
  const product = await startProduct({
    dataDir: await mkdtemp(join(scene.folder, 'data-')),
    env: { ANTHROPIC_API_KEY: 'sk-ant-bench', ANTHROPIC_BASE_URL: model.baseUrl, ...env },
  })
  scene.atEnd(() => product.stop())
  const person = await product.signIn('ada')
  const projectId = await person.project('sample')
  let last = ''
  const turn = async (speech: Speech, knowsWords = true) =>
    heardFrom(
      { socket: () => connectLive(product.base, person.token, 'websocket', knowsWords) },
      async () => {
        const task = await person.task(projectId, asking(speech))
        last = task.id
        // Listens from the task's first position, so that nothing between the answer and joining the room is missed.
        return { taskId: task.id, position: task.position }
      },
    )
  const followUp = (speech: Speech) =>
    heardFrom(person, async () => {
      const params = { taskId: last }
      const { position } = await person.ask(sendMessage, { params, body: { message: asking(speech) } })
      return { taskId: last, position }
    })
  const preparedTurn = async (speech: Speech) => {
    const id = randomUUID()
    const before = await agentsOf(product)
    await person.ask(prepareTask, { params: { projectId }, body: { taskId: id, branch: 'main' } })
    await agentsOnce(product, (pids) => pids.some((pid) => !before.includes(pid)))
    await pause(agentReadyMs)
    return heardFrom(person, async () => {
      const description = asking(speech)
      const body = { id, projectId, branch: 'main', description }
      const { position } = await person.ask(createTask, { body })
      return { taskId: id, position }
    })
  }
  await turn({ words: 1, everyMs: 0 })
  return { modelUrl: model.baseUrl, turn, followUp, preparedTurn }
}

/** Requests a turn, and listens to it. */
async function heardFrom(
  person: Pick<Person, 'socket'>,
  ask: () => Promise<{ readonly taskId: string; readonly position: Position | undefined }>,
): Promise<Turn> {
  const live = await person.socket()
  try {
    const askedAt = performance.now()
    const { taskId, position } = await ask()
    await live.join(taskId, position)
    const end = await live.until(
      'the end of the turn',
      ({ name, payload }) =>
        name === 'task_status_changed' && ['completed', 'failed', 'cancelled'].includes(payload.status),
      turnWithinMs,
    )
    if (end.name === 'task_status_changed' && end.payload.status !== 'completed')
      throw new Error(`The turn ended as ${end.payload.status}: ${JSON.stringify(live.of('chat_message'))}`)
    return { askedAt, heard: live.heard }
  } finally {
    live.close()
  }
}
