/** Reads messages of MCP servers, with limits on their size. */
import type { IncomingMessage } from 'node:http'
import { StringDecoder } from 'node:string_decoder'
import { z } from 'zod'
import { McpFault, messageBytes, tooLarge } from '#platform/mcp/remoteRequest.ts'

/** The maximum size of one streamed answer, in bytes. */
const streamBytes = 64 * 1024 * 1024

/** The fields of a tool that are read here; the rest is passed on. */
export const Tool = z.looseObject({ name: z.string() })
export type Tool = z.infer<typeof Tool>

export const Message = z.looseObject({
  id: z.union([z.string(), z.number()]).nullish(),
  method: z.string().optional(),
  params: z.looseObject({ name: z.string().optional(), cursor: z.string().nullish() }).nullish(),
  result: z
    .looseObject({
      tools: z.array(Tool).optional(),
      nextCursor: z.string().nullish(),
      // A tool's result has an array here. The answer to a form has an object with the values that the person entered.
      content: z.union([z.array(z.looseObject({ type: z.string() })), z.looseObject({})]).optional(),
    })
    .nullish(),
})
export type Message = z.infer<typeof Message>

/** The events of a streamed answer, each as its lines. Throws `McpFault` for an event beyond 4 MiB or a stream beyond 64 MiB. */
export async function* eventsIn(response: IncomingMessage): AsyncGenerator<readonly string[]> {
  const characters = new StringDecoder('utf8')
  let rest = ''
  let bytes = 0
  for await (const chunk of response) {
    if (!(chunk instanceof Buffer)) throw new TypeError('A body is bytes.')
    bytes += chunk.length
    if (bytes > streamBytes) throw new McpFault('It sent more than 64 MiB in one answer.')
    rest += characters.write(chunk)
    const parts = rest.split(/\r?\n\r?\n/)
    rest = parts.pop() ?? ''
    if (rest.length > messageBytes) throw new McpFault(tooLarge)
    for (const part of parts) {
      if (part.length > messageBytes) throw new McpFault(tooLarge)
      // A single carriage return ends a line as well.
      yield part.split(/\r\n|\r|\n/)
    }
  }
}

/** The data of a server-sent event that has these lines; empty when the event has no data. */
export function dataOf(lines: readonly string[]): string {
  return lines
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).replace(/^ /, ''))
    .join('\n')
}
