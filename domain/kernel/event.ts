/** What an event is, and how a kind of event is declared: once, with its schema and version. */
import { z } from 'zod'
import { saying } from './fieldNamed.ts'

/** A place in the whole log: a decimal string without leading zeros that orders as a number and has gaps. Only ever compared by `comparePositions`. */
export type Position = string
export const Position = z
  .string()
  .regex(/^(0|[1-9]\d{0,19})$/, { error: saying('must be a decimal number.') })

/** Negative when `a` comes first, zero when they are the same place. */
export function comparePositions(a: Position, b: Position): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}

/** The position as text that sorts as the number does: what documents are ordered and paged by. */
export function sortKey(position: Position): string {
  return position.padStart(20, '0')
}

/** Who caused an event: a person, or a part of the system that acts for itself. */
export type Actor =
  | { readonly kind: 'user'; readonly userId: string }
  | { readonly kind: 'system'; readonly service: string }
export const Actor: z.ZodType<Actor> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('user'), userId: z.string() }),
  z.strictObject({ kind: z.literal('system'), service: z.string() }),
])

const Sha256Hex = z.string().regex(/^[0-9a-f]{64}$/)

/** Why an event is there and what it is linked to. */
export interface EventMeta {
  readonly actor: Actor
  readonly commandId: string
  readonly correlationId: string
  readonly causationId: string | null
  /** On the terminal's stream of a task: the revision of the task's own stream that it came after. */
  readonly follows: number | null
  /** Digests (SHA-256, hex) of the sealed content and of what was sealed, salt and all; `null` when there is none. */
  readonly content: { readonly sealed: string; readonly commitment: string } | null
  /** Hash of the event before this one in its stream; `''` at revision 0. */
  readonly prev: string
  /** SHA-256 (hex) over the canonical JSON of this event without its position, its sealed content and this hash. */
  readonly hash: string
}
export const EventMeta: z.ZodType<EventMeta> = z.strictObject({
  actor: Actor,
  commandId: z.string(),
  correlationId: z.string(),
  causationId: z.string().nullable(),
  follows: z.int().nonnegative().nullable(),
  content: z.strictObject({ sealed: Sha256Hex, commitment: Sha256Hex }).nullable(),
  prev: z.union([z.literal(''), Sha256Hex]),
  hash: Sha256Hex,
})

/** Why an event cannot be read, by this version or by any. */
export const unreadableReasons = [
  'unknown_kind',
  'newer_version',
  'wrong_shape',
  'cannot_be_opened',
  /** It does not follow the event before it. */
  'broken_chain',
  /** Events before it were removed, as an event store does that keeps so many, or for so long. */
  'truncated',
  /** All events of the stream were removed. */
  'deleted',
] as const
export type UnreadableReason = (typeof unreadableReasons)[number]

/** An event as the log keeps it: facts open in `data`, people's words sealed in `content` (base64), `null` when it has none. */
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

/** An event in hand: content opened, or `null` when it has none or its key was destroyed. Every fold accepts both. */
export interface Recorded<E extends AnyEvent = AnyEvent> extends Omit<
  StoredEvent,
  'data' | 'content' | 'type'
> {
  readonly type: E['type']
  readonly data: E['data']
  readonly content: E['content'] | null
}

/** What `decide` returns: a fact that has not been recorded yet. */
export interface AnyEvent {
  readonly type: string
  readonly data: unknown
  readonly content: unknown
}

/** The recorded form of each member of a union of events, so that a switch on `type` narrows `data` and `content`. */
export type RecordedOf<E extends AnyEvent> = E extends AnyEvent ? Recorded<E> : never

/** What some version of a kind recorded: its facts, and its words, `null` when it has none or they were erased. */
export interface EventForm {
  readonly data: unknown
  readonly content: unknown
}

/** Lifts what one version recorded to the form of the next. */
export type Upcast = (older: EventForm) => EventForm

/** A kind of event: its name, version and schemas, and the one way to make one. */
export interface EventKind<T extends string, D extends z.ZodType, C extends z.ZodType> {
  readonly type: T
  readonly version: number
  readonly data: D
  readonly content: C
  /** From each version before this one to the next, the first version's first. */
  readonly upcasts: readonly Upcast[]
  of(...args: z.output<C> extends null ? [data: z.output<D>] : [data: z.output<D>, content: z.output<C>]): {
    readonly type: T
    readonly data: z.output<D>
    readonly content: z.output<C>
  }
}

/** The event that a kind makes. */
export type EventOf<K> =
  K extends EventKind<infer T, infer D, infer C>
    ? { readonly type: T; readonly data: z.output<D>; readonly content: z.output<C> }
    : never

/** Declares that a kind of event has no content. */
export const none = z.null()

/**
 * Declares a kind of event. The version counts up when the schema changes; `upcasts` then lift what older versions recorded. Throws when
 * one is missing: what was appended once is read for ever.
 */
export function event<T extends string, D extends z.ZodType, C extends z.ZodType>(
  type: T,
  version: number,
  { data, content, upcasts = [] }: { data: D; content: C; upcasts?: readonly Upcast[] },
): EventKind<T, D, C> {
  if (upcasts.length !== version - 1)
    throw new TypeError(`${type} of version ${version} needs ${version - 1} upcasts.`)
  return {
    type,
    version,
    data,
    content,
    upcasts,
    // The compiler does not follow a conditional tuple into its members; the signature of `of` holds them.
    of: (...args) =>
      ({ type, data: args[0], content: args.length > 1 ? args[1] : null }) as ReturnType<
        EventKind<T, D, C>['of']
      >,
  }
}

/** Declares how what an older version recorded reads as the next one; `lift` is pure, and erased content stays `null`. */
export function upcast<D extends z.ZodType, C extends z.ZodType>(
  older: { data: D; content: C },
  lift: (older: { data: z.output<D>; content: z.output<C> | null }) => EventForm,
): Upcast {
  return ({ data, content }) =>
    lift({
      data: older.data.parse(data),
      content: content === null ? null : older.content.parse(content),
    })
}

/** What a version recorded, in the form that the kind has today. */
export function lifted(
  { upcasts }: Pick<EventKind<string, z.ZodType, z.ZodType>, 'upcasts'>,
  version: number,
  recorded: EventForm,
): EventForm {
  return upcasts.slice(version - 1).reduce((form, lift) => lift(form), recorded)
}
