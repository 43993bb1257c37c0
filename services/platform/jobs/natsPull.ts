/** One request to a pull consumer, for one message. NATS serves the request that has waited longest, so that work is spread over workers. */
import { createInbox, nanos, type Msg } from 'nats'
import type { Nats } from '../bus/natsConnection.ts'

/** How a request ended: a message arrived, the time is over, or something is wrong with the consumer or the connection. */
export type PullEnd = 'filled' | 'expired' | 'stopped' | 'broken'

const expiresMs = 30_000
const heartbeatMs = 2_000
// Status codes of a pull: https://docs.nats.io/reference/reference-protocols/nats_api_reference
const idleHeartbeat = 100
const requestTimeout = 408

/**
 * Requests a message at `subject` and passes it to `onMessage`. A message that NATS sends after `signal` was aborted is ignored; as it is not
 * claimed, another worker gets it.
 */
export function pull(options: {
  nats: Nats
  subject: string
  signal: AbortSignal
  onMessage: (message: Msg) => void
}): Promise<PullEnd> {
  const { nats, subject, signal, onMessage } = options
  const { connection } = nats
  return new Promise((resolve) => {
    const inbox = createInbox()
    const subscription = connection.subscribe(inbox, {
      callback: (refused, message) => {
        if (refused) return end('broken')
        silence.refresh()
        if (message.subject === inbox) return heardStatus(message.headers?.code)
        onMessage(message)
        end('filled')
      },
    })
    // The server drops its requests when it goes away.
    const stopReturning = nats.onReturn(() => end('broken'))
    const silence = setTimeout(() => end('broken'), heartbeatMs * 3)
    const stop = () => end('stopped')
    signal.addEventListener('abort', stop)

    function heardStatus(code: number | undefined): void {
      if (code === idleHeartbeat) return
      end(code === requestTimeout ? 'expired' : 'broken')
    }

    function end(how: PullEnd): void {
      clearTimeout(silence)
      stopReturning()
      signal.removeEventListener('abort', stop)
      subscription.unsubscribe()
      resolve(how)
    }

    const request = { batch: 1, expires: nanos(expiresMs), idle_heartbeat: nanos(heartbeatMs) }
    connection.publish(subject, JSON.stringify(request), { reply: inbox })
  })
}
