/** How long a word, or the whole message, takes from the model that says it, through the agent, to a client's socket. */
import { openAgentScene, type Turn } from '../agentScene.ts'
import { bareTurn } from '../floors/bareClaude.ts'
import type { Line, Row } from '../row.ts'
import { asking, stampsIn, type Speech } from '../stampingModel.ts'
import { percentile } from '../statistics.ts'

/** Speeches at the speed of a model, and slow enough that each word is sent alone. */
const speeches: readonly Speech[] = [
  { words: 300, everyMs: 20 },
  { words: 60, everyMs: 100 },
]

/** Messages that are long enough to be recorded in pieces. */
const steps: Speech = { words: 10, everyMs: 20, messages: 40 }

export const outputLatency: Row = {
  name: 'latency',
  async measure(scene) {
    const { modelUrl, turn } = await openAgentScene(scene)
    const lines: Line[] = []
    for (const speech of speeches) {
      const { texts } = await bareTurn(scene, modelUrl, asking(speech))
      const floors = latencies(texts)
      const figures = latencies(deltasOf(await turn(speech)))
      lines.push(...linesOf(`a word every ${speech.everyMs} ms`, figures, floors))
      const plain = latencies(growthOf(await turn(speech, false)))
      lines.push(...linesOf(`a word every ${speech.everyMs} ms, by chat_message alone`, plain, floors))
    }
    const { messages } = await bareTurn(scene, modelUrl, asking(steps))
    const whole = agesOf(completeMessagesOf(await turn(steps)))
    lines.push(...linesOf('a finished message, from its last word', whole, agesOf(messages)))
    return lines
  },
}

function linesOf(what: string, figures: readonly number[], floors: readonly number[]): readonly Line[] {
  const shares = [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const
  return shares.map(([name, p]) => ({
    name: `model to socket, ${what}, ${name} of ${figures.length}`,
    unit: 'ms',
    figure: percentile(figures, p),
    floor: { name: `bare CLI's standard output, ${name}`, figure: percentile(floors, p) },
  }))
}

interface Piece {
  readonly at: number
  readonly text: string
}

/** What a viewer has of the messages, each time that more arrives. */
function deltasOf({ heard }: Turn): readonly Piece[] {
  const lengths = new Map<string, number>()
  return heard.flatMap((event) => {
    if (event.name !== 'chat_message_words' && event.name !== 'chat_message_delta') return []
    const { messageId, offset, text } = event.payload
    const known = lengths.get(messageId) ?? 0
    const fresh = offset <= known ? text.slice(known - offset) : ''
    lengths.set(messageId, known + fresh.length)
    return fresh === '' ? [] : [{ at: event.at, text: fresh }]
  })
}

/** What a viewer without knowledge of words has of the messages, each time that more arrives. */
function growthOf({ heard }: Turn): readonly Piece[] {
  const known = new Map<string, string>()
  return heard.flatMap((event) => {
    if (event.name !== 'chat_message' || event.payload.messageType !== 'response') return []
    const { id, message } = event.payload
    const fresh = (message ?? '').slice((known.get(id) ?? '').length)
    known.set(id, message ?? '')
    return fresh === '' ? [] : [{ at: event.at, text: fresh }]
  })
}

function completeMessagesOf({ heard }: Turn): readonly Piece[] {
  return heard.flatMap((event) =>
    event.name === 'chat_message' && event.payload.messageType === 'response'
      ? [{ at: event.at, text: event.payload.message ?? '' }]
      : [],
  )
}

/** How long after its last word each message arrived. */
function agesOf(messages: readonly Piece[]): readonly number[] {
  return messages.flatMap(({ at, text }) =>
    stampsIn(text)
      .slice(-1)
      .map((sentAt) => at - sentAt),
  )
}

/** A word has arrived when its last piece has. */
function latencies(pieces: readonly Piece[]): readonly number[] {
  let text = ''
  let known = 0
  return pieces.flatMap((piece) => {
    text += piece.text
    const stamps = stampsIn(text)
    const fresh = stamps.slice(known)
    known = stamps.length
    return fresh.map((sentAt) => piece.at - sentAt)
  })
}
