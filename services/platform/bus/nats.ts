/** The bus between processes: core NATS, which stores nothing. A disconnected subscriber misses messages, and reads the log. */
import type { Subscription } from 'nats'
import { z } from 'zod'
import { AgentState } from '#domain/api/server.schema.ts'
import { Position } from '#domain/kernel/event.schema.ts'
import type { Bus, BusMessages, Topic } from '../ports/bus.ts'
import type { ReportFault } from '../ports/faults.ts'
import type { Nats } from './natsConnection.ts'

// Bytes sent but not confirmed: above the first limit the server is asked how far it is, above the second messages are dropped.
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
    // An older version does not send them.
    agents: z.array(AgentState).default([]),
    jobs: z.array(z.string()),
  }),
  presence: z.object({ userIds: z.array(z.string()), taskIds: z.array(z.string()) }),
  installations: z.object({ changed: z.literal(true) }),
  hostWait: z.object({ holder: z.string(), until: z.number() }),
  quarantine: z.object({ stream: z.string() }),
}

type Listeners = { readonly [T in Topic]: Set<{ readonly listen: (message: BusMessages[T]) => void }> }

interface NatsBus {
  readonly nats: Nats
  readonly onFault: ReportFault
  subjectOf(topic: Topic): string
  readonly connection: Nats['connection']
  readonly listeners: Listeners
  readonly subscriptions: Map<Topic, Subscription>
  isClosed: boolean
  /** Bytes published and not known to have reached the server. */
  waitingBytes: number
  /** Whether a flush is running. */
  isAsking: boolean
  /** Dropped messages that are not reported yet. */
  lost: number
}

/**
 * The bus on a connection that may be shared; closing the bus leaves the connection open. Messages that are too large for the server, or sent while
 * it was unavailable, are dropped and reported to `onFault`. `namespace` separates products on one server.
 */
export function natsBus(options: { nats: Nats; namespace?: string; onFault: ReportFault }): Bus {
  const { nats, namespace = 'flightdeck', onFault } = options
  const bus: NatsBus = {
    nats,
    onFault,
    subjectOf: (topic) => `${namespace}.bus.${topic}`,
    connection: nats.connection,
    listeners: {
      appended: new Set(),
      words: new Set(),
      projected: new Set(),
      runner: new Set(),
      presence: new Set(),
      installations: new Set(),
      hostWait: new Set(),
      quarantine: new Set(),
    },
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
      for (const listening of Object.values(bus.listeners)) listening.clear()
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

/** The driver buffers without limit what the server does not accept: the answer to a flush shows what was sent. */
async function askHowFar(bus: NatsBus): Promise<void> {
  if (bus.isAsking) return
  bus.isAsking = true
  const asked = bus.waitingBytes
  try {
    await bus.connection.flush()
    bus.waitingBytes = Math.max(0, bus.waitingBytes - asked)
    reportLost(bus)
  } catch {
    // The server went away and buffered messages are lost: the count restarts when it returns.
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
  // A subscriber that is added during the loop does not get this message.
  const hearing = [...bus.listeners[topic]]
  for (const listener of hearing) {
    if (!bus.listeners[topic].has(listener)) continue
    try {
      listener.listen(message)
    } catch (fault) {
      bus.onFault(`A listener to ${topic} failed`, fault)
    }
  }
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
  if (data.byteLength > bus.nats.mostBytes()) {
    bus.onFault(
      `A message to ${topic} has ${data.byteLength} bytes, more than NATS takes: it is lost`,
      undefined,
    )
    return
  }
  if (!bus.nats.isConnected() || bus.waitingBytes + data.byteLength > mostWaitingBytes) {
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
  // Wrapped, so that one function can subscribe twice.
  const listener = { listen }
  bus.listeners[topic].add(listener)
  if (!bus.subscriptions.has(topic)) bus.subscriptions.set(topic, subscribed(bus, topic))
  return () => {
    if (!bus.listeners[topic].delete(listener) || bus.listeners[topic].size > 0) return
    bus.subscriptions.get(topic)?.unsubscribe()
    bus.subscriptions.delete(topic)
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
