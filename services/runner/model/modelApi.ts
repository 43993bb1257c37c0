/** The facts that the broker needs about an API of models. Each API has a folder, and a line in `apis.ts`. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { KeyProvider } from '#domain/agentKeys.ts'
import type { KeyUse } from '#platform/credentials/modelKeys.ts'
import { jsonOf } from '#platform/json.ts'
import type { ModelUsage, UsageReader } from './meter.ts'

export interface ModelApi extends UsageReader {
  readonly label: string
  /** The provider for which people and projects may bring keys; absent when they may not. */
  readonly provider?: KeyProvider
  /**
   * The paths of POST requests that are forwarded; `{model}` stands for any name. Requests to other paths could use the key without being metered.
   */
  readonly paths: readonly string[]
  /** The paths among `paths` whose answers use tokens. */
  readonly meteredPaths: readonly string[]
  /** The query that is sent with a request to one of `paths`. Without this function, the client's own query is sent. */
  queryOf?(served: string): string
  /** Returns the headers that carry the key. They take the place of headers with the same names in `passed`, the forwarded headers. */
  credentials(apiKey: string, use?: KeyUse, passed?: OutgoingHttpHeaders): OutgoingHttpHeaders
  /** Returns the headers to forward. `headers` are the client's headers, already without credentials and hop-by-hop headers. */
  passedHeaders(headers: IncomingHttpHeaders, may: MayFetch): OutgoingHttpHeaders
  /** The body of an error, in the form that clients of this API understand. */
  errorBody(type: string, message: string, status: number): object
  /**
   * Why a request body is not forwarded: it is not valid, or would make the model's service fetch, run or keep something. `undefined` for a body that
   * is forwarded.
   */
  refusal(request: unknown, may: MayFetch): string | undefined
  /**
   * The answer of the built-in scripted model; `undefined` when the request is not one of this API. An API without this function has no scripted
   * model.
   */
  scripted?(request: unknown, path: string): ScriptedAnswer | undefined
}

/** Whether a project allows the model's service to fetch from the network. */
export interface MayFetch {
  readonly modelFetches: boolean
}

/** A path of a model's API that the broker forwards. */
export interface Served {
  readonly path: string
  readonly isMetered: boolean
  readonly query: string | undefined
  /** The model, if the path names it. */
  readonly model: string | undefined
}

export function servedBy(api: ModelApi, path: string): Served | undefined {
  for (const one of api.paths) {
    const [before = '', after] = one.split('{model}')
    const isMetered = api.meteredPaths.includes(one)
    const served = { path, isMetered, query: api.queryOf?.(one) }
    if (after === undefined && path === one) return { ...served, model: undefined }
    if (after === undefined || !path.startsWith(before) || !path.endsWith(after)) continue
    const model = path.slice(before.length, -after.length)
    if (/^[\w.-]{1,200}$/.test(model)) return { ...served, model }
  }
  return undefined
}

export type Checked =
  /**
   * A request body as it was parsed and checked. It is forwarded in this form: if a name occurs twice in the original, the model's service might read
   * the other value.
   */
  | {
      readonly kind: 'fine'
      readonly body: Uint8Array
      /** The model that the request names, if it names one. */
      readonly model: string | undefined
    }
  | { readonly kind: 'refused'; readonly sentence: string }

const Named = z.object({ model: z.string() })

/** Checks a request body. Refuses one that is not JSON, and one for which the API has a `refusal`. */
export function checkBody(api: Pick<ModelApi, 'refusal'>, body: Uint8Array, may: MayFetch): Checked {
  const request = jsonOf(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'))
  if (request === undefined) return { kind: 'refused', sentence: 'The body of this request is not JSON.' }
  const sentence = api.refusal(request, may)
  if (sentence !== undefined) return { kind: 'refused', sentence }
  const { data } = Named.safeParse(request)
  return { kind: 'fine', body: Buffer.from(JSON.stringify(request)), model: data?.model }
}

/** The sentence for a request that is not valid in its API. */
export const invalid = ({ issues }: z.ZodError): string =>
  `${issues[0]?.path.join('.') || 'The body'} is not valid.`

/** The sentence for a refusal that no project can lift. */
export const outside = (field: string, does: string): string =>
  `${field}: this ${does} from outside the sandbox, past the hosts that the project allows, and is not passed on.`

/** The sentence for a refusal that a project can lift. */
export const fetches = (field: string, does: string): string =>
  `${outside(field, does)} The project's network settings can allow it.`

export type ScriptedAnswer =
  | { readonly kind: 'json'; readonly body: object; readonly usage?: ModelUsage }
  | { readonly kind: 'events'; readonly frames: Iterable<AnswerFrame>; readonly usage: ModelUsage }

/** A server-sent event of an answer; `paced` when a real model would take some time before it. */
export interface AnswerFrame {
  readonly frame: string
  readonly paced: boolean
}

export function answerFrame(data: { type: string; [field: string]: unknown }, paced = false): AnswerFrame {
  return { frame: `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`, paced }
}

/** Splits a text into words, each with the space around it. */
export function wordsOf(text: string): readonly string[] {
  return text.match(/\s*\S+\s*/g) ?? []
}

/** An estimate of tokens, a quarter of the characters: sufficient for a model that has no tokenizer. */
export function tokensIn(value: unknown): number {
  return Math.ceil((JSON.stringify(value) ?? '').length / 4)
}
