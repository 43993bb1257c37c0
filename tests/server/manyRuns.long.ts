/** Two hundred runs, twenty at a time, over three runners that are killed at random: each ends as it really ended, and nothing is left. */
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getTerminal } from '#domain/api/chat.ts'
import { getTask, type Task } from '#domain/api/tasks.ts'
import { forMongo } from '../servers/sharedEngines.ts'
import { openApartScene, type ApartScene } from './apartScene.ts'
import { counted, counting, linesOf, saidBy } from './counting.ts'
import { eventually } from './engines.ts'
import { hasEnded } from './scene.ts'

const runs = 200
const atOnce = 20
const kills = 12
const runners = [0, 1, 2]
const mongo = await forMongo()
let scene: ApartScene

describe.skipIf('missing' in mongo)('two hundred runs', () => {
  beforeAll(async () => {
    if ('missing' in mongo) return
    scene = await openApartScene(
      mongo.server,
      [
        {
          when: /Count to thirty/,
          turns: [
            { tools: [{ name: 'Bash', input: { command: counting(0.02), description: 'Count' } }] },
            { text: 'Counted.' },
          ],
        },
      ],
      { runner: runners.length },
      { env: { TASKS_AT_ONCE: String(runs), REQUESTS_PER_MINUTE: '0', IDLE_AGENT_SECONDS: '2' } },
    )
  })
  afterAll(() => scene?.close())

  test('end as they really ended, whatever becomes of their runners', { timeout: 1_200_000 }, async () => {
    const { ada, projectId, product } = scene
    let made = 0
    let over = 0
    const ended: Task[] = []
    const worker = async () => {
      while (made < runs) {
        made += 1
        const { id } = await ada.task(projectId, 'Count to thirty')
        ended.push(await ada.taskOnce(id, hasEnded, 300_000))
        over += 1
      }
    }
    const killing = async () => {
      for (let kill = 1; kill <= kills; kill += 1) {
        const due = (runs * kill) / (kills + 2)
        await eventually(`${due} are over`, () => over >= due, 600_000)
        const victim = product.of.runner[Math.floor(Math.random() * runners.length)]
        await victim?.kill9()
        await victim?.start()
      }
    }
    await Promise.all([killing(), ...Array.from({ length: atOnce }, worker)])

    const count = { completed: 0, lost: 0 }
    for (const { id } of ended) {
      const { task } = await ada.ask(getTask, { params: { taskId: id } })
      const { output } = await ada.ask(getTerminal, { params: { taskId: id }, query: { limit: '5000' } })
      const lines = linesOf(output)
      const said = await saidBy(ada, id)
      if (task.status === 'completed') {
        count.completed += 1
        expect(lines).toEqual(counted)
        expect(said).toEqual(['Count to thirty', 'Counted.'])
      } else {
        count.lost += 1
        expect(task).toMatchObject({ status: 'failed', failure: { code: 'runner_lost' } })
        // What was told of it is its beginning, once.
        expect(lines).toEqual(counted.slice(0, lines.length))
      }
    }
    expect(count.completed + count.lost).toBe(runs)
    expect(count.lost).toBeGreaterThan(0)
    process.stdout.write(
      `Of ${runs} runs ${count.completed} were completed, ${count.lost} lost with their runner.\n`,
    )

    await eventually('no agent is left', async () => (await boxes()).length === 0, 30_000)
    expect(await left()).toEqual([])
  })

  async function boxes(): Promise<readonly string[]> {
    const found = await scene.product.processes()
    return found.flatMap(({ command }) => (/bwrap|\/opt\/agent/.test(command) ? [command] : []))
  }

  /** Locks, sockets and half-made things in the folders of the runners. */
  async function left(): Promise<readonly string[]> {
    const folders = await Promise.all(
      runners.map((index) => readdir(scene.product.folderOf('runner', index), { recursive: true })),
    )
    const isLeft = (path: string) =>
      /\.lock$|\.sock$|^\.half-made|^scratch-|^tmp_|^flightdeck-/.test(basename(path)) &&
      !path.startsWith(join('data', 'lock'))
    return folders.flat().filter(isLeft)
  }
})
