/** The bus between processes: core NATS, which stores nothing. A subscriber that was disconnected misses messages, and catches up from the log. */
import type { Subscription } from 'nats'
import type { z } from 'zod'
import { jsonOf } from '../json.ts'
import { messages, type Bus, type BusMessages, type Topic } from '../ports/bus.ts'
import type { ReportFault } from '../ports/faults.ts'
import { openListeners, type Listeners } from './listeners.ts'
import type { Nats } from './natsConnection.ts'

// Bytes that were sent but not confirmed. Above the first limit, the server is asked to confirm; above the second, messages are dropped.
const askBeyondBytes = 256 * 1_024
const maxWaitingBytes = 16 * 1_024 * 1_024

interface NatsBus {
  readonly nats: Nats
  readonly onFault: ReportFault
  subjectOf(topic: Topic): string
  readonly connection: Nats['connection']
  readonly listeners: Listeners
  readonly subscriptions: Map<Topic, Subscription>
  isClosed: boolean
  /** Bytes that were published and not confirmed by the server. */
  waitingBytes: number
  isAsking: boolean
  /** The number of dropped messages that were not reported yet. */
  lost: number
}

/**
 * The bus on a connection that may be shared; closing the bus leaves the connection open. Messages that are too large for the server, or sent while
 * it is unavailable or too slow, are dropped and reported to `onFault`. `namespace` separates products on one server.
 */
export function natsBus(options: { nats: Nats; namespace?: string; onFault: ReportFault }): Bus {
  const { nats, namespace = 'flightdeck', onFault } = options
  const bus: NatsBus = {
    nats,
    onFault,
    subjectOf: (topic) => `${namespace}.bus.${topic}`,
    connection: nats.connection,
    listeners: openListeners(onFault),
    subscriptions: new Map(),
    isClosed: false,
    waitingBytes: 0,
    isAsking: false,
    lost: 0,
  }
  const stopReturning = nats.onReturn(() => {
    bus.waitingBytes = 0
    reportLost(bus)
  })

  return {
    publish: (topic, message) => publish(bus, topic, message),
    subscribe: (topic, listen) => subscribe(bus, topic, listen),
    ready: () => nats.ready(),
    close: async () => {
      bus.isClosed = true
      stopReturning()
      bus.listeners.clear()
      for (const subscription of bus.subscriptions.values()) subscription.unsubscribe()
      bus.subscriptions.clear()
    },
  }
}

function reportLost(bus: NatsBus): void {
  if (bus.lost > 0)
    bus.onFault(`${bus.lost} messages were lost: NATS at ${bus.nats.address} did not take them`, undefined)
  bus.lost = 0
}

/**
 * Asks the server to confirm that it has received everything sent so far. The driver itself would keep any amount of messages that the server has not
 * accepted.
 */
async function askHowFar(bus: NatsBus): Promise<void> {
  if (bus.isAsking) return
  bus.isAsking = true
  const flushedBytes = bus.waitingBytes
  try {
    await bus.connection.flush()
    bus.waitingBytes = Math.max(0, bus.waitingBytes - flushedBytes)
    reportLost(bus)
  } catch {
    // The server is unavailable, so the buffered messages are lost. `waitingBytes` is set to zero when the server returns.
  } finally {
    bus.isAsking = false
  }
}

function dispatch<T extends Topic>(bus: NatsBus, topic: T, data: Uint8Array): void {
  const message = messageOf(topic, data)
  if (message === undefined) {
    bus.onFault(`A message to ${topic} is not understood`, undefined)
    return
  }
  bus.listeners.tellingTo(topic)?.(message)
}

function subscribed(bus: NatsBus, topic: Topic): Subscription {
  return bus.connection.subscribe(bus.subjectOf(topic), {
    callback: (refused, message) => {
      if (refused)
        bus.onFault(`NATS at ${bus.nats.address} refuses to tell what is said to ${topic}`, refused)
      else dispatch(bus, topic, message.data)
    },
  })
}

function publish<T extends Topic>(bus: NatsBus, topic: T, message: BusMessages[T]): void {
  if (bus.isClosed) return
  const data = Buffer.from(JSON.stringify(message), 'utf8')
  if (data.byteLength > bus.nats.maxBytes()) {
    bus.onFault(
      `A message to ${topic} has ${data.byteLength} bytes, more than NATS takes: it is lost`,
      undefined,
    )
    return
  }
  if (!bus.nats.isConnected() || bus.waitingBytes + data.byteLength > maxWaitingBytes) {
    bus.lost += 1
    return
  }
  bus.waitingBytes += data.byteLength
  bus.connection.publish(bus.subjectOf(topic), data)
  if (bus.waitingBytes > askBeyondBytes) void askHowFar(bus)
}

function subscribe<T extends Topic>(
  bus: NatsBus,
  topic: T,
  listen: (message: BusMessages[T]) => void,
): () => void {
  if (bus.isClosed) return () => {}
  const unsubscribe = bus.listeners.subscribe(topic, listen)
  if (!bus.subscriptions.has(topic)) bus.subscriptions.set(topic, subscribed(bus, topic))
  return () => {
    unsubscribe()
    if (bus.listeners.tellingTo(topic)) return
    bus.subscriptions.get(topic)?.unsubscribe()
    bus.subscriptions.delete(topic)
  }
}

const schemas: { readonly [T in Topic]: z.ZodType<BusMessages[T]> } = messages

function messageOf<T extends Topic>(topic: T, data: Uint8Array): BusMessages[T] | undefined {
  const schema: z.ZodType<BusMessages[T]> = schemas[topic]
  return schema.safeParse(jsonOf(data)).data
}
