/** What the broker needs to know of an API of models: each has a folder, and a line in `apis.ts`. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { KeyProvider } from '#domain/agentKeys.ts'
import type { KeyUse } from '#platform/credentials/modelKeys.ts'
import { jsonOf } from '#platform/json.ts'
import type { ModelUsage, UsageReader } from './meter.ts'

export interface ModelApi extends UsageReader {
  readonly label: string
  /** Whose keys people and projects may bring for it; absent where they may not. */
  readonly provider?: KeyProvider
  /** The paths of POST requests that are let through; others could use the key unmetered. */
  readonly paths: readonly string[]
  /** Of these, the one whose answers use tokens. */
  readonly meteredPath: string
  /** `passed`: the headers that are sent besides. */
  credentials(apiKey: string, use?: KeyUse, passed?: OutgoingHttpHeaders): OutgoingHttpHeaders
  /** The headers to pass on, of a client's headers without credentials and hop-by-hop headers. */
  passedHeaders(headers: IncomingHttpHeaders, may: MayFetch): OutgoingHttpHeaders
  /** The body of an error, in the shape that the clients of this API understand. */
  errorBody(type: string, message: string): object
  /** Why a request, by its body, is not passed on: it would make the model's service fetch or run something. `undefined` when it is. */
  refusal(request: unknown, may: MayFetch): string | undefined
  /** What the built-in scripted model answers to a request; `undefined` when it is not one of this API. Without it there is no such model. */
  scripted?(request: unknown, path: string): ScriptedAnswer | undefined
}

/** Whether a project lets the model's side fetch from the network. */
export interface MayFetch {
  readonly modelFetches: boolean
}

export type Checked =
  /** The body as it was parsed and checked: if a name occurs twice in the original, the model's service might take the other one. */
  | {
      readonly kind: 'fine'
      readonly body: Uint8Array
      /** The model that it asks, where it names one. */
      readonly model: string | undefined
    }
  | { readonly kind: 'refused'; readonly sentence: string }

const Named = z.object({ model: z.string() })

/** Checks the body of a request for what would make the model's service fetch or run something. */
export function checkBody(api: Pick<ModelApi, 'refusal'>, body: Uint8Array, may: MayFetch): Checked {
  const request = jsonOf(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'))
  if (request === undefined) return { kind: 'refused', sentence: 'The body of this request is not JSON.' }
  const sentence = api.refusal(request, may)
  if (sentence !== undefined) return { kind: 'refused', sentence }
  const { data } = Named.safeParse(request)
  return { kind: 'fine', body: Buffer.from(JSON.stringify(request)), model: data?.model }
}

/** Why a request is refused that is none of its API. */
export const invalid = ({ issues }: z.ZodError): string =>
  `${issues[0]?.path.join('.') || 'The body'} is not valid.`

/** Why something is refused that no project can allow. */
export const outside = (field: string, does: string): string =>
  `${field}: this ${does} from outside the sandbox, past the hosts that the project allows, and is not passed on.`

/** Why something is refused that a project can allow. */
export const fetches = (field: string, does: string): string =>
  `${outside(field, does)} The project's network settings can allow it.`

export type ScriptedAnswer =
  | { readonly kind: 'json'; readonly body: object; readonly usage?: ModelUsage }
  | { readonly kind: 'events'; readonly frames: Iterable<AnswerFrame>; readonly usage: ModelUsage }

/** A server-sent event of an answer; `paced` when a model would take its time before it. */
export interface AnswerFrame {
  readonly frame: string
  readonly paced: boolean
}

export function answerFrame(data: { type: string; [field: string]: unknown }, paced = false): AnswerFrame {
  return { frame: `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`, paced }
}

/** A text in words, each with the space around it. */
export function wordsOf(text: string): readonly string[] {
  return text.match(/\s*\S+\s*/g) ?? []
}

/** Tokens, as a quarter of the characters: near enough for a model that has no tokenizer. */
export function tokensIn(value: unknown): number {
  return Math.ceil((JSON.stringify(value) ?? '').length / 4)
}
