/** How long a task with 100,000 pieces of terminal output takes to open in the way the page opens it. */
import { startAnsweringKoa } from '../floors/koa.ts'
import { openClient, type Client } from '../load.ts'
import type { Row } from '../row.ts'
import { openSeededProduct } from '../seededProduct.ts'
import { medianTimes, median } from '../statistics.ts'

const rounds = 3
const opensARound = 7

export const longTask: Row = {
  name: 'long-task',
  async measure(scene) {
    const { client, seeded } = await openSeededProduct(scene)
    const task = `/api/tasks/${seeded.longTaskId}`
    const beside = [`${task}/chat`, `${task}/commands`, `${task}/terminal`]
    const answers = new Map<string, unknown>()
    for (const path of [task, ...beside]) {
      answers.set(path, JSON.parse(await client.ask({ method: 'GET', path })))
    }
    const bare = openClient(await startAnsweringKoa(scene, Object.fromEntries(answers)))
    scene.atEnd(async () => bare.close())
    const opened = await medianTimes(rounds, {
      figure: () => timeToOpen(client, task, beside),
      floor: () => timeToOpen(bare, task, beside),
    })
    return [
      {
        name: 'task with 100,000 terminal events opens: its four reads',
        unit: 'ms',
        figure: opened.figure,
        floor: { name: 'bare Koa, the same JSON', figure: opened.floor },
      },
    ]
  },
}

/** Reads the task first and the rest in parallel, as the client does; returns the median of several times, in milliseconds. */
async function timeToOpen(client: Client, task: string, beside: readonly string[]): Promise<number> {
  const times: number[] = []
  for (let count = 0; count < opensARound; count += 1) {
    const startedAt = performance.now()
    await client.ask({ method: 'GET', path: task })
    await Promise.all(beside.map((path) => client.ask({ method: 'GET', path })))
    times.push(performance.now() - startedAt)
  }
  return median(times)
}
