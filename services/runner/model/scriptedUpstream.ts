/** The built-in scripted model behind the broker. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerResponse } from 'node:http'
import { jsonOf } from '#platform/json.ts'
import type { AnswerFrame, ModelApi } from './modelApi.ts'
import { answerFault, answerJson, malformed } from './apiFault.ts'
import type { Exchange, Upstream } from './upstream.ts'

/** Answers with the scripted model. `pauseMs` is the pause before each event that is `paced`, as if a model had to think. */
export function scriptedUpstream(api: ModelApi, pauseMs = 20): Upstream {
  return { answer: (exchange) => answer(api, pauseMs, exchange), close: () => undefined }
}

async function answer(api: ModelApi, pauseMs: number, exchange: Exchange): Promise<void> {
  const { response, served, body, onFault, onModel, onUsage } = exchange
  const answered = api.scripted?.(jsonOf(body), served.path)
  if (answered === undefined) {
    const fault = malformed(`The request is not one of the ${api.label}.`)
    onFault(fault)
    return answerFault(api, response, fault)
  }
  onModel(answered.usage?.model)
  if (answered.kind === 'json') answerJson(response, 200, answered.body)
  // If the client disconnects, no usage is reported.
  else if (!(await sentWhole(response, answered.frames, pauseMs))) return
  if (answered.usage !== undefined) onUsage(answered.usage)
}

/** Sends the answer; false when the client disconnected before the end. */
async function sentWhole(
  response: ServerResponse,
  frames: Iterable<AnswerFrame>,
  pauseMs: number,
): Promise<boolean> {
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
    return true
  } catch (fault) {
    if (!gone.signal.aborted) throw fault
    return false
  } finally {
    response.off('close', leave)
  }
}
