/** Services in processes of their own, several of each, on shared engines: the main job, and kill -9 of any process in the middle of it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getChat, getTerminal, sendMessage } from '#domain/api/chat.ts'
import {
  createPullRequest,
  createTask,
  executeTask,
  getTask,
  getTaskDiff,
  retryTask,
} from '#domain/api/tasks.ts'
import type { Task } from '#domain/api/tasks.ts'
import type { ServiceApart } from '../product/apart.ts'
import type { Live } from '../product/live.ts'
import { addressOf, type Person } from '../product/person.ts'
import { forMongo } from '../servers/sharedEngines.ts'
import { createGate } from '../standins/messagesApi.ts'
import { openApartScene, type ApartScene } from './apartScene.ts'
import { eventually } from './engines.ts'
import { hasEnded, watching } from './scene.ts'

const mongo = await forMongo()
const runners = [0, 1, 2]
const held = runners.map(() => createGate())
const frozen = createGate()
const lines = 30
/** Prints a line each 100 ms. */
const counting = `for n in $(seq ${lines}); do echo "line $n"; sleep 0.1; done`
const counted = Array.from({ length: lines }, (_, n) => `line ${n + 1}`)

let scene: ApartScene

describe.skipIf('missing' in mongo)('services apart', () => {
  beforeAll(async () => {
    if ('missing' in mongo) return
    const beginning = {
      text: 'I have begun.',
      tools: [{ name: 'Bash', input: { command: 'echo printed', description: 'Print' } }],
    }
    scene = await openApartScene(
      mongo.server,
      [
        {
          when: /Change something/,
          turns: [
            { tools: [{ name: 'Bash', input: { command: 'echo more >> README.md', description: 'Add' } }] },
            { text: 'Changed.' },
          ],
        },
        ...held.map((gate, n) => ({
          when: new RegExp(`Be interrupted ${n}`),
          turns: [beginning, { text: 'And I go on.', hold: { afterWords: 3, gate } }],
        })),
        {
          when: /Stand still/,
          turns: [beginning, { text: 'And I go on.', hold: { afterWords: 3, gate: frozen } }],
        },
      ],
      { gateway: 2, query: 2, command: 2, runner: runners.length },
    )
  })
  afterAll(() => scene?.close())

  /** A task that has done what it was made for, and may be asked for more. */
  async function readyTask(): Promise<Task> {
    const { ada, projectId } = scene
    const { id } = await ada.task(projectId, 'Change something')
    return ada.taskOnce(id, hasEnded)
  }

  /** Waits until what was written is shown, as a client does that was told that reads lag behind. */
  async function shown(person: Person, taskId: string): Promise<void> {
    const params = { taskId }
    await eventually('the task is shown', async () => {
      const { status } = await person.api('GET', addressOf(getTask, params))
      return status === 200
    })
  }

  /** The runner that runs an agent now. */
  async function busyRunner(): Promise<number> {
    let found = -1
    await eventually('a runner runs an agent', async () => {
      for (const index of runners) {
        const processes = await scene.product.processesOf('runner', index)
        if (processes.some(({ command }) => command.includes('bwrap'))) found = index
      }
      return found >= 0
    })
    return found
  }

  test('do the main job', async () => {
    const { ada } = scene
    const task = await readyTask()
    const params = { taskId: task.id }
    expect(task).toMatchObject({ status: 'completed' })
    expect(
      (await scene.adaAt(1).ask(getTask, { params, query: { minPosition: task.position } })).task,
    ).toEqual(task)
    const { data } = await ada.ask(getTaskDiff, { params })
    expect(data).toMatchObject({ exists: true, baseBranch: 'main', totalChanges: 1 })
    // Another branch is asked of the runner that has the workspace.
    const other = await ada.ask(getTaskDiff, { params, query: { baseBranch: 'release' } })
    expect(other.data).toEqual({ ...data, baseBranch: 'release' })
    expect(await ada.refused(getTaskDiff, { params, query: { baseBranch: 'nowhere' } })).toMatchObject({
      status: 409,
      code: 'base_not_recorded',
      error: 'The repository has no branch nowhere. The changes are recorded against main.',
    })
    const { pr } = await ada.ask(createPullRequest, { params })
    expect((await ada.ask(getTask, { params })).task).toMatchObject({ prNumber: pr.number })
  })

  test.each<ServiceApart>(['command', 'query', 'gateway'])(
    'kill -9 of a %s process, and its restart: what was printed is there once, and viewers have it all',
    async (service) => {
      const { ada, adaAt, product } = scene
      const task = await readyTask()
      const params = { taskId: task.id }
      const tabs: [Live, Live] = [await watching(ada, task.id), await watching(adaAt(1), task.id)]
      await ada.ask(executeTask, { params, body: { command: counting } })
      await tabs[1].until('some lines', () => printedBy(tabs[1]).length > 5)

      const [victim] = product.of[service]
      await victim?.kill9()
      await victim?.start()
      await tabs[1].until('the end', ({ name }) => name === 'command_completed')

      const { output } = await ada.ask(getTerminal, { params })
      expect(linesOf(output)).toEqual(counted)
      expect(printedBy(tabs[1])).toEqual(counted)
      const last = tabs[0].of('command_output').at(-1)
      if (service === 'gateway') {
        const again = await ada.socket()
        await again.join(task.id, last?.position)
        await again.until('the end', ({ name }) => name === 'command_completed')
        expect([...printedBy(tabs[0]), ...printedBy(again)]).toEqual(counted)
        again.close()
      } else {
        expect(printedBy(tabs[0])).toEqual(counted)
      }
      expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({ status: 'completed' })
      for (const tab of tabs) tab.close()
    },
  )

  test.each([0, 1])('without query process %i the other one projects', async (index) => {
    const { adaAt, projectId, product } = scene
    const victim = product.of.query[index]
    const other = adaAt(1 - index)
    await victim?.kill9()
    const { id } = await other.task(projectId, 'Anything')
    await shown(other, id)
    expect(await other.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
    await victim?.start()
    expect(await adaAt(index).taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
  })

  test.each([0, 1])('without command process %i the other one hands out the work', async (index) => {
    const { adaAt, projectId, product } = scene
    const victim = product.of.command[index]
    const other = adaAt(1 - index)
    await victim?.kill9()
    const { id } = await other.task(projectId, 'Anything')
    expect(await other.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
    await victim?.start()
  })

  test.each(runners)(
    'kill -9 of a runner with a task: it ends with the reason, and another one goes on (%i)',
    async (n) => {
      const { ada, projectId, product } = scene
      const task = await ada.task(projectId, `Be interrupted ${n}`)
      const params = { taskId: task.id }
      const live = await watching(ada, task.id)
      await held[n]?.reached
      await live.until('what is being said', () => textOf(live.of('chat_message_delta')).includes('And I go'))
      const victim = await busyRunner()
      await product.of.runner[victim]?.kill9()
      await eventually(
        'nothing of it is left',
        async () => (await product.processesOf('runner', victim)).length === 0,
      )
      expect(await ada.taskOnce(task.id, hasEnded, 15_000)).toMatchObject({
        status: 'failed',
        failure: { code: 'runner_lost', reason: expect.stringMatching(/stopped while this ran.*\.$/) },
      })
      held[n]?.release()
      await ada.ask(retryTask, { params })
      expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({ status: 'completed', failure: null })
      expect(await saidBy(ada, task.id)).toEqual([
        `Be interrupted ${n}`,
        'I have begun.',
        expect.stringMatching(/stopped while this ran/),
        // The agent's session was on the runner that died: the other one begins with what was said so far.
        'I have begun.',
        'And I go on.',
      ])
      await product.of.runner[victim]?.start()
      live.close()
    },
  )

  test('a runner that stood still and comes back is not heard any more', async () => {
    const { ada, projectId, product } = scene
    const task = await ada.task(projectId, 'Stand still')
    const live = await watching(ada, task.id)
    await frozen.reached
    await live.until('what is being said', () => textOf(live.of('chat_message_delta')).includes('And I go'))
    const sleeper = product.of.runner[await busyRunner()]
    sleeper?.freeze()
    expect(await ada.taskOnce(task.id, hasEnded, 15_000)).toMatchObject({
      status: 'failed',
      failure: { code: 'runner_lost' },
    })
    const before = await ada.ask(getTerminal, { params: { taskId: task.id } })
    const said = await saidBy(ada, task.id)
    sleeper?.thaw()
    frozen.release()
    await eventually('its agent is gone', async () => {
      const left = await product.processes()
      return !left.some(({ command }) => command.includes('bwrap'))
    })
    expect(await ada.ask(getTerminal, { params: { taskId: task.id } })).toEqual(before)
    expect(await saidBy(ada, task.id)).toEqual(said)
    live.close()
  })

  test('what is accepted while a process is away is done once, however often it is sent', async () => {
    const { ada, adaAt, product, projectId } = scene
    const body = { description: 'Sent again and again', projectId, branch: 'main' } as const
    const headers = { 'idempotency-key': 'a-key-of-this-test' }
    const { task } = await ada.ask(createTask, { body, headers })
    for (const service of ['command', 'query', 'gateway'] as const) {
      await product.of[service][0]?.kill9()
      expect((await adaAt(1).ask(createTask, { body, headers })).task.id).toBe(task.id)
      await product.of[service][0]?.start()
    }
    await ada.taskOnce(task.id, hasEnded)
    expect(await saidBy(ada, task.id)).toEqual(['Sent again and again', 'Done.'])
  })

  test('NATS away for 10 s in the middle of a run: output and status are whole afterwards', async () => {
    const { engines } = scene
    await outage(
      () => engines.nats.stop(),
      () => engines.nats.start(),
      async ({ ada, params }) => {
        // Accepted all the same: it is in the log, and the work follows.
        await ada.ask(sendMessage, { params, body: { message: 'Say more' } })
      },
    )
  })

  test('EventStoreDB away for 10 s in the middle of a run, as well', async () => {
    const { engines } = scene
    await outage(
      async () => engines.eventStore.kill(),
      () => engines.eventStore.restart(),
      refusedFor,
    )
  })

  test('MongoDB away for 10 s in the middle of a run, as well', async () => {
    const { engines } = scene
    await outage(
      () => engines.mongo.shut(),
      () => engines.mongo.open(),
      refusedFor,
    )
  })

  interface During {
    readonly ada: Person
    readonly params: { readonly taskId: string }
  }

  /** A write is refused with a sentence, and done when it is sent again. */
  async function refusedFor({ ada, params }: During): Promise<void> {
    const refused = await ada.refused(sendMessage, { params, body: { message: 'Say it now' } })
    expect(refused).toMatchObject({ status: 503, code: 'engine_unavailable' })
  }

  async function outage(
    begin: () => Promise<void>,
    end: () => Promise<void>,
    during: (during: During) => Promise<void>,
  ): Promise<void> {
    const { ada, adaAt } = scene
    const { id } = await readyTask()
    const params = { taskId: id }
    const tabs = [await watching(ada, id), await watching(adaAt(1), id)]
    const command = counting.replace('0.1', '0.4')
    await ada.ask(executeTask, { params, body: { command } })
    for (const tab of tabs) await tab.until('some lines', () => printedBy(tab).length > 5)
    await begin()
    const gone = performance.now()
    await during({ ada, params })
    await new Promise((resolve) => {
      setTimeout(resolve, 10_000 - (performance.now() - gone))
    })
    await end()
    await eventually(
      'all engines are there again',
      async () => (await fetch(`${scene.product.at.runner[0]}/readyz`)).ok,
      15_000,
    )
    for (const tab of tabs) await tab.until('the end', ({ name }) => name === 'command_completed')
    await ada.ask(sendMessage, { params, body: { message: 'Say it' } })
    await eventually(
      'all is answered',
      async () => (await saidBy(ada, id)).slice(-2).join() === 'Say it,Done.',
      20_000,
    )
    expect(await ada.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed', failure: null })
    expect(linesOf((await ada.ask(getTerminal, { params })).output).slice(0, lines)).toEqual(counted)
    for (const tab of tabs) {
      expect(printedBy(tab)).toEqual(counted)
      tab.close()
    }
  }
})

const textOf = (pieces: readonly { readonly text: string }[]) => pieces.map(({ text }) => text).join('')

/** The counted lines among what was printed. */
function linesOf(output: readonly { readonly content: string }[]): readonly string[] {
  const text = output.map(({ content }) => content).join('')
  return text.split('\n').filter((line) => /^line \d+$/.test(line))
}

const printedBy = (live: Live) =>
  linesOf(live.of('command_output').map(({ output }) => ({ content: output })))

async function saidBy(person: Person, taskId: string): Promise<readonly (string | null)[]> {
  const { messages } = await person.ask(getChat, { params: { taskId } })
  return messages.map(({ message }) => message)
}
