/**
 * The log as services use it: encrypts and chains the events that are appended, and decrypts those that are read. `append` always names the exact
 * revision that it builds on.
 */
import { randomUUID } from 'node:crypto'
import { backOff, retry } from '#platform/async/retry.ts'
import { eventKinds, type AnyKind, type DomainEvent } from '#domain/events.ts'
import { lifted } from '#domain/kernel/event.schema.ts'
import type { Actor, AnyEvent, Position, StoredEvent, UnreadableReason } from '#domain/kernel/event.ts'
import { scopeOfStream } from '#domain/kernel/streams.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import { jsonOf } from '#platform/json.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { Clock } from '#platform/ports/clock.ts'
import {
  isDamaged,
  type EventStore,
  type EventToAppend,
  type LogRecord,
  type ReadStream,
} from '#platform/ports/eventStore.ts'
import { CannotOpen, EngineUnavailable, RemovedStream } from '#platform/ports/faults.ts'
import type { Opened, SealedPiece, Vault } from '#platform/ports/vault.ts'
import { bytesOf, digestsOf, hashOf, proofOf, salted, isSalted } from './chain.ts'

/** The last event of a stream, on which the next append builds. */
export interface Head {
  readonly revision: number
  readonly hash: string
}
export const emptyHead: Head = { revision: -1, hash: '' }

/** Who caused an event, by which command, and what led to that command. */
export interface Cause {
  readonly actor: Actor
  readonly commandId: string
  readonly correlationId?: string
  readonly causationId?: string | null
  /** For an event of the terminal: the revision of the task's stream that it comes after. */
  readonly follows?: number
  /** How long to wait for an unavailable engine, in milliseconds; 2,000 by default. */
  readonly patienceMs?: number
}

/** The origin of a command: the request that started everything, and the event that caused the command, if there is one. */
export type Origin = Pick<Cause, 'correlationId' | 'causationId'>

export type Appended =
  | { readonly kind: 'appended'; readonly events: readonly AnyRecorded[]; readonly head: Head }
  | { readonly kind: 'conflict'; readonly actual: number }

export interface EventLog {
  /**
   * Appends the events after `head`, all or none, and notifies the bus. If the outcome is unknown, repeats the append with the same ids. Throws
   * `EngineUnavailable` when the engine stays unavailable.
   */
  append(stream: string, head: Head, events: readonly DomainEvent[], cause: Cause): Promise<Appended>
  /** Decrypted events of a stream from a revision on, at most `limit`. Like all reads, throws `UnreadableEvent`. */
  read(stream: string, from: number, limit: number): Promise<readonly AnyRecorded[]>
  /** The last events of a stream, newest first: at most `limit`, beginning at a revision or at the end. For `asOf` see `ReadStream`. */
  readBackwards(
    stream: string,
    from: number | 'end',
    limit: number,
    asOf?: Position,
  ): Promise<readonly AnyRecorded[]>
  /** Decrypts a stored record and converts it to the current version of its kind. Erased content is `null`. */
  open(record: LogRecord): Promise<AnyRecorded>
  /** The last event of a stream; `emptyHead` for a stream without events. Throws `UnreadableEvent` when its record is damaged. */
  headOf(stream: string): Promise<Head>
}

const usualPatienceMs = 2_000
const firstPauseMs = 100
const longestPauseMs = 2_000

interface LogEngines {
  readonly eventStore: EventStore
  readonly vault: Vault
  readonly bus: Bus
  readonly clock: Clock
  /** Called for each unreadable event, whoever reads it, except for events of a newer version. */
  readonly setAside?: (fault: UnreadableEvent) => void
}

export function eventLog(log: LogEngines): EventLog {
  const { setAside = () => undefined } = log
  const telling = async <T>(reading: Promise<T>): Promise<T> => {
    try {
      return await reading
    } catch (fault) {
      if (fault instanceof UnreadableEvent && !isOfLaterVersion(fault)) setAside(fault)
      throw fault
    }
  }
  return {
    append: (stream, head, events, cause) => append(log, stream, head, events, cause),
    read: (stream, from, limit) => telling(readForwards(log, stream, from, limit)),
    readBackwards: (stream, from, limit, asOf) => telling(readBackwards(log, stream, from, limit, asOf)),
    open: (record) => telling(open(log, record)),
    headOf: (stream) => telling(headOf(log, stream)),
  }
}

async function headOf(log: LogEngines, stream: string): Promise<Head> {
  const records = await stored(log, stream, { from: 'end', direction: 'backwards', limit: 1 })
  const [last] = undamaged(records)
  return last ? { revision: last.revision, hash: last.meta.hash } : emptyHead
}

/** Returns the records if none of them is damaged. Throws `UnreadableEvent` for the first damaged record. */
function undamaged(records: readonly LogRecord[]): readonly StoredEvent[] {
  return records.map((record) => {
    if (isDamaged(record)) throw new UnreadableEvent(record, record.damage)
    return record
  })
}

const withoutContent = { content: null, proof: null }

