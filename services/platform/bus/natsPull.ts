/** One request to a pull consumer: at most so many messages, for so long. */
import { createInbox, nanos, type Msg } from 'nats'
import type { Nats } from './natsConnection.ts'

/** How a request ended: all came, its time is over, or something is wrong with the consumer or the way to it. */
export type PullEnd = 'filled' | 'expired' | 'stopped' | 'broken'

const expiresMs = 30_000
const heartbeatMs = 2_000
// Status codes of a pull: https://docs.nats.io/reference/reference-protocols/nats_api_reference
const idleHeartbeat = 100
const requestTimeout = 408

/**
 * Asks for `batch` messages at `subject` and hands each to `onMessage`. What NATS sends after `signal` was aborted is not heard, and
 * comes to another once it was not claimed.
 */
export function pull(options: {
  nats: Nats
  subject: string
  batch: number
  signal: AbortSignal
  onMessage: (message: Msg) => void
}): Promise<PullEnd> {
  const { nats, subject, batch, signal, onMessage } = options
  const { connection } = nats
  return new Promise((resolve) => {
    let left = batch
    const inbox = createInbox()
    const subscription = connection.subscribe(inbox, {
      callback: (refused, message) => {
        if (refused) return end('broken')
        silence.refresh()
        if (message.subject === inbox) return heardStatus(message.headers?.code)
        left -= 1
        onMessage(message)
        if (left === 0) end('filled')
      },
    })
    // The server forgets its requests when it goes away.
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

    const request = { batch, expires: nanos(expiresMs), idle_heartbeat: nanos(heartbeatMs) }
    connection.publish(subject, JSON.stringify(request), { reply: inbox })
  })
}
