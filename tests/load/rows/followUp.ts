/** From a message to the first word of its answer, both when the agent of the last turn still runs, and when it has to be started again. */
import { randomUUID } from 'node:crypto'
import { openAgentScene } from '../agentScene.ts'
import { bareHome, bareTurns, type BareTurn } from '../floors/bareClaude.ts'
import type { Row } from '../row.ts'
import { asking } from '../stampingModel.ts'
import { median } from '../statistics.ts'
import { firstAt, wordCame } from './firstLine.ts'

const turns = 7
const speech = { words: 3, everyMs: 0 }
const message = asking(speech)

export const followUp: Row = {
  name: 'follow-up',
  async measure(scene) {
    const warm = await openAgentScene(scene)
    const cold = await openAgentScene(scene, { IDLE_AGENT_SECONDS: '0' })
    const home = await bareHome(scene)
    const id = randomUUID()
    const bare = { modelUrl: warm.modelUrl, home }
    const kept = await bareTurns(scene, {
      ...bare,
      session: { kind: 'new', id },
      messages: Array.from({ length: turns + 1 }, () => message),
    })
    const figures = { warm: [] as number[], cold: [] as number[], resumed: [] as number[] }
    for (let count = 0; count < turns; count += 1) {
      const [resumed] = await bareTurns(scene, {
        ...bare,
        session: { kind: 'resume', id },
        messages: [message],
      })
      if (resumed) figures.resumed.push(firstWordMs(resumed))
      for (const [name, { followUp: ask }] of [
        ['warm', warm],
        ['cold', cold],
      ] as const) {
        const turn = await ask(speech)
        figures[name].push(firstAt(turn, wordCame) - turn.askedAt)
      }
    }
    return [
      {
        name: 'message to first word at the socket, agent waiting',
        unit: 'ms',
        figure: median(figures.warm),
        floor: {
          name: 'bare CLI kept open, message to first word',
          figure: median(kept.slice(1).map(firstWordMs)),
        },
      },
      {
        name: 'message to first word at the socket, agent started again',
        unit: 'ms',
        figure: median(figures.cold),
        floor: { name: 'bare CLI, resumed', figure: median(figures.resumed) },
      },
    ]
  },
}

const firstWordMs = ({ startedAt, firstWordAt }: BareTurn): number => firstWordAt - startedAt
