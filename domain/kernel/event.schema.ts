/** How a kind of event is declared: once, with its version and the schemas of its data and content. */
import { z } from 'zod'
import type { Actor as EventActor, EventForm, EventMeta as Meta } from './event.ts'
import { Sha256 } from './ids.schema.ts'
import { saying } from './readInput.ts'

export const Position = z
  .string()
  .regex(/^(0|[1-9]\d{0,19})$/, { error: saying('must be a decimal number.') })
export type Position = z.infer<typeof Position>

export const Actor: z.ZodType<EventActor> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('user'), userId: z.string() }),
  z.strictObject({ kind: z.literal('system'), service: z.string() }),
])

export const EventMeta: z.ZodType<Meta> = z.strictObject({
  actor: Actor,
  commandId: z.string(),
  correlationId: z.string(),
  causationId: z.string().nullable(),
  follows: z.int().nonnegative().nullable(),
  content: z.strictObject({ sealed: Sha256, commitment: Sha256 }).nullable(),
  prev: z.union([z.literal(''), Sha256]),
  hash: Sha256,
})
export type EventMeta = Meta

/** Converts data and content from the form of one version to the form of the next. */
export type Upcast = (older: EventForm) => EventForm

/** A kind of event: its name, version and schemas, and `of`, the only way to create such an event. */
export interface EventKind<T extends string, D extends z.ZodType, C extends z.ZodType> {
  readonly type: T
  readonly version: number
  readonly data: D
  readonly content: C
  /** Conversions from each older version to the next, in order from version 1. */
  readonly upcasts: readonly Upcast[]
  of(...args: z.output<C> extends null ? [data: z.output<D>] : [data: z.output<D>, content: z.output<C>]): {
    readonly type: T
    readonly data: z.output<D>
    readonly content: z.output<C>
  }
}

export type EventOf<K> =
  K extends EventKind<infer T, infer D, infer C>
    ? { readonly type: T; readonly data: z.output<D>; readonly content: z.output<C> }
    : never

/** Declares that a kind of event has no content. */
export const none = z.null()

/**
 * Declares a kind of event. Each change of the schema needs a higher version, and another upcast that converts events of the version before. Throws
 * unless there is an upcast for each earlier version, because a recorded event must stay readable for ever.
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
    // TypeScript does not resolve a conditional tuple here; the signature of `of` ensures the types.
    of: (...args) =>
      ({ type, data: args[0], content: args.length > 1 ? args[1] : null }) as ReturnType<
        EventKind<T, D, C>['of']
      >,
  }
}

/** Declares a kind of event in version 1 that has `facts` as data, and no content. */
export function fact<T extends string, S extends z.ZodRawShape>(
  type: T,
  facts: S,
): EventKind<T, z.ZodObject<S>, typeof none> {
  return event(type, 1, { data: z.object(facts), content: none })
}

/** Makes an upcast from `older`, the schemas of an older version. `lift` must be pure, and must leave erased content `null`. */
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

/** Converts data and content that were recorded in a version to the current form of the kind. */
export function lifted(
  { upcasts }: Pick<EventKind<string, z.ZodType, z.ZodType>, 'upcasts'>,
  version: number,
  recorded: EventForm,
): EventForm {
  return upcasts.slice(version - 1).reduce((form, lift) => lift(form), recorded)
}
