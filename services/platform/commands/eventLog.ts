/**
 * The log as the services use it: events go in with their content sealed and their hash chained, and come out opened.
 * `append` always names the exact revision it builds on.
 */
import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { v5 as uuidv5 } from 'uuid'
import { eventKinds, type DomainEvent } from '#domain/events.ts'
import { canonicalJson } from '#domain/kernel/canonicalJson.ts'
import { lifted, type Actor, type AnyEvent, type Position, type StoredEvent } from '#domain/kernel/event.ts'
import { scopeOfStream } from '#domain/kernel/ids.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { EventStore, EventToAppend } from '#platform/ports/eventStore.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { Vault } from '#platform/ports/vault.ts'

/** Where a stream ends: what the next append builds on. */
export interface Head {
  readonly revision: number
  readonly hash: string
}
export const emptyHead: Head = { revision: -1, hash: '' }

/** Who asks, under which name, and because of what. `commandId` is a UUID: the events' ids follow from it. */
export interface Cause {
  readonly actor: Actor
  readonly commandId: string
  readonly correlationId?: string
  readonly causationId?: string | null
  /** For how long an engine that is away is waited for: 2 s unless told. */
  readonly patienceMs?: number
}

/** Where a command comes from: the request that began it all, and the event that asked for it, where one did. */
export type Origin = Pick<Cause, 'correlationId' | 'causationId'>

export type Appended =
  | { readonly kind: 'appended'; readonly events: readonly AnyRecorded[]; readonly head: Head }
  | { readonly kind: 'conflict'; readonly actual: number }

export interface EventLog {
  /**
   * Appends the events after `head`, all or none, and tells the bus. An unknown outcome is asked for again with the same ids.
   * Throws `EngineUnavailable` when the engine stays away.
   */
  append(stream: string, head: Head, events: readonly DomainEvent[], cause: Cause): Promise<Appended>
  /** Events of a stream from a revision on, at most `limit`, opened. */
  read(stream: string, from: number, limit: number): Promise<readonly AnyRecorded[]>
  /** The last events of a stream, newest first: at most `limit`, starting at a revision or at the end. */
  readBackwards(stream: string, from: number | 'end', limit: number): Promise<readonly AnyRecorded[]>
  /** Opens what the store or the bus gave: in the form and version that its kind has today, erased content `null`. */
  open(event: StoredEvent): Promise<AnyRecorded>
  headOf(stream: string): Promise<Head>
}

const usualPatienceMs = 2_000
const longestPauseMs = 2_000

