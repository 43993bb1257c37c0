/** How a call of the HTTP contract is stated: once, for the server, the client and the documentation. */
import type { z } from 'zod'
import type { FaultCode } from '../kernel/errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** A call: where it is, what goes in, what comes out, how it may be refused. `path` is below `/api`, with `:name` for parameters. */
export interface Call<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType> {
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly params: P
  readonly query: Q
  readonly body: B
  /** The status of success. */
  readonly status: 200 | 201
  readonly answer: A
  readonly faults: readonly FaultCode[]
}

export type AnyCall = Call<z.ZodType, z.ZodType, z.ZodType, z.ZodType>
export type ParamsOf<C extends AnyCall> = z.output<C['params']>
export type QueryOf<C extends AnyCall> = z.output<C['query']>
export type BodyOf<C extends AnyCall> = z.output<C['body']>
/** What a client sends: defaults may be left out. */
export type BodyInputOf<C extends AnyCall> = z.input<C['body']>
export type AnswerOf<C extends AnyCall> = z.output<C['answer']>

export function defineCall<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  A extends z.ZodType,
>(call: Call<P, Q, B, A>): Call<P, Q, B, A> {
  return call
}
