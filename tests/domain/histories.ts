/** Whole histories of task 1: the events, and between them the output and text of the terminal, in their common order. */
import * as fc from 'fast-check'
import { terminalItemOf, type HistoryItem } from '#domain/history/item.ts'
import { terminalStream } from '#domain/kernel/streams.ts'
import { MessageTextRecorded, TerminalOutputRecorded } from '#domain/task/terminalEvents.ts'
import { executionId, messageId, taskId } from './ids.ts'
import { recorded } from './recorded.ts'
import { lives, logOf } from './taskLives.ts'

const texts = [
  'words\n',
  'half a line',
  '\r50%',
  '\u001B[1m$ npm test\u001B[0m\n',
  '\u001B[31mred\u001B[0m\nand on',
  '\u001B]133;D;1\u0007',
]
const printed = fc.record({
  what: fc.constantFrom('output' as const, 'delta' as const),
  text: fc.constantFrom(...texts),
  channel: fc.constantFrom('stdout' as const, 'stderr' as const),
  execution: fc.nat(2),
})

/** The events are one second apart; positions increase over both streams. */
export const histories: fc.Arbitrary<readonly HistoryItem[]> = fc
  .record({ life: lives(), terminal: fc.array(fc.array(printed, { maxLength: 3 }), { maxLength: 40 }) })
  .map(({ life, terminal }) => {
    const items: HistoryItem[] = []
    const lengths = new Map<string, number>()
    const events = logOf(life)
    let revision = 0
    const at = () => new Date(Date.UTC(2026, 0, 1) + 1_000 * items.length).toISOString()
    for (const [index, event] of events.entries()) {
      items.push({ kind: 'event', event: { ...event, position: String(items.length + 1), at: at() } })
      // The text that is written at this point belongs to the message that is posted next, if there is one.
      const next = events.slice(index).find(({ type }) => type === 'MessagePosted')
      const written = next?.type === 'MessagePosted' ? next.data.messageId : messageId(9_000)
      for (const { what, text, channel, execution } of terminal[index] ?? []) {
        const attempt = { executionId: executionId(10_000 + execution), attempt: 1 }
        const offset = lengths.get(written) ?? 0
        const recording =
          what === 'output'
            ? TerminalOutputRecorded.of({ ...attempt, kind: 'turn', channel }, { text })
            : MessageTextRecorded.of(
                { ...attempt, messageId: written, offset },
                { text, begunAt: at(), chunks: [[text.length, 0]] },
              )
        if (what === 'delta') lengths.set(written, offset + text.length)
        const place = {
          revision,
          stream: terminalStream(taskId(1)),
          position: String(items.length + 1),
          at: at(),
        }
        const piece = recorded(recording, place)
        items.push(terminalItemOf({ ...piece, meta: { ...piece.meta, follows: event.revision } }))
        revision += 1
      }
    }
    return items
  })