/** The log over its engines. */
export function eventLog(engines: {
  eventStore: EventStore
  vault: Vault
  bus: Bus
  clock: Clock
}): EventLog {
  const { eventStore, vault, bus, clock } = engines

  async function seal(stream: string, eventId: string, content: unknown): Promise<string | null> {
    if (content === null) return null
    const sealed = await vault.seal(
      scopeOfStream(stream),
      contextOf(stream, eventId),
      Buffer.from(canonicalJson(content)),
    )
    return Buffer.from(sealed).toString('base64')
  }

  async function open(event: StoredEvent): Promise<AnyRecorded> {
    const kind = eventKinds.get(event.type)
    if (!kind) throw new Error(`The log holds an event of an unknown kind: ${event.type}`)
    if (event.version > kind.version) {
      throw new Error(`The log holds ${event.type} of version ${event.version}: a newer Flightdeck wrote it.`)
    }
    const form = lifted(kind, event.version, { data: event.data, content: await openContent(event) })
    const data = kind.data.parse(form.data)
    const content = form.content === null ? null : kind.content.parse(form.content)
    // The schemas of `eventKinds` have just held: the type says what the parse has shown.
    return { ...event, version: kind.version, data, content } as AnyRecorded
  }

  async function openContent(event: StoredEvent): Promise<unknown> {
    if (event.content === null) return null
    const context = contextOf(event.stream, event.id)
    const plain = await vault.open(scopeOfStream(event.stream), context, Buffer.from(event.content, 'base64'))
    return plain === undefined ? null : JSON.parse(Buffer.from(plain).toString('utf8'))
  }

  async function link(stream: string, head: Head, events: readonly DomainEvent[], cause: Cause) {
    const at = clock.now().toISOString()
    const linked: EventToAppend[] = []
    let prev = head.hash
    for (const [index, event] of events.entries()) {
      const kind = eventKinds.get(event.type)
      if (!kind) throw new Error(`An event of an unknown kind: ${event.type}`)
      const id = uuidv5(String(index), cause.commandId)
      const unhashed = {
        id,
        stream,
        revision: head.revision + 1 + index,
        type: event.type,
        version: kind.version,
        at,
        data: kind.data.parse(event.data),
        content: await seal(stream, id, kind.content.parse(event.content)),
        meta: {
          actor: cause.actor,
          commandId: cause.commandId,
          correlationId: cause.correlationId ?? cause.commandId,
          causationId: cause.causationId ?? null,
          prev,
        },
      }
      const hash = hashOf(unhashed)
      linked.push({ ...unhashed, meta: { ...unhashed.meta, hash } })
      prev = hash
    }
    return linked
  }

  return {
    async append(stream, head, events, cause) {
      const linked = await patiently(() => link(stream, head, events, cause), cause)
      const result = await patiently(() => eventStore.append(stream, head.revision, linked), cause)
      if (result.kind === 'conflict') return result
      const stored = linked.map((event, index): StoredEvent => ({
        ...event,
        position: positionAt(result.positions, index),
      }))
      for (const event of stored) bus.publish('appended', event)
      const last = stored.at(-1)
      return {
        kind: 'appended',
        // Content is in hand already: it is not opened again.
        events: stored.map((event, index) => ({ ...event, ...contentOf(events[index]) }) as AnyRecorded),
        head: last ? { revision: last.revision, hash: last.meta.hash } : head,
      }
    },
    async read(stream, from, limit) {
      return Promise.all(
        (await eventStore.readStream(stream, { from, direction: 'forwards', limit })).map(open),
      )
    },
    async readBackwards(stream, from, limit) {
      return Promise.all(
        (await eventStore.readStream(stream, { from, direction: 'backwards', limit })).map(open),
      )
    },
    open,
    async headOf(stream) {
      const [last] = await eventStore.readStream(stream, { from: 'end', direction: 'backwards', limit: 1 })
      return last ? { revision: last.revision, hash: last.meta.hash } : emptyHead
    },
  }
}

/** Does what may be repeated, such as an append of the very same events, again and again while an engine is away and patience lasts. */
export async function patiently<T>(
  attempt: () => Promise<T>,
  { patienceMs = usualPatienceMs }: Pick<Cause, 'patienceMs'>,
): Promise<T> {
  const end = performance.now() + patienceMs
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await attempt()
    } catch (fault) {
      if (!(fault instanceof EngineUnavailable) || performance.now() + pauseMs >= end) throw fault
    }
    await pause(pauseMs)
  }
}

function positionAt(positions: readonly Position[], index: number): Position {
  const position = positions[index]
  if (position === undefined) throw new Error('The event store answered with too few positions.')
  return position
}

function contentOf(event: AnyEvent | undefined): { data: unknown; content: unknown } {
  return { data: event?.data, content: event?.content ?? null }
}

/** Binds a sealed content to its place, so that it cannot be moved to another event. */
const contextOf = (stream: string, eventId: string): string => `${stream}#${eventId}`

/** The event's link in its stream's chain; see `EventMeta.hash`. Position is not part of it: a log may move to another engine. */
export function hashOf(
  event: Omit<EventToAppend, 'meta'> & { meta: Omit<StoredEvent['meta'], 'hash'> },
): string {
  const { id, stream, revision, type, version, at, data, content, meta } = event
  const { actor, commandId, correlationId, causationId, prev } = meta
  const linked = { id, stream, revision, type, version, at, data, content }
  const form = canonicalJson({ ...linked, meta: { actor, commandId, correlationId, causationId } })
  return createHash('sha256').update(prev).update('\n').update(form).digest('hex')
}
