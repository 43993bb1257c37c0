/** Events for the contract suites: valid, with invented facts. */
import { randomUUID } from 'node:crypto'
import type { EventToAppend } from '#platform/ports/eventStore.ts'

/** An event at `revision` of `stream`; its id is new unless one is given. */
export function sampleEvent(stream: string, revision: number, id: string = randomUUID()): EventToAppend {
  return {
    id,
    stream,
    revision,
    type: 'SampleRecorded',
    version: 1,
    at: '2025-01-02T03:04:05.678Z',
    data: { nested: { list: [1, 'two', null, true] }, text: 'naïve 👩‍💻 \u0000 " \\', revision },
    content: Buffer.from(`sealed ${revision}`).toString('base64'),
    meta: {
      actor: { kind: 'user', userId: 'u1' },
      commandId: 'c1',
      correlationId: 'c0',
      causationId: null,
      follows: null,
      content: { sealed: 'c'.repeat(64), commitment: 'd'.repeat(64) },
      prev: revision === 0 ? '' : 'a'.repeat(64),
      hash: 'b'.repeat(64),
    },
  }
}

/** `count` consecutive events, the first at revision `from`. */
export function sampleEvents(stream: string, from: number, count: number): EventToAppend[] {
  return Array.from({ length: count }, (_, index) => sampleEvent(stream, from + index))
}
