/** The lines about a load: the rate of the best round, and the times of all rounds together. */
import type { Borne, Client } from './load.ts'
import type { Line } from './row.ts'
import { alternating, percentile } from './statistics.ts'

export interface Loads {
  readonly name: string
  readonly floorName: string
  readonly rounds: number
  readonly figure: Client
  readonly floor: Client
  readonly load: Parameters<Client['under']>[0]
}

/** Puts the load on the product and on its floor, in turn. */
export async function borneLines({ name, floorName, rounds, figure, floor, load }: Loads): Promise<Line[]> {
  const { figures, floors } = await alternating(rounds, {
    figure: () => figure.under(load),
    floor: () => floor.under(load),
  })
  const best = (borne: readonly Borne[]) => Math.max(...borne.map(({ rate }) => rate))
  const timeOf = (borne: readonly Borne[], p: number) =>
    percentile(
      borne.flatMap(({ times }) => times),
      p,
    )
  const times = [50, 95, 99].map((p): Line => ({
    name: `${name}, p${p}`,
    unit: 'ms',
    figure: timeOf(figures, p / 100),
    floor: { name: floorName, figure: timeOf(floors, p / 100) },
  }))
  return [
    { name, unit: 'a second', figure: best(figures), floor: { name: floorName, figure: best(floors) } },
    ...times,
  ]
}
