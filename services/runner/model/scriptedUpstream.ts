/** The built-in scripted model behind the broker. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerResponse } from 'node:http'
import { answerAsEvents, answerAsJson, MessagesRequest, tokensIn } from './messages/wire.ts'
import type { Answer } from './messages/wire.ts'
import { scriptedAnswer } from './messages/scripted.ts'
import { answerFault, faults } from './apiFault.ts'
import { BodyTooLarge, readWhole, TooManyValues } from './bodyLimit.ts'
import type { Exchange, Upstream } from './upstream.ts'

/** Answers of the scripted model, a word every `pauseMs` (20 by default), as if it had to think. */
export function scriptedUpstream(options: { readonly pauseMs?: number } = {}): Upstream {
  const { pauseMs = 20 } = options
  const answer = async (exchange: Exchange): Promise<void> => {
    const { response, onFault } = exchange
    try {
      const request = MessagesRequest.safeParse(
        JSON.parse((await readWhole(exchange.request, exchange.bodyBytes)).toString('utf8')),
      )
      if (!request.success) {
        onFault({ code: 'malformed', message: faults.malformed.message })
        answerFault(response, faults.malformed)
      } else if (exchange.path === '/v1/messages/count_tokens') {
        sendJson(response, { input_tokens: tokensIn(request.data) })
      } else {
        const answered = scriptedAnswer(request.data)
        if (request.data.stream === true) await sendEvents(response, answered, pauseMs)
        else sendJson(response, answerAsJson(answered))
        exchange.onUsage({
          model: answered.model,
          inputTokens: answered.inputTokens,
          outputTokens: answered.outputTokens,
          cacheReadTokens: 0,
          cacheWriteTokens: 0,
        })
      }
    } catch (error) {
      if (response.destroyed) return
      const [code, fault] =
        error instanceof BodyTooLarge
          ? (['too_large', faults.tooLarge] as const)
          : error instanceof TooManyValues
            ? (['too_many_values', faults.tooManyValues] as const)
            : (['malformed', faults.malformed] as const)
      onFault({ code, message: fault.message })
      answerFault(response, fault)
    }
  }
  return { answer, close: () => undefined }
}

function sendJson(response: ServerResponse, answer: object): void {
  const body = JSON.stringify(answer)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

async function sendEvents(response: ServerResponse, answer: Answer, pauseMs: number): Promise<void> {
  const gone = new AbortController()
  const leave = () => gone.abort()
  response.once('close', leave)
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  try {
    for (const { frame, paced } of answerAsEvents(answer)) {
      if (paced) await sleep(pauseMs, undefined, { signal: gone.signal })
      if (!response.write(frame)) await once(response, 'drain', { signal: gone.signal })
    }
    response.end()
  } finally {
    response.off('close', leave)
  }
}
