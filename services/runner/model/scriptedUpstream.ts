/** The built-in scripted model behind the broker. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerResponse } from 'node:http'
import type { AnswerFrame, ModelApi } from './api.ts'
import { answerFault, faults, notOfApi } from './apiFault.ts'
import { BodyTooLarge, readWhole, TooManyValues } from './bodyLimit.ts'
import type { Exchange, Upstream } from './upstream.ts'

export interface ScriptedOptions {
  readonly api: ModelApi
  /** The pause before each word, 20 ms by default, as if it had to think. */
  readonly pauseMs?: number
}

export function scriptedUpstream({ api, pauseMs = 20 }: ScriptedOptions): Upstream {
  return { answer: (exchange) => answer(api, pauseMs, exchange), close: () => undefined }
}

async function answer(api: ModelApi, pauseMs: number, exchange: Exchange): Promise<void> {
  const { request, response, path, bodyBytes, onFault, onModel, onUsage } = exchange
  try {
    const asked: unknown = JSON.parse((await readWhole(request, bodyBytes)).toString('utf8'))
    const answered = api.scripted?.(asked, path)
    if (answered === undefined) {
      onFault({ code: 'malformed', message: notOfApi(api).message })
      return answerFault(api, response, notOfApi(api))
    }
    onModel(answered.usage?.model)
    if (answered.kind === 'events') await sendEvents(response, answered.frames, pauseMs)
    else sendJson(response, answered.body)
    if (answered.usage !== undefined) onUsage(answered.usage)
  } catch (error) {
    if (response.destroyed) return
    const [code, fault] =
      error instanceof BodyTooLarge
        ? (['too_large', faults.tooLarge] as const)
        : error instanceof TooManyValues
          ? (['too_many_values', faults.tooManyValues] as const)
          : (['malformed', notOfApi(api)] as const)
    onFault({ code, message: fault.message })
    answerFault(api, response, fault)
  }
}

function sendJson(response: ServerResponse, answer: object): void {
  const body = JSON.stringify(answer)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

async function sendEvents(
  response: ServerResponse,
  frames: Iterable<AnswerFrame>,
  pauseMs: number,
): Promise<void> {
  const gone = new AbortController()
  const leave = () => gone.abort()
  response.once('close', leave)
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  try {
    for (const { frame, paced } of frames) {
      if (paced) await sleep(pauseMs, undefined, { signal: gone.signal })
      if (!response.write(frame)) await once(response, 'drain', { signal: gone.signal })
    }
    response.end()
  } finally {
    response.off('close', leave)
  }
}
