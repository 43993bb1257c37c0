/**
 * A stand-in for the model that reveals when it said each word: a message `3 words, one every 20 ms` is answered with three words, each of which is
 * the time at which it was sent. A reader of a word therefore knows how long it took to arrive.
 */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import {
  answerAsEvents,
  MessagesRequest,
  readConversation,
} from '../../services/runner/model/messages/wire.ts'

export interface StampingModel {
  readonly baseUrl: string
  close(): Promise<void>
}

/** How many words the model says, how many milliseconds pass before each, and how many such messages it sends one after the other (one by default). */
export interface Speech {
  readonly words: number
  readonly everyMs: number
  readonly messages?: number
}

/** The message that requests a speech. */
export function asking({ words, everyMs, messages = 1 }: Speech): string {
  return `${words} words, one every ${everyMs} ms, ${messages} times`
}

/** The times, in milliseconds of `performance.now()` of this process, of the whole words in a text. */
export function stampsIn(text: string): readonly number[] {
  return [...text.matchAll(/@(\d{12})@/g)].map(([, microseconds]) => Number(microseconds) / 1_000)
}

const unsaid = '@000000000000@'

function stamp(): string {
  return `@${Math.round(performance.now() * 1_000)
    .toString()
    .padStart(12, '0')}@`
}

/** Starts the stand-in on a free port of 127.0.0.1. */
export async function startStampingModel(): Promise<StampingModel> {
  const server = createServer((request, response) => {
    json(request)
      .then((body) => say(response, MessagesRequest.parse(body)))
      .catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function say(response: ServerResponse, request: MessagesRequest): Promise<void> {
  // Agents also ask for other things, such as a title for the conversation.
  const [, words = '0', everyMs = '0', messages = '1'] =
    /^\W*(\d+) words, one every (\d+) ms, (\d+) times/.exec(readConversation(request).message) ?? []
  const text = Array.from({ length: Number(words) }, () => unsaid).join(' ') || 'A title'
  const answer = {
    id: `msg_${Math.round(performance.now())}`,
    model: request.model,
    blocks: Array.from({ length: Number(messages) }, () => ({ type: 'text', text }) as const),
    stopReason: 'end_turn',
    inputTokens: 100,
    outputTokens: Number(words),
  } as const
  response.socket?.setNoDelay(true)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const { frame, paced } of answerAsEvents(answer)) {
    if (paced) await pause(Number(everyMs))
    if (response.destroyed) return
    if (!response.write(frame.replace(unsaid, stamp()))) await once(response, 'drain')
  }
  response.end()
}
