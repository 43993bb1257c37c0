/** Three runners at the same time: when one is killed or frozen in the middle of a run, another takes over. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { createPullRequest, executeTask, getTaskDiff, retryTask } from '#domain/api/tasks.schema.ts'
import { getTaskHistory } from '#domain/api/history.schema.ts'
import { forMongo } from '../../servers/sharedEngines.ts'
import { createGate } from '../../standins/messagesApi.ts'
import { changeSomething, openApartScene, readyTask, type ApartScene } from '../../server/apartScene.ts'
import { saidBy } from '../../server/countingCommand.ts'
import { eventually } from '../../server/engines.ts'
import { hasEnded, watching } from '../../server/scene.ts'

const runners = [0, 1, 2]
const held = runners.map(() => createGate())
const frozen = createGate()
const mongo = await forMongo()
let scene: ApartScene

describe.skipIf('missing' in mongo)('runners', () => {
  beforeAll(async () => {
    if ('missing' in mongo) return
    const beginning = {
      text: 'I have begun.',
      tools: [{ name: 'Bash', input: { command: 'echo printed', description: 'Print' } }],
    }
    const interrupted = [
      ...held.map((gate, n) => ({ when: new RegExp(`Be interrupted ${n}`), gate })),
      { when: /Stand still/, gate: frozen },
    ]
    scene = await openApartScene(
      mongo.server,
      [
        changeSomething,
        ...interrupted.map(({ when, gate }) => ({
          when,
          turns: [beginning, { text: 'And I go on.', hold: { afterWords: 3, gate } }],
        })),
      ],
      { runner: runners.length },
      // Who has an agent is who is busy.
      { env: { IDLE_AGENT_SECONDS: '0' } },
    )
  })
  afterAll(() => scene?.close())

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

  test('what follows in a task finds the workspace that it left, whichever runner is asked first', async () => {
    const { ada } = scene
    const { id } = await readyTask(scene)
    const params = { taskId: id }
    const live = await watching(ada, id)
    const times = [1, 2, 3, 4]
    for (const time of times) {
      await ada.ask(executeTask, {
        params,
        body: { command: 'echo again >> README.md; tail -n 1 README.md' },
      })
      await live.until('its end', () => live.of('command_completed').length === time)
    }
    const { data } = await ada.ask(getTaskDiff, { params })
    expect(data.changedFiles).toMatchObject([{ fileName: 'README.md', additions: 1 + times.length }])
    expect((await ada.ask(createPullRequest, { params })).pr).toMatchObject({ number: 1 })
    live.close()
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
      expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({
        status: 'failed',
        failure: {
          code: 'runner_lost',
          reason: expect.stringMatching(/stopped while this was running.*\.$/),
        },
      })
      held[n]?.release()
      await ada.ask(retryTask, { params })
      expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({ status: 'completed', failure: null })
      expect(await saidBy(ada, task.id)).toEqual([
        `Be interrupted ${n}`,
        'I have begun.',
        expect.stringMatching(/stopped while this was running/),
        // The agent's session was on the runner that died: the other one begins with what was said so far.
        'I have begun.',
        'And I go on.',
      ])
      await product.of.runner[victim]?.start()
      live.close()
    },
  )

  test('the work of a turn goes to another runner with its task', async () => {
    const { ada, product } = scene
    const { id } = await readyTask(scene)
    const live = await watching(ada, id)
    const owner = runners.find((index) =>
      existsSync(join(product.folderOf('runner', index), 'data', 'runner', 'tasks', id)),
    )
    await product.of.runner[owner ?? -1]?.kill9()
    await ada.ask(executeTask, { params: { taskId: id }, body: { command: 'tail -n 1 README.md' } })
    await live.until('its end', ({ name }) => name === 'command_completed', 90_000)
    const printed = live.of('command_output').map(({ output }) => output)
    expect(printed.join('')).toContain('more')
    await product.of.runner[owner ?? -1]?.start()
    live.close()
  })

  // Attacks shell: a runner that has an outdated workspace opens a shell there, or writes into the terminal of a run.
  test('a shell is where the task ran last, and the runner that had one before leaves the run there alone', async () => {
    const { ada, product } = scene
    const { id } = await readyTask(scene)
    const params = { taskId: id }
    const live = await watching(ada, id)
    const taskFolder = (index: number) =>
      join(product.folderOf('runner', index), 'data', 'runner', 'tasks', id)
    const owner = runners.find((index) => existsSync(taskFolder(index))) ?? -1
    expect(await live.openShell(id)).toMatchObject({ opened: true })
    const marker = join(taskFolder(owner), 'shell.json')
    expect(existsSync(marker)).toBe(true)
    await product.of.runner[owner]?.kill9()
    const command = 'touch begun; until [ -e go ]; do sleep 0.1; done; echo gone-on'
    await ada.ask(executeTask, { params, body: { command } })
    const begunAt = () => runners.map(taskFolder).find((folder) => existsSync(join(folder, 'tree/begun')))
    await eventually('another one runs it', () => begunAt() !== undefined, 90_000)
    await product.of.runner[owner]?.start()
    await eventually('the shell that was lost is forgotten', () => !existsSync(marker))
    await writeFile(join(begunAt() ?? '', 'tree/go'), '')
    await live.until('its end', ({ name }) => name === 'command_completed' || name === 'command_failed')
    expect(live.of('command_completed')).toMatchObject([{ exitCode: 0 }])
    const opening = await live.openShell(id)
    if (!opening.opened) throw new Error(opening.error)
    await live.type(id, opening.shellId, 'ls\r')
    await live.until('the files', ({ payload }) => JSON.stringify(payload).includes('begun'))
    const { items } = await ada.ask(getTaskHistory, { params, query: {} })
    expect(items.filter((item) => item.kind === 'event' && item.event.type === 'ShellOpened')).toHaveLength(2)
    await live.type(id, opening.shellId, 'exit\r')
    await live.until('its exit', ({ payload }) => JSON.stringify(payload).includes('The shell has exited'))
    live.close()
  })

  test('a runner that stood still and comes back is not heard any more', async () => {
    const { ada, projectId, product } = scene
    const task = await ada.task(projectId, 'Stand still')
    const live = await watching(ada, task.id)
    await frozen.reached
    await live.until('what is being said', () => textOf(live.of('chat_message_delta')).includes('And I go'))
    const sleeper = product.of.runner[await busyRunner()]
    sleeper?.freeze()
    expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({
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
})

const textOf = (pieces: readonly { readonly text: string }[]) => pieces.map(({ text }) => text).join('')
