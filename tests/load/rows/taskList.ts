/** Reads of the list of tasks, their rate and their times: of a page, and of the whole list. */
import { startAnsweringKoa } from '../floors/koa.ts'
import { borneLines } from '../linesOfLoad.ts'
import { openClient, type Asked } from '../load.ts'
import type { Line, Row } from '../row.ts'
import { openSeededProduct } from '../seededProduct.ts'

const rounds = 6
const ms = 500
const lists = [
  { limit: 50, inFlight: 16 },
  { limit: 1_000, inFlight: 4 },
]

export const taskList: Row = {
  name: 'reads',
  async measure(scene) {
    const { client } = await openSeededProduct(scene)
    const lines: Line[] = []
    for (const { limit, inFlight } of lists) {
      const list: Asked = { method: 'GET', path: `/api/tasks?limit=${limit}` }
      const answer = await client.ask(list)
      const bare = openClient(await startAnsweringKoa(scene, { '*': JSON.parse(answer) }))
      scene.atEnd(async () => bare.close())
      const kilobytes = Math.round(Buffer.byteLength(answer) / 1_000)
      const found = await borneLines({
        name: `GET /tasks, ${limit} of 1,000 (${kilobytes} kB), ${inFlight} in flight`,
        floorName: 'bare Koa, the same JSON',
        rounds,
        figure: client,
        floor: bare,
        load: { inFlight, ms, next: () => list },
      })
      lines.push(...found)
    }
    return lines
  },
}
