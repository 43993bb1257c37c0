/** From the request that creates a task to the agent's first text, with a warm mirror of the repository. */
import type { Heard } from '../../product/live.ts'
import { openAgentScene, type Turn } from '../agentScene.ts'
import { bareTurn } from '../floors/bareClaude.ts'
import type { Row } from '../row.ts'
import { asking } from '../stampingModel.ts'
import { median } from '../statistics.ts'

const turns = 9
const speech = { words: 3, everyMs: 0 }

export const firstLine: Row = {
  name: 'first-line',
  async measure(scene) {
    const { modelUrl, turn, preparedTurn } = await openAgentScene(scene)
    const lines: number[] = []
    const words: number[] = []
    const prepared: number[] = []
    const bareLines: number[] = []
    const bareWords: number[] = []
    for (let count = 0; count < turns; count += 1) {
      const bare = await bareTurn(scene, modelUrl, asking(speech))
      bareLines.push(bare.firstLineAt - bare.startedAt)
      bareWords.push(bare.firstWordAt - bare.startedAt)
      const ours = await turn(speech)
      lines.push(firstAt(ours, agentSpoke) - ours.askedAt)
      words.push(firstAt(ours, wordCame) - ours.askedAt)
      const ahead = await preparedTurn(speech)
      prepared.push(firstAt(ahead, wordCame) - ahead.askedAt)
    }
    return [
      {
        name: "POST /tasks to the agent's first line at the socket",
        unit: 'ms',
        figure: median(lines),
        floor: { name: 'bare CLI, start to first line', figure: median(bareLines) },
      },
      {
        name: "POST /tasks to the agent's first word at the socket",
        unit: 'ms',
        figure: median(words),
        floor: { name: 'bare CLI, start to first word', figure: median(bareWords) },
      },
      {
        name: "POST /tasks to the agent's first word at the socket, all made ready before",
        unit: 'ms',
        figure: median(prepared),
        floor: { name: 'bare CLI, start to first word', figure: median(bareWords) },
      },
    ]
  },
}

/** This event is recorded when the CLI has printed its first line, and not before. */
const agentSpoke = (event: Heard) => event.name === 'task_event' && event.payload.type === 'AgentStarted'
export const wordCame = ({ name }: Heard) => name === 'chat_message_words' || name === 'chat_message_delta'

/** When the first event of this kind was received. */
export function firstAt({ heard }: Turn, like: (event: Heard) => boolean): number {
  const first = heard.find(like)
  if (!first) throw new Error('The agent was not heard.')
  return first.at
}
