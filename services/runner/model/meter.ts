/** Reads token usage from an answer of a model's API while the answer is forwarded unchanged. */
import { StringDecoder } from 'node:string_decoder'
import type { TokenCounts } from '#platform/telemetry/telemetry.ts'
import { jsonOf } from '#platform/json.ts'
import { createLineSplitter } from '../lines.ts'

/** The tokens that one request used. */
export interface ModelUsage extends TokenCounts {
  readonly model: string
}

export function totalTokens(usage: TokenCounts): number {
  return usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
}

export interface Meter {
  read(bytes: Uint8Array): void
  /** The usage so far, even of an answer that was broken off; `undefined` when the answer had none. */
  total(): ModelUsage | undefined
  /** About how many tokens the answer has had so far, for an answer that has no usage: one for each event of a stream. */
  estimate(): number
}

const noUsage: ModelUsage = {
  model: '',
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
}
/** The longest JSON that is read, in characters: the last event of a stream may repeat the whole answer, with its instructions and tools. */
const longestJson = 16 * 1024 * 1024

export interface UsageReader {
  /** Reads the usage in one JSON value: a whole answer, or an event of a stream. Missing fields were not reported. */
  readUsage(json: unknown): Partial<ModelUsage> | undefined
}

/**
 * Makes a meter for an answer of type `contentType`. Answers other than event streams and JSON are not counted, nor are lines and JSON that are too
 * long.
 */
export function createMeter({ readUsage }: UsageReader, contentType: string): Meter {
  const isStream = contentType.startsWith('text/event-stream')
  const isJson = contentType.startsWith('application/json')
  const decoder = new StringDecoder('utf8')
  const lines = createLineSplitter(longestJson)
  let usage: ModelUsage | undefined
  let json = ''
  let isTooLong = false
  let bytesRead = 0
  let events = 0

  // The counts in the API's reports only grow, so the latest report replaces the earlier ones.
  const count = (value: unknown): void => {
    const counted = readUsage(value)
    if (counted !== undefined) usage = { ...noUsage, ...usage, ...counted }
  }
  return {
    read(bytes) {
      bytesRead += bytes.byteLength
      if (!isStream && !isJson) return
      const text = decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
      if (isJson) {
        isTooLong ||= json.length + text.length > longestJson
        json = isTooLong ? '' : json + text
      } else
        for (const line of lines.push(text)) {
          if (!line.text.startsWith('data:')) continue
          events += 1
          if (!line.overlong) count(jsonOf(line.text.slice('data:'.length)))
        }
    },
    total() {
      if (json !== '') count(jsonOf(json))
      return usage
    },
    estimate: () => (isStream ? events : Math.ceil(bytesRead / 4)),
  }
}