async function seal(log: LogEngines, stream: string, eventId: string, content: unknown) {
  const plain = bytesOf(salted(content))
  const sealed = await log.vault.seal(scopeOfStream(stream), contentContext(stream, eventId), plain)
  return { content: Buffer.from(sealed).toString('base64'), proof: proofOf(plain, sealed) }
}

async function open(log: LogEngines, record: LogRecord): Promise<AnyRecorded> {
  const [event] = await openAll(log, undamaged([record]))
  if (event === undefined) throw new Error('Opening lost an event.')
  return event
}

/** Decrypts events of one stream. Refuses unknown kinds and newer versions before it needs a key, because their keys may be unknown too. */
async function openAll(log: LogEngines, events: readonly StoredEvent[]): Promise<readonly AnyRecorded[]> {
  const kinds = events.map(kindOf)
  const pieces: SealedPiece[] = []
  for (const { stream, id, content } of events)
    if (content !== null)
      pieces.push({ context: contentContext(stream, id), sealed: Buffer.from(content, 'base64') })
  const first = events.find(({ content }) => content !== null)
  const opened =
    first === undefined
      ? []
      : await log.vault.openAll(scopeOfStream(first.stream), pieces).catch((fault: unknown) => {
          throw fault instanceof CannotOpen ? new UnreadableEvent(first, 'cannot_be_opened', fault) : fault
        })
  let next = 0
  return events.map((event, index) =>
    recordedOf(event, kinds[index] ?? kindOf(event), event.content === null ? undefined : opened[next++]),
  )
}

function kindOf(event: StoredEvent): AnyKind {
  const kind = eventKinds.get(event.type)
  if (kind && event.version <= kind.version) return kind
  // An event of a newer version must match its hash too.
  if (digestsOf(event).hash !== event.meta.hash) throw new UnreadableEvent(event, 'changed')
  throw new UnreadableEvent(event, kind ? 'newer_version' : 'unknown_kind')
}

function recordedOf(event: StoredEvent, kind: AnyKind, opened: Opened): AnyRecorded {
  const { id, stream, revision, position, type, at, meta } = event
  const content = contentOpened(event, opened)
  try {
    const form = lifted(kind, event.version, { data: event.data, content })
    const { version } = kind
    const data = factsOf(kind, form.data)
    const parsed = form.content === null ? null : kind.content.parse(form.content)
    // The cast holds because the event was just parsed with the schema of its type.
    return { id, stream, revision, position, type, version, at, data, content: parsed, meta } as AnyRecorded
  } catch (fault) {
    throw new UnreadableEvent(event, 'wrong_shape', fault)
  }
}

/** The facts that were parsed last, with what they were parsed from. Consecutive events often have the very same facts (see `recordOfText`). */
let latest: { readonly kind: AnyKind; readonly from: unknown; readonly facts: unknown } | undefined

function factsOf(kind: AnyKind, from: unknown): unknown {
  if (latest?.kind !== kind || latest.from !== from) latest = { kind, from, facts: kind.data.parse(from) }
  return latest.facts
}

function contentOpened(event: StoredEvent, opened: Opened): unknown {
  if (opened instanceof CannotOpen) throw new UnreadableEvent(event, 'cannot_be_opened', opened)
  if (!opened) return null
  const plain = jsonOf(opened)
  if (!isSalted(plain)) throw new UnreadableEvent(event, 'wrong_shape')
  return plain.content
}

async function stored(log: LogEngines, stream: string, read: ReadStream): Promise<readonly LogRecord[]> {
  try {
    return await log.eventStore.readStream(stream, read)
  } catch (fault) {
    if (!(fault instanceof RemovedStream)) throw fault
    throw new UnreadableEvent({ stream, revision: 0, type: 'any' }, 'deleted', fault)
  }
}

async function link(
  log: LogEngines,
  stream: string,
  head: Head,
  events: readonly DomainEvent[],
  cause: Cause,
) {
  const at = log.clock.now().toISOString()
  const linked: EventToAppend[] = []
  let prev = head.hash
  for (const event of events) {
    const kind = eventKinds.get(event.type)
    if (!kind) throw new Error(`An event of an unknown kind: ${event.type}`)
    // The id is not derived from the command: with equal ids, two processes that decide the command would both count as having appended.
    const id = randomUUID()
    const plain = kind.content.parse(event.content)
    const { content, proof } = plain === null ? withoutContent : await seal(log, stream, id, plain)
    const unhashed = {
      id,
      stream,
      revision: head.revision + 1 + linked.length,
      type: event.type,
      version: kind.version,
      at,
      data: kind.data.parse(event.data),
      content,
    }
    const meta = {
      actor: cause.actor,
      commandId: cause.commandId,
      correlationId: cause.correlationId ?? cause.commandId,
      causationId: cause.causationId ?? null,
      follows: cause.follows ?? null,
      content: proof,
      prev,
    }
    prev = hashOf({ ...unhashed, meta })
    linked.push({ ...unhashed, meta: { ...meta, hash: prev } })
  }
  return linked
}

