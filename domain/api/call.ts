/** How a call of the HTTP contract is stated: once, for the server, the client and the documentation. */
import { z } from 'zod'
import type { FaultCode } from '../kernel/errors.ts'
import { Position } from '../kernel/event.schema.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** A call: where it is, what goes in, what comes out, how it may be refused. `path` is below `/api`, with `:name` for parameters. */
export interface Call<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType> {
  readonly method: Method
  readonly path: string
  readonly summary: string
  /** Who may ask: somebody who has signed in and completed the onboarding, somebody who has signed in, or anybody. */
  readonly open: 'onboarded' | 'signed_in' | 'anybody'
  readonly params: P
  readonly query: Q
  readonly body: B
  /** The status of success. */
  readonly status: 200 | 201
  readonly answer: A
  /** Refusals of its own, beside those that every call may have. */
  readonly faults: readonly FaultCode[]
}

export type AnyCall = Call<z.ZodType, z.ZodType, z.ZodType, z.ZodType>
export type ParamsOf<C extends AnyCall> = z.output<C['params']>
export type QueryOf<C extends AnyCall> = z.output<C['query']>
export type BodyOf<C extends AnyCall> = z.output<C['body']>
/** What a client sends: defaults may be left out. */
export type BodyInputOf<C extends AnyCall> = z.input<C['body']>
export type AnswerOf<C extends AnyCall> = z.output<C['answer']>

const nothing = z.object({})
type Nothing = typeof nothing
/** Every read may name the position that it must have seen. */
const reading = { minPosition: Position.optional() }
/** Every write tells where it ends in the log, and `stale` when the projection has not got there within 2 s. */
const written = { position: Position.optional(), stale: z.literal(true).optional() }
type Shape = Readonly<Record<string, z.ZodType>>
type NoMembers = Readonly<Record<never, z.ZodType>>

interface Stated<P extends z.ZodType> {
  readonly path: string
  readonly summary: string
  /** `onboarded` unless told. */
  readonly open?: AnyCall['open']
  readonly params?: P
  readonly faults?: readonly FaultCode[]
}

/** States a read; `query` is what it takes beside `minPosition`, `answer` the members of its answer. */
export function defineRead<A extends Shape, P extends z.ZodType = Nothing, Q extends Shape = NoMembers>(
  stated: Stated<P> & { readonly query?: Q; readonly answer: A },
): Call<P, z.ZodObject<Q & typeof reading>, Nothing, z.ZodObject<A>> {
  const { path, summary, open = 'onboarded', answer, faults = [] } = stated
  return {
    method: 'GET',
    path,
    summary,
    open,
    // Left out, a part is the one that its type defaults to.
    params: stated.params ?? (nothing as z.ZodType as P),
    query: z.object({ ...(stated.query ?? ({} as Q)), ...reading }),
    body: nothing,
    status: 200,
    answer: z.object(answer),
    faults,
  }
}

/** States a write; `answer` is what it answers beside `position` and `stale`. */
export function defineWrite<A extends Shape, P extends z.ZodType = Nothing, B extends z.ZodType = Nothing>(
  stated: Stated<P> & {
    readonly method: Exclude<Method, 'GET'>
    readonly body?: B
    readonly status?: 200 | 201
    readonly answer: A
  },
): Call<P, Nothing, B, z.ZodObject<A & typeof written>> {
  const { method, path, summary, open = 'onboarded', status = 200, answer, faults = [] } = stated
  return {
    method,
    path,
    summary,
    open,
    params: stated.params ?? (nothing as z.ZodType as P),
    query: nothing,
    body: stated.body ?? (nothing as z.ZodType as B),
    status,
    answer: z.object({ ...answer, ...written }),
    faults,
  }
}
