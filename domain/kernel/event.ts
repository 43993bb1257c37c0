/** What an event is: its position in the log, its metadata, and its form before and after it is recorded. */

/** A position in the whole log: a decimal string without leading zeros that orders as a number and has gaps. Compare it by `comparePositions` only. */
export type Position = string

/** Negative when `a` comes first, zero when they are equal. */
export function comparePositions(a: Position, b: Position): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}

/** The position as text that sorts like the number, for ordering and paging documents. */
export function sortKey(position: Position): string {
  return position.padStart(20, '0')
}

/** Who caused an event: a user, or a service on its own behalf. */
export type Actor =
  | { readonly kind: 'user'; readonly userId: string }
  | { readonly kind: 'system'; readonly service: string }

/** The causes of an event, and its place in the hash chain. */
export interface EventMeta {
  readonly actor: Actor
  readonly commandId: string
  readonly correlationId: string
  readonly causationId: string | null
  /** On a task's terminal stream: the revision of the task's own stream that the event came after. */
  readonly follows: number | null
  /** SHA-256 (hex) of the sealed content, and of the salted plaintext; `null` when there is none. */
  readonly content: { readonly sealed: string; readonly commitment: string } | null
  /** Hash of the event before this one in its stream; `''` at revision 0. */
  readonly prev: string
  /** SHA-256 (hex) over the canonical JSON of this event without its position, its sealed content and this hash. */
  readonly hash: string
}

/** Why a stored entry is not a valid event. */
export const damageReasons = [
  /** Its facts or its metadata are not JSON. */
  'no_json',
  /** An object in it has the same member name twice, so parsers disagree about its value. */
  'repeated_name',
  /** A member is missing, or has the wrong type or form. */
  'wrong_envelope',
  /** It exceeds the maximum size of an event and was not read. */
  'too_large',
] as const
export type DamageReason = (typeof damageReasons)[number]

/** Why an event cannot be read: by this version, or at all. */
export const unreadableReasons = [
  ...damageReasons,
  /** It does not match its hash. */
  'changed',
  'unknown_kind',
  'newer_version',
  'wrong_shape',
  'cannot_be_opened',
  /** It does not follow the event before it. */
  'broken_chain',
  /** Events before it were removed, for example by an event store's retention limit. */
  'truncated',
  /** All events of the stream were removed. */
  'deleted',
] as const
export type UnreadableReason = (typeof unreadableReasons)[number]

/** An event as the log stores it: facts in `data`, sealed text in `content` (base64), `null` when it has none. */
export interface StoredEvent {
  readonly id: string
  readonly stream: string
  /** Counts from 0 in its stream, without gaps. */
  readonly revision: number
  readonly position: Position
  readonly type: string
  readonly version: number
  /** When we recorded it, ISO 8601 in UTC. */
  readonly at: string
  readonly data: unknown
  readonly content: string | null
  readonly meta: EventMeta
}

/** A decrypted event: `content` is `null` when it has none or its key was destroyed. Every fold accepts both. */
export interface Recorded<E extends AnyEvent = AnyEvent> extends Omit<
  StoredEvent,
  'data' | 'content' | 'type'
> {
  readonly type: E['type']
  readonly data: E['data']
  readonly content: E['content'] | null
}

/** What `decide` returns: an event that is not recorded yet. */
export interface AnyEvent {
  readonly type: string
  readonly data: unknown
  readonly content: unknown
}

/** The recorded form of each member of a union of events, so that a switch on `type` narrows `data` and `content`. */
export type RecordedOf<E extends AnyEvent> = E extends AnyEvent ? Recorded<E> : never

/** Data and content in the form of some version of the kind; content is `null` when there is none or it was erased. */
export interface EventForm {
  readonly data: unknown
  readonly content: unknown
}
