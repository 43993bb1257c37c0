/** Whether the amount of stored data matters: the same reads and commands with a million tasks and with a thousand, in turn. */
import { join } from 'node:path'
import { startProduct } from '../../product.ts'
import { openClient, type Asked, type Client } from '../load.ts'
import { makeCrowd, type Crowd } from '../million.ts'
import type { Line, Row, Scene } from '../row.ts'
import { withoutLimits } from '../seededProduct.ts'
import { alternating, median, percentile } from '../statistics.ts'

const amounts = { tasks: 1_000_000, ofBusy: 100_000, people: 1_000 }
const rounds = 9
/** How long a round lasts: long enough that a single pause of the process is less than a twentieth of it. */
const ms = 3_000
const warmRounds = 3

interface Asker {
  readonly client: Client
  readonly taskIds: readonly string[]
}

interface Kind {
  readonly name: string
  readonly inFlight: number
  next(asker: Asker, number: number): Asked
}

const kinds: readonly Kind[] = [
  {
    name: 'PUT /tasks/:id',
    inFlight: 64,
    next: ({ taskIds }, number) => ({
      method: 'PUT',
      path: `/api/tasks/${taskIds[number % taskIds.length]}`,
      body: JSON.stringify({ title: `Make widget ${number} square` }),
    }),
  },
  {
    name: 'GET /tasks',
    inFlight: 16,
    next: () => ({ method: 'GET', path: '/api/tasks?limit=50' }),
  },
]

export const million: Row = {
  name: 'million',
  onlyByName: true,
  withinMs: 2_400_000,
  remark:
    'Of the 1,000,000 tasks 2,000 were made through the product and are what is asked for; 998,000 are copies of their rows, made in SQLite, with ids, owners and places in the log of their own, which are stored and never opened. They belong to 1,000 people.',
  measure: async (scene) => compareCrowd(scene, await makeCrowd(join(scene.folder, 'crowd'), amounts)),
}

/** The lines for a crowd that exists already. */
export async function compareCrowd(scene: Scene, { small, large, busy }: Crowd): Promise<readonly Line[]> {
  const few: Asker = { client: await clientOf(scene, small.dataDir, small.token), taskIds: small.taskIds }
  const one = await clientOf(scene, large.dataDir, large.token)
  const many = openClient(one.base, busy.token)
  scene.atEnd(async () => many.close())
  const lines: Line[] = []
  for (const kind of kinds)
    for (const [who, asker] of [
      ['1,000', { client: one, taskIds: large.taskIds }],
      ['100,000', { client: many, taskIds: busy.taskIds }],
    ] as const)
      lines.push(await compared(kind, who, asker, few))
  return lines
}

async function clientOf(scene: Scene, dataDir: string, token: string) {
  const product = await startProduct({ dataDir, env: withoutLimits })
  scene.atEnd(() => product.stop())
  const client = openClient(product.base, token)
  scene.atEnd(async () => client.close())
  return { ...client, base: product.base }
}

/** The median of the rounds' 95th percentiles: other work on the machine during a round only affects that round. */
async function compared(kind: Kind, who: string, asker: Asker, few: Asker): Promise<Line> {
  const round = async (asker: Asker) => {
    const next = (number: number) => kind.next(asker, number)
    const { times } = await asker.client.under({ inFlight: kind.inFlight, ms, next })
    return percentile(times, 0.95)
  }
  for (let warm = 0; warm < warmRounds; warm += 1) {
    await round(few)
    await round(asker)
  }
  const { figures, floors } = await alternating(rounds, {
    figure: () => round(asker),
    floor: () => round(few),
  })
  return {
    name: `${kind.name}, ${kind.inFlight} in flight, p95: ${who} own of 1,000,000`,
    unit: 'ms',
    figure: median(figures),
    floor: { name: '1,000 own, no others stored', figure: median(floors) },
  }
}
