/** Defines routes by their steps, in order: the call, the guards that check a request, and the work. */
import { Readable } from 'node:stream'
import { Router } from '@koa/router'
import type { Context, Middleware } from 'koa'
import { v5 as uuidv5 } from 'uuid'
import type { z } from 'zod'
import type { AnswerOf, AnyCall, BodyOf, ParamsOf, QueryOf } from '#domain/api/call.schema.ts'
import { readInput } from '#domain/kernel/readInput.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { Idempotency } from '#platform/commands/idempotency.ts'
import { requestIdOf } from '#platform/telemetry/requests.ts'
import type { Identity } from './session.ts'

/** A request whose input was validated against its call. */
export interface CallRequest<C extends AnyCall> {
  readonly call: C
  readonly params: ParamsOf<C>
  readonly query: QueryOf<C>
  readonly body: BodyOf<C>
  /** The session of the bearer token; `null` without a valid one. */
  readonly identity: Identity | null
  /** The UUID of this write, derived from `Idempotency-Key`, person and address, or a new one. */
  readonly commandId: string
  /** The id of this request, which becomes the correlation id of everything that the request causes. */
  readonly requestId: string
  /** Whether the same write was already requested with the same idempotency key. */
  readonly again: boolean
  /** The client's address, the host name that it used, whether it uses https, its cookies, and its headers (`get`). */
  readonly client: Pick<Context, 'ip' | 'host' | 'secure' | 'cookies' | 'get'>
}

/** Verifies something about a request. Returns what is to be added to the request, or throws a `Fault`. */
export type Guard<S, Needs, Gives> = (request: Needs, services: S) => Promise<Gives>

export interface Route<S> {
  readonly call: AnyCall
  /** Throws when the person may not make the call at all, whatever its input is. */
  authorize(request: Pick<CallRequest<AnyCall>, 'identity' | 'query'>, services: S): Promise<unknown>
  /**
   * Handles a request. After the guards, it calls `accept`, which records the idempotency key of a write and returns whether the key was used before.
   */
  serve(request: CallRequest<AnyCall>, services: S, accept: Accept): Promise<unknown>
}

type Accept = () => Promise<{ readonly again: boolean }>

/** The UTF-8 bytes of an answer's JSON, for an answer that is not serialized again for each request. */
export type JsonText<Answer> = Buffer & { readonly shows?: Answer }

type Handle<C extends AnyCall, S, G> = (
  request: CallRequest<C> & G,
  services: S,
) => Promise<AnswerOf<C> | JsonText<AnswerOf<C>>>

/** The type of `route` for the routes of one service. */
export interface RouteOf<S> {
  <C extends AnyCall, G>(call: C, guard: Guard<S, CallRequest<C>, G>, handle: Handle<C, S, G>): Route<S>
  <C extends AnyCall, G, H>(
    call: C,
    guard: Guard<S, CallRequest<C>, G>,
    next: Guard<S, CallRequest<C> & G, H>,
    handle: Handle<C, S, G & H>,
  ): Route<S>
  <C extends AnyCall, G, H, I>(
    call: C,
    guard: Guard<S, CallRequest<C>, G>,
    next: Guard<S, CallRequest<C> & G, H>,
    last: Guard<S, CallRequest<C> & G & H, I>,
    handle: Handle<C, S, G & H & I>,
  ): Route<S>
}

/** Makes the function `route` of a service. Each step of a route gets everything that earlier steps have verified. */
export function routeWith<S>(): RouteOf<S> {
  return (call: AnyCall, ...steps: Guard<S, never, unknown>[]) => ({
    call,
    // The first guard identifies the person, unless the call is open to anybody.
    authorize: async (request: unknown, services: S) => steps[0]?.(request as never, services),
    async serve(request: CallRequest<AnyCall>, services: S, accept: Accept) {
      let known: CallRequest<AnyCall> = request
      const guards = steps.slice(0, -1)
      // The casts hold because the overloads have checked that each step gets what it needs.
      for (const guard of guards) known = { ...known, ...((await guard(known as never, services)) as object) }
      known = { ...known, ...(await accept()) }
      return steps.at(-1)?.(known as never, services)
    },
  })
}

export interface Mounting {
  /** Returns a new UUID. */
  fresh(): string
  readonly idempotency: Idempotency
}

