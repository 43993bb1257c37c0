/** How a call of the HTTP API is defined: once, for the server, the client and the documentation. */
import { z } from 'zod'
import type { FaultCode } from '../kernel/errors.ts'
import { Position } from '../kernel/event.schema.ts'
import type { Method, Route } from './route.ts'

/** A call: its route, its input, its answer, and how it may be refused. */
export interface Call<
  R extends Route,
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  A extends z.ZodType,
> {
  readonly method: R['method']
  readonly path: R['path']
  readonly summary: string
  /** Who may make the call: people who have signed in and completed onboarding, people who have signed in, or anybody. */
  readonly open: 'onboarded' | 'signed_in' | 'anybody'
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly status: 200 | 201
  readonly answer: A
  /** For a call that answers with a file instead of JSON: the file's media type, and the name to save the file under. */
  readonly file?: { readonly type: string; readonly name: string }
  /** The refusals that this call can have, in addition to those of every call. */
  readonly faults: readonly FaultCode[]
}

export type AnyCall = Call<Route, z.ZodType, z.ZodType, z.ZodType, z.ZodType>
export type ParamsOf<C extends AnyCall> = z.output<C['params']>
export type QueryOf<C extends AnyCall> = z.output<C['query']>
/** The query as a client sends it: fields with a default may be left out. */
export type QueryInputOf<C extends AnyCall> = z.input<C['query']>
export type BodyOf<C extends AnyCall> = z.output<C['body']>
export type BodyInputOf<C extends AnyCall> = z.input<C['body']>
export type AnswerOf<C extends AnyCall> = z.output<C['answer']>

const nothing = z.object({})
type Nothing = typeof nothing
/** Every read may name a position in the log up to which its answer must be current. */
const reading = { minPosition: Position.optional() }
/**
 * The answer to a write has the write's position in the log, if it recorded something, and `stale` if the read models have not reached it within 2 s.
 */
const written = { position: Position.optional(), stale: z.literal(true).optional() }
type Shape = Readonly<Record<string, z.ZodType>>
type NoMembers = Readonly<Record<never, z.ZodType>>

interface Definition<P extends z.ZodType> {
  readonly summary: string
  /** Who may make the call; `onboarded` by default. */
  readonly open?: AnyCall['open']
  readonly params?: P
  readonly faults?: readonly FaultCode[]
}

/** The members that reads, files and writes share. The cast holds because `P` is `Nothing` for a definition without `params`. */
function common<P extends z.ZodType>(definition: Definition<P>) {
  const { summary, open = 'onboarded', params = nothing as z.ZodType as P, faults = [] } = definition
  return { summary, open, params, faults }
}

/** Defines a read. `query` is its input apart from `minPosition`, and `answer` has the members of its answer. */
export function defineRead<
  R extends Route & { readonly method: 'GET' },
  A extends Shape,
  P extends z.ZodType = Nothing,
  Q extends Shape = NoMembers,
>(
  { method, path }: R,
  definition: Definition<P> & { readonly query?: Q; readonly answer: A },
): Call<R, P, z.ZodObject<Q & typeof reading>, Nothing, z.ZodObject<A>> {
  const { query = {} as Q, answer } = definition
  return {
    method,
    path,
    ...common(definition),
    query: z.object({ ...query, ...reading }),
    body: nothing,
    status: 200,
    answer: z.object(answer),
  }
}

/** Defines a read that answers with a text file, which is streamed. */
export function defineFile<
  R extends Route & { readonly method: 'GET' },
  P extends z.ZodType = Nothing,
  Q extends Shape = NoMembers,
>(
  route: R,
  {
    file,
    ...definition
  }: Definition<P> & { readonly query?: Q; readonly file: NonNullable<AnyCall['file']> },
): Call<R, P, z.ZodObject<Q & typeof reading>, Nothing, z.ZodType<AsyncIterable<string>>> {
  return {
    ...defineRead(route, { ...definition, answer: {} }),
    answer: z.custom<AsyncIterable<string>>(),
    file,
  }
}

/** Defines a write. `answer` has the members of its answer apart from `position` and `stale`. */
export function defineWrite<
  R extends Route & { readonly method: Exclude<Method, 'GET'> },
  A extends Shape,
  P extends z.ZodType = Nothing,
  B extends z.ZodType = Nothing,
>(
  { method, path }: R,
  definition: Definition<P> & { readonly body?: B; readonly status?: 200 | 201; readonly answer: A },
): Call<R, P, Nothing, B, z.ZodObject<A & typeof written>> {
  const { body = nothing as z.ZodType as B, status = 200, answer } = definition
  return {
    method,
    path,
    ...common(definition),
    query: nothing,
    body,
    status,
    answer: z.object({ ...answer, ...written }),
  }
}
