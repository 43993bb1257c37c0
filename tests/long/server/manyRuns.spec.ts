/**
 * Two hundred runs, twenty at a time, while the processes that run them are killed at random: each run is recorded with its true end, and nothing is
 * left behind.
 */
import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { createTask, getTask, type Task } from '#domain/api/tasks.schema.ts'
import type { AnyProduct } from '../../product.ts'
import type { Person } from '../../product/person.ts'
import type { MongoServer } from '../../servers/mongodb.ts'
import { forMongo } from '../../servers/sharedEngines.ts'
import type { Script } from '../../standins/messagesApi.ts'
import { agentsOnce } from '../../server/agentProcesses.ts'
import { openApartScene } from '../../server/apartScene.ts'
import { counted, counting, linesOf, saidBy } from '../../server/countingCommand.ts'
import { eventually } from '../../server/engines.ts'
import { hasEnded, openScene } from '../../server/scene.ts'

const runs = 200
const atOnce = 20
const kills = 6
/** What the chat says of a run that was lost, by the code of its failure. */
const lostChat = {
  runner_lost: expect.arrayContaining([expect.stringMatching(/stopped while this was running/)]),
  engine_unavailable: expect.arrayContaining([expect.stringMatching(/did not respond in time/)]),
}
type Loss = keyof typeof lostChat

const script: Script = {
  when: /Count to thirty/,
  turns: [
    { tools: [{ name: 'Bash', input: { command: counting(0.02), description: 'Count' } }] },
    { text: 'Counted.' },
  ],
}
const env = { TASKS_AT_ONCE: String(runs), REQUESTS_PER_MINUTE: '0', IDLE_AGENT_SECONDS: '2' }

interface Killable {
  readonly ada: Person
  readonly projectId: string
  readonly product: AnyProduct
  /** Kills one of those that run agents, without a word, and starts it again. */
  killOne(): Promise<void>
  /** How a run may be lost. */
  readonly losses: readonly Loss[]
  /** Where all of its processes keep anything. */
  readonly folders: readonly string[]
  close(): Promise<void>
}

async function inOneProcess(): Promise<Killable> {
  const scene = await openScene([script], { env: { ...env, RUNS_AT_ONCE: String(atOnce) } })
  const { product } = scene
  return {
    ...scene,
    async killOne() {
      await product.kill9()
      await product.restart()
    },
    losses: ['runner_lost'],
    folders: [join(product.dataDir, '..')],
    close: () => scene.close(),
  }
}

const runners = 3
async function byRunnersApart(server: MongoServer): Promise<Killable> {
  const runsAtOnce = String(Math.ceil(atOnce / runners))
  const scene = await openApartScene(
    server,
    [script],
    { runner: runners },
    { env: { ...env, RUNS_AT_ONCE: runsAtOnce } },
  )
  const { product } = scene
  return {
    ...scene,
    async killOne() {
      const victim = product.of.runner[Math.floor(Math.random() * runners)]
      await victim?.kill9()
      await victim?.start()
    },
    // What stands for the shared engines may be slow for twenty at once beside other tests.
    losses: ['runner_lost', 'engine_unavailable'],
    folders: Array.from({ length: runners }, (_, index) => product.folderOf('runner', index)),
    close: () => scene.close(),
  }
}

/** What is asked again and again while the product is away. */
async function answered<T>(what: string, ask: () => Promise<T>): Promise<T> {
  let answer: { readonly value: T } | undefined
  await eventually(
    what,
    async () => {
      answer = await ask().then(
        (value) => ({ value }),
        () => undefined,
      )
      return answer !== undefined
    },
    120_000,
  )
  if (answer === undefined) throw new Error(`No answer: ${what}`)
  return answer.value
}

const mongo = await forMongo()
const ways: readonly (readonly [string, (() => Promise<Killable>) | undefined])[] = [
  ['in one process with everything else', inOneProcess],
  [`by ${runners} runners apart`, 'missing' in mongo ? undefined : () => byRunnersApart(mongo.server)],
]
for (const [way, open] of ways)
  describe.skipIf(!open)(`${runs} runs ${way}`, () => {
    let scene: Killable
    beforeAll(async () => {
      if (open) scene = await open()
    })
    afterAll(() => scene?.close())

    test('end as they really ended, whatever becomes of the runner', { timeout: 1_500_000 }, async () => {
      const { ada, projectId, product, killOne, losses, folders } = scene
      let made = 0
      let over = 0
      const ids: string[] = []
      const taskOf = (id: string) =>
        answered('the task is shown', async () => (await ada.ask(getTask, { params: { taskId: id } })).task)
      const worker = async () => {
        while (made < runs) {
          made += 1
          const body = { id: randomUUID(), projectId, branch: 'main', description: 'Count to thirty' }
          // A task that was made although its answer was lost is there already.
          await answered('the task is made', () =>
            ada.ask(createTask, { body }).catch(() => ada.ask(getTask, { params: { taskId: body.id } })),
          )
          let task: Task
          do {
            await new Promise((resolve) => setTimeout(resolve, 200))
            task = await taskOf(body.id)
          } while (!hasEnded(task))
          ids.push(body.id)
          over += 1
        }
      }
      const killing = async () => {
        for (let kill = 1; kill <= kills; kill += 1) {
          const due = (runs * kill) / (kills + 2) + Math.random() * 5
          await eventually(`${due} are over`, () => over >= due, 600_000)
          await killOne()
        }
      }
      await Promise.all([killing(), ...Array.from({ length: atOnce }, worker)])

      const count = { completed: 0, lost: 0 }
      for (const id of ids) {
        const task = await taskOf(id)
        const { output } = await ada.ask(getTerminal, { params: { taskId: id }, query: { limit: '5000' } })
        const lines = linesOf(output)
        const said = await saidBy(ada, id)
        const isWhole = task.status === 'completed'
        count[isWhole ? 'completed' : 'lost'] += 1
        const loss = losses.find((code) => code === task.failure?.code)
        // What was told of one that was lost is its beginning, once.
        expect({ said, lines, code: task.failure?.code }).toEqual(
          isWhole
            ? { said: ['Count to thirty', 'Counted.'], lines: counted, code: undefined }
            : {
                said: lostChat[loss ?? 'runner_lost'],
                lines: counted.slice(0, lines.length),
                code: loss ?? losses,
              },
        )
      }
      process.stdout.write(`Of ${runs} runs ${count.completed} were completed and ${count.lost} lost.\n`)
      expect(count.completed + count.lost).toBe(runs)
      expect(count.lost).toBeGreaterThan(0)

      await agentsOnce(product, (pids) => pids.length === 0)
      // The sockets of an agent go after it.
      await expect.poll(() => leftIn(folders)).toEqual([])
    })
  })

/** Locks, sockets and half-made things. */
async function leftIn(folders: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(folders.map((folder) => readdir(folder, { recursive: true })))
  return found
    .flat()
    .filter((path) =>
      /\.lock$|\.sock$|^\.half-made|^scratch-|^tmp_|^flightdeck-[0-9a-f]{10}-/.test(basename(path)),
    )
}
