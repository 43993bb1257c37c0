/** Commands over HTTP, their rate and their times: each is answered when it is on the disk and projected. */
import { startAnsweringKoa } from '../floors/koa.ts'
import { borneLines } from '../linesOfLoad.ts'
import { openClient, type Asked } from '../load.ts'
import type { Row } from '../row.ts'
import { openSeededProduct } from '../seededProduct.ts'

const rounds = 6
const ms = 500
const inFlight = 64

export const commandsOverHttp: Row = {
  name: 'commands',
  async measure(scene) {
    const { client, seeded } = await openSeededProduct(scene)
    let titles = 0
    const next = (number: number): Asked => ({
      method: 'PUT',
      path: `/api/tasks/${seeded.taskIds[number % seeded.taskIds.length]}`,
      // The numbers begin again in each round, and a command that changes nothing would append nothing.
      body: JSON.stringify({ title: `Make widget ${(titles += 1)} square` }),
    })
    const answer: unknown = JSON.parse(await client.ask(next(0)))
    const bare = openClient(await startAnsweringKoa(scene, { '*': answer }))
    scene.atEnd(async () => bare.close())
    return borneLines({
      name: `commands over HTTP (PUT /tasks/:id), ${inFlight} in flight`,
      floorName: 'bare Koa, JSON in and out',
      rounds,
      figure: client,
      floor: bare,
      load: { inFlight, ms, next },
    })
  },
}
