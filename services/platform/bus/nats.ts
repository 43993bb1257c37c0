/** The bus of many processes: core NATS, which keeps nothing. Who was away has missed what was said, and reads the log. */
import type { Subscription } from 'nats'
import { z } from 'zod'
import { AgentState } from '#domain/api/server.schema.ts'
import { Position } from '#domain/kernel/event.schema.ts'
import type { Bus, BusMessages, Topic } from '../ports/bus.ts'
import type { ReportFault } from '../ports/faults.ts'
import type { Nats } from './natsConnection.ts'

// Said and not yet taken by the server: beyond the first the server is asked how far it is, beyond the second hints are lost.
const askBeyondBytes = 256 * 1_024
const mostWaitingBytes = 16 * 1_024 * 1_024

const messages: { readonly [T in Topic]: z.ZodType<BusMessages[T]> } = {
  appended: z.object({ stream: z.string(), revision: z.int().nonnegative(), type: z.string() }),
  words: z.object({
    taskId: z.string(),
    executionId: z.string(),
    messageId: z.string(),
    offset: z.int().nonnegative(),
    sealed: z.base64(),
  }),
  projected: z.object({ projection: z.string(), position: Position }),
  runner: z.object({
    runnerId: z.string(),
    notices: z.array(z.string()),
    // An older version does not tell them.
    agents: z.array(AgentState).default([]),
    jobs: z.array(z.string()),
  }),
}

type Listeners = { readonly [T in Topic]: Set<{ readonly listen: (message: BusMessages[T]) => void }> }

/**
 * The bus on a connection that others may share; closing it leaves the connection open. A message that the server would not take whole
 * is dropped and told to `onFault`, as are those that were said while it was away. `namespace` keeps products on one server apart.
 */
export function natsBus(options: { nats: Nats; namespace?: string; onFault: ReportFault }): Bus {
  const { nats, namespace = 'flightdeck', onFault } = options
  const { connection } = nats
  const listeners: Listeners = {
    appended: new Set(),
    words: new Set(),
    projected: new Set(),
    runner: new Set(),
  }
  const subscriptions = new Map<Topic, Subscription>()
  let isClosed = false
  let waitingBytes = 0
  let isAsking = false
  let lost = 0

  const subjectOf = (topic: Topic): string => `${namespace}.bus.${topic}`
  const stopReturning = nats.onReturn(() => {
    waitingBytes = 0
    tellLost()
  })

  function tellLost(): void {
    if (lost > 0) onFault(`${lost} messages were lost: NATS at ${nats.address} did not take them`, undefined)
    lost = 0
  }

  /** The driver holds what the server does not take, without a bound: the answer to a flush tells what has left. */
  async function askHowFar(): Promise<void> {
    if (isAsking) return
    isAsking = true
    const asked = waitingBytes
    try {
      await connection.flush()
      waitingBytes = Math.max(0, waitingBytes - asked)
      tellLost()
    } catch {
      // It went away, and what it had not taken with it: its return starts the count anew.
    } finally {
      isAsking = false
    }
  }

  function hear<T extends Topic>(topic: T, data: Uint8Array): void {
    const message = messageOf(topic, data)
    if (message === undefined) {
      onFault(`A message to ${topic} is not understood`, undefined)
      return
    }
    // Who begins to listen meanwhile is not told this one.
    const hearing = [...listeners[topic]]
    for (const listener of hearing) {
      if (!listeners[topic].has(listener)) continue
      try {
        listener.listen(message)
      } catch (fault) {
        onFault(`A listener to ${topic} failed`, fault)
      }
    }
  }

  function subscribed(topic: Topic): Subscription {
    return connection.subscribe(subjectOf(topic), {
      callback: (refused, message) => {
        if (refused) onFault(`NATS at ${nats.address} refuses to tell what is said to ${topic}`, refused)
        else hear(topic, message.data)
      },
    })
  }

  return {
    publish: (topic, message) => {
      if (isClosed) return
      const data = Buffer.from(JSON.stringify(message), 'utf8')
      if (data.byteLength > nats.mostBytes()) {
        onFault(
          `A message to ${topic} has ${data.byteLength} bytes, more than NATS takes: it is lost`,
          undefined,
        )
        return
      }
      if (!nats.isConnected() || waitingBytes + data.byteLength > mostWaitingBytes) {
        lost += 1
        return
      }
      waitingBytes += data.byteLength
      connection.publish(subjectOf(topic), data)
      if (waitingBytes > askBeyondBytes) void askHowFar()
    },
    subscribe: (topic, listen) => {
      if (isClosed) return () => {}
      // A wrapper, so that one function may listen twice.
      const listener = { listen }
      listeners[topic].add(listener)
      if (!subscriptions.has(topic)) subscriptions.set(topic, subscribed(topic))
      return () => {
        if (!listeners[topic].delete(listener) || listeners[topic].size > 0) return
        subscriptions.get(topic)?.unsubscribe()
        subscriptions.delete(topic)
      }
    },
    ready: () => nats.ready(),
    close: async () => {
      isClosed = true
      stopReturning()
      for (const listening of Object.values(listeners)) listening.clear()
      for (const subscription of subscriptions.values()) subscription.unsubscribe()
      subscriptions.clear()
    },
  }
}

function messageOf<T extends Topic>(topic: T, data: Uint8Array): BusMessages[T] | undefined {
  const schema: z.ZodType<BusMessages[T]> = messages[topic]
  try {
    return schema.safeParse(JSON.parse(Buffer.from(data).toString('utf8'))).data
  } catch {
    return undefined
  }
}
