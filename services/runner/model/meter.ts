/** Reads the use of tokens off an answer of a model's API while it passes, without touching it. */
import { StringDecoder } from 'node:string_decoder'
import { jsonIn } from '../json.ts'
import type { ModelApi } from './api.ts'

/** Tokens that one request used, as the API counts them: the four kinds do not overlap. */
export interface ModelUsage {
  readonly model: string
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
}

/** All tokens of a request, of whatever kind. */
export function totalTokens(usage: ModelUsage): number {
  return usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
}

export interface Meter {
  read(bytes: Uint8Array): void
  /** What was counted, also of an answer that broke off; `undefined` when it said nothing of use. */
  total(): ModelUsage | undefined
}

const noUsage: ModelUsage = {
  model: '',
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
}
const longestLine = 1024 * 1024
const longestJson = 16 * 1024 * 1024

/** A meter for an answer of this content type. Answers of other types, and lines that are too long, are not counted. */
export function createMeter({ readUsage }: Pick<ModelApi, 'readUsage'>, contentType: string): Meter {
  const streamed = contentType.startsWith('text/event-stream')
  const whole = contentType.startsWith('application/json')
  const limit = streamed ? longestLine : longestJson
  const decoder = new StringDecoder('utf8')
  let usage: ModelUsage | undefined
  let pending = ''
  let overlong = false

  // The API repeats its counts as they grow: the latest that it gives stands.
  const count = (json: string) => {
    const said = readUsage(jsonIn(json))
    if (said !== undefined) usage = { ...noUsage, ...usage, ...said }
  }
  const keep = (text: string) => {
    if (pending.length + text.length > limit) overlong = true
    pending = overlong ? '' : pending + text
  }

  return {
    read(bytes) {
      if (!streamed && !whole) return
      const text = decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
      if (whole) return keep(text)
      const lines = text.split('\n')
      for (const [i, line] of lines.entries()) {
        keep(line)
        if (i === lines.length - 1) break
        if (pending.startsWith('data:')) count(pending.slice('data:'.length))
        pending = ''
        overlong = false
      }
    },
    total() {
      if (whole && pending !== '') count(pending)
      return usage
    },
  }
}