/**
 * Middleware for routes below a prefix: validates the input, and responds with the call's status. Requests for other paths are passed on. A request
 * without a valid token, for a call that requires one, is refused before its input is validated.
 */
export function mount<S>(
  prefix: string,
  routes: readonly Route<S>[],
  services: S,
  { fresh, idempotency }: Mounting,
): Middleware {
  // A router tries one route after the other, so each has only the routes of a method whose paths begin alike.
  const routers = new Map<string, Router>()
  for (const { call, authorize, serve } of routes) {
    const group = groupOf(call.method, call.path)
    const router = routers.get(group) ?? new Router({ prefix, sensitive: true })
    routers.set(group, router)
    router.register(call.path, [call.method], async (context) => {
      const identity: Identity | null = context.state.identity ?? null
      if (identity === null && call.open !== 'anybody') throw new Fault('sign_in_required')
      const { params, query, body } = await inputOf(call, context, async () => {
        if (call.open !== 'anybody') await authorize({ identity, query: {} }, services)
      })
      const requestId = requestIdOf(context) ?? fresh()
      const key = keyOf(context)
      // Calls that are open to anybody have no idempotency keys.
      const isKeyed = call.method !== 'GET' && call.open !== 'anybody' && identity !== null && key !== ''
      const commandId = isKeyed ? commandIdOf(key, identity, `${call.method} ${context.path}`) : fresh()
      const accept = async () =>
        isKeyed ? idempotency.accept(commandId, identity.userId, body) : { again: false }
      const answer = await serve(
        { call, params, query, body, identity, commandId, requestId, again: false, client: context },
        services,
        accept,
      )
      context.status = call.status
      if (Buffer.isBuffer(answer)) context.type = 'json'
      if (call.file === undefined) context.body = answer
      else sendFile(context, call.file, answer)
    })
  }
  const dispatches = new Map([...routers].map(([group, router]) => [group, router.routes()]))
  return (context, next) => {
    const { method, path } = context
    const dispatch = dispatches.get(groupOf(method === 'HEAD' ? 'GET' : method, path.slice(prefix.length)))
    return dispatch === undefined ? next() : dispatch(context as Parameters<typeof dispatch>[0], next)
  }
}

/** The method, and the first part of the path, which is the same text in all paths of a call. */
function groupOf(method: string, path: string): string {
  const end = path.indexOf('/', 1)
  return `${method} ${end === -1 ? path : path.slice(0, end)}`
}

function sendFile(context: Context, { type, name }: NonNullable<AnyCall['file']>, pieces: unknown): void {
  context.set({
    'content-disposition': `attachment; filename="${name}"`,
    'x-content-type-options': 'nosniff',
  })
  context.type = type
  // The cast holds because a call with a file is defined by `defineFile`, which ensures this type.
  context.body = Readable.from(pieces as AsyncIterable<string>)
}

const commandNamespace = 'c6d9b0ee-5d0c-4a5e-9b0e-4f2e6f1f7a11'

function keyOf(context: Context): string {
  const key = context.get('idempotency-key')
  if (key.length > 200)
    throw new Fault(
      'invalid_input',
      'An Idempotency-Key can be at most 200 characters long.',
      'Idempotency-Key',
    )
  return key
}

/** The command id of a write that `mount` does not serve; `undefined` without an `Idempotency-Key`. */
export function keyedCommandId(context: Context, identity: Identity): string | undefined {
  const key = keyOf(context)
  return key === '' ? undefined : commandIdOf(key, identity, `${context.method} ${context.path}`)
}

/** The command id of a write. It is the same for the same key, person and address. */
function commandIdOf(key: string, { userId }: Identity, address: string): string {
  return uuidv5(JSON.stringify([userId, address, key]), commandNamespace)
}

/**
 * The validated input of a call. If it is invalid, calls `authorize` before it throws, so that people who may not make the call get no errors about
 * the input.
 */
async function inputOf(call: AnyCall, context: Context, authorize: () => Promise<void>) {
  try {
    return {
      params: checked(call.params, context.params),
      query: checked(call.query, context.query),
      body: checked(call.body, context.request.body ?? {}),
    }
  } catch (fault) {
    await authorize()
    throw fault
  }
}

function checked(schema: z.ZodType, input: unknown): unknown {
  const result = readInput(schema, input)
  if (result.kind === 'read') return result.data
  throw new Fault('invalid_input', result.sentence, result.field)
}