async function append(
  log: LogEngines,
  stream: string,
  head: Head,
  events: readonly DomainEvent[],
  cause: Cause,
): Promise<Appended> {
  const linked = await retryWhileUnavailable(() => link(log, stream, head, events, cause), cause)
  const result = await retryWhileUnavailable(
    () => log.eventStore.append(stream, head.revision, linked),
    cause,
  )
  if (result.kind === 'conflict') return result
  for (const { revision, type } of linked) log.bus.publish('appended', { stream, revision, type })
  const last = linked.at(-1)
  return {
    kind: 'appended',
    events: linked.map((event, index) => {
      const position = positionAt(result.positions, index)
      // The caller has the content already, so it is not decrypted again.
      return { ...event, ...contentOf(events[index]), position } as AnyRecorded
    }),
    head: last ? { revision: last.revision, hash: last.meta.hash } : head,
  }
}

async function readForwards(
  log: LogEngines,
  stream: string,
  from: number,
  limit: number,
): Promise<readonly AnyRecorded[]> {
  const events = undamaged(await stored(log, stream, { from, direction: 'forwards', limit }))
  checkLinks(events, from)
  return openAll(log, events)
}

async function readBackwards(
  log: LogEngines,
  stream: string,
  from: number | 'end',
  limit: number,
  asOf: Position | undefined,
): Promise<readonly AnyRecorded[]> {
  const events = undamaged(
    await stored(log, stream, { from, direction: 'backwards', limit, ...(asOf && { asOf }) }),
  )
  checkLinks(events.toReversed(), events.length < limit ? 0 : undefined)
  return openAll(log, events)
}

/** Why an event cannot be read, as the second half of a sentence that begins with the event. */
export const unreadableSentences: Readonly<Record<UnreadableReason, string>> = {
  unknown_kind: 'is of a kind that this Flightdeck does not know',
  newer_version: 'was written by a newer Flightdeck',
  wrong_shape: 'does not have the shape of its kind',
  cannot_be_opened: 'has content that does not open: it was changed, or its key is missing',
  broken_chain: 'does not follow the event before it: one was changed, removed or put in',
  no_json: 'is not JSON: what is stored was damaged',
  repeated_name: 'has a member twice: what is stored was damaged',
  wrong_envelope: 'does not have the form of an event: what is stored was damaged',
  too_large: 'is larger than an event can be: what is stored was damaged',
  changed: 'is not what its hash was taken over: it was changed',
  truncated: 'is the first that is left: those before it were removed from the log',
  deleted: 'and all others of its stream were removed from the log',
}

/** Thrown for an event of the log that cannot be read. The rest of its stream is unusable; other streams are not affected. */
export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent'
  readonly event: Pick<StoredEvent, 'stream' | 'revision' | 'type'>
  readonly reason: UnreadableReason
  constructor(
    { stream, revision, type }: Pick<StoredEvent, 'stream' | 'revision' | 'type'>,
    reason: UnreadableReason,
    cause?: unknown,
  ) {
    super(`Event ${revision} of ${stream} (${type}) ${unreadableSentences[reason]}.`, { cause })
    this.event = { stream, revision, type }
    this.reason = reason
  }
}

/** Whether a newer version of the server wrote the event. Its stream is then not damaged, and that version can read it. */
export const isOfLaterVersion = ({ reason }: UnreadableEvent): boolean =>
  reason === 'unknown_kind' || reason === 'newer_version'

/** Throws when events of a stream are not consecutive, or do not begin at `from` if that is given. */
function checkLinks(events: readonly StoredEvent[], from?: number): void {
  for (const [index, event] of events.entries()) {
    const before = events[index - 1]
    if (before === undefined && from === 0 && event.revision > 0)
      throw new UnreadableEvent(event, 'truncated')
    const follows =
      before === undefined
        ? (from === undefined || event.revision === from) && (event.revision > 0 || event.meta.prev === '')
        : event.revision === before.revision + 1 && event.meta.prev === before.meta.hash
    if (!follows) throw new UnreadableEvent(event, 'broken_chain')
  }
}

/** Retries work while an engine is unavailable, for at most `patienceMs`. The work must be repeatable, such as an append with the same ids. */
export function retryWhileUnavailable<T>(
  attempt: () => Promise<T>,
  { patienceMs = usualPatienceMs }: Pick<Cause, 'patienceMs'>,
): Promise<T> {
  return retry(attempt, {
    isTransient: (fault) => fault instanceof EngineUnavailable,
    pausesMs: backOff({ firstMs: firstPauseMs, longestMs: longestPauseMs, patienceMs }),
  })
}

function positionAt(positions: readonly Position[], index: number): Position {
  const position = positions[index]
  if (position === undefined) throw new Error('The event store answered with too few positions.')
  return position
}

function contentOf(event: AnyEvent | undefined): { data: unknown; content: unknown } {
  return { data: event?.data, content: event?.content ?? null }
}

/** The context that binds an encrypted content to its place, so that it cannot be moved to another event. */
export const contentContext = (stream: string, eventId: string): string => `${stream}#${eventId}`
