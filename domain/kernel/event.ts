/** Events: positions in the log, metadata, and the forms of an event before and after it is recorded. */

/** A position in the whole log: a decimal string without leading zeros. Positions have gaps. Compare them with `comparePositions` only. */
export type Position = string

/** Negative when `a` comes before `b`, zero when they are equal, positive otherwise. */
export function comparePositions(a: Position, b: Position): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}

/** The position padded with zeros, so that texts sort in the order of positions. */
export function sortKey(position: Position): string {
  return position.padStart(20, '0')
}

/** Who caused an event: a user, or a service on its own behalf. */
export type Actor =
  | { readonly kind: 'user'; readonly userId: string }
  | { readonly kind: 'system'; readonly service: string }

/** The cause of an event, and its place in the hash chain. */
export interface EventMeta {
  readonly actor: Actor
  readonly commandId: string
  readonly correlationId: string
  readonly causationId: string | null
  /** For an event of a task's terminal: the revision of the task's last event before it. */
  readonly follows: number | null
  /** The SHA-256 (hex) of the encrypted content and of the salted plaintext; `null` without content. */
  readonly content: { readonly sealed: string; readonly commitment: string } | null
  /** The hash of the previous event in the stream; `''` at revision 0. */
  readonly prev: string
  /** The SHA-256 (hex) of this event's canonical JSON without its position, encrypted content and this hash, and with the scheme's number. */
  readonly hash: string
}

/** Why an entry that is stored in the log is not a valid event. */
export const damageReasons = [
  /** The data or the metadata of the entry is not JSON. */
  'no_json',
  /** An object in the entry has the same member name twice, so parsers would disagree about the member's value. */
  'repeated_name',
  /** A member of the entry is missing, or has the wrong type or form. */
  'wrong_envelope',
  /** The entry exceeds the maximum size of an event and was not read. */
  'too_large',
] as const
export type DamageReason = (typeof damageReasons)[number]

/** Why an event cannot be read: by this version of the server, or at all. */
export const unreadableReasons = [
  ...damageReasons,
  /** The event does not match its hash. */
  'changed',
  'unknown_kind',
  'newer_version',
  'wrong_shape',
  'cannot_be_opened',
  /** The event's `prev` is not the hash of the event before it. */
  'broken_chain',
  /** The events before this one were removed, for example by an event store's retention limit. */
  'truncated',
  /** All events of the stream were removed. */
  'deleted',
] as const
export type UnreadableReason = (typeof unreadableReasons)[number]

/** An event as the log stores it. `data` has facts. `content` has texts of people and agents, encrypted, in base64; `null` without texts. */
export interface StoredEvent {
  readonly id: string
  readonly stream: string
  /** The event's number in its stream, from 0, without gaps. */
  readonly revision: number
  readonly position: Position
  readonly type: string
  readonly version: number
  /** When the event was recorded, ISO 8601 in UTC. */
  readonly at: string
  readonly data: unknown
  readonly content: string | null
  readonly meta: EventMeta
}

/** A decrypted event. `content` is `null` when the event never had content, and when the key was destroyed; every fold must accept both cases. */
export interface Recorded<E extends AnyEvent = AnyEvent> extends Omit<
  StoredEvent,
  'data' | 'content' | 'type'
> {
  readonly type: E['type']
  readonly data: E['data']
  readonly content: E['content'] | null
}

/** An event as `decide` returns it, which is not recorded yet. */
export interface AnyEvent {
  readonly type: string
  readonly data: unknown
  readonly content: unknown
}

/** The recorded form of each member of a union of events, so that a switch on `type` narrows `data` and `content`. */
export type RecordedOf<E extends AnyEvent> = E extends AnyEvent ? Recorded<E> : never

/** Data and content of an event in the form of any version of its kind. Content is `null` when the event has none, and when it was erased. */
export interface EventForm {
  readonly data: unknown
  readonly content: unknown
}
