/** A message's text while the agent writes it: redacted, sent to viewers at once, and recorded in few pieces with the time of each word. */
import { v5 as uuidv5 } from 'uuid'
import type { Fence } from '#domain/task/commands.ts'
import { MessageTextRecorded } from '#domain/task/terminal.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { createCoalescer, recordOutput, type OutputRecorder } from './outputRecorder.ts'
import type { Redaction } from '../../redaction/redaction.ts'
import type { TerminalWriter } from './terminalWriter.ts'

export interface MessageTexts {
  write(messageKey: string, text: string): Promise<void>
  /** The text broke off, and what is written of it next starts it from its beginning. */
  restart(messageKey: string): Promise<void>
  /** The text is whole; resolves with the id of its message once every piece is recorded. */
  finish(messageKey: string): Promise<string>
}

interface MessageTextDeps {
  readonly terminal: Pick<TerminalWriter, 'append' | 'tell'>
  readonly fence: Fence
  readonly redaction: Redaction
  readonly clock: Clock
}

/** Often enough for a frame of the screen, and seldom enough for a socket. */
const betweenTellingsMs = 15
const recorded = { intervalMs: 250, pieceBytes: 4_096, pendingCharacters: 65_536 } as const
/** Characters that are sent again until they are recorded, for viewers that missed them. */
const toldAgain = 2_000

/** A message's id is derived from the fence and the agent's own key, so that the pieces and the whole message have the same id. */
export function messageTexts({ terminal, fence, redaction, clock }: MessageTextDeps): MessageTexts {
  const open = new Map<string, OutputRecorder>()
  const idOf = (messageKey: string) => uuidv5(`${fence.attempt}:${messageKey}`, fence.executionId)

  function recorderOf(messageKey: string): OutputRecorder {
    const known = open.get(messageKey)
    if (known) return known
    const messageId = idOf(messageKey)
    const spoken = spokenTimes()
    let waiting = ''
    let offset = 0
    const pieces = createCoalescer({
      ...recorded,
      async emit(text) {
        const data = { ...fence, messageId, offset }
        offset += text.length
        waiting = waiting.slice(text.length)
        await terminal.append(MessageTextRecorded.of(data, { text, ...spoken.take(text.length) }))
      },
    })
    const live = recordOutput({
      redaction,
      intervalMs: betweenTellingsMs,
      emit(text) {
        spoken.add(text.length, clock.now().getTime())
        waiting += text
        const again = waiting.slice(-Math.max(toldAgain, text.length))
        const from = offset + waiting.length - again.length
        terminal.tell({ executionId: fence.executionId, messageId, offset: from, text: again })
        return pieces.write(text)
      },
    })
    const recorder: OutputRecorder = {
      write: live.write,
      async end() {
        await live.end()
        await pieces.end()
      },
    }
    open.set(messageKey, recorder)
    return recorder
  }

  async function restart(messageKey: string): Promise<void> {
    await open.get(messageKey)?.end()
    open.delete(messageKey)
  }
  return {
    write: (messageKey, text) => recorderOf(messageKey).write(text),
    restart,
    async finish(messageKey) {
      await restart(messageKey)
      return idOf(messageKey)
    },
  }
}

/** When the characters that are not recorded yet were written, in order. */
function spokenTimes() {
  let chunks: { readonly length: number; readonly at: number }[] = []
  return {
    add(length: number, at: number): void {
      if (length > 0) chunks.push({ length, at })
    },
    /** The times of the next `length` characters, in the form of `MessageTextRecorded`. */
    take(length: number): { begunAt: string; chunks: [length: number, afterMs: number][] } {
      const taken: typeof chunks = []
      let left = length
      while (left > 0) {
        const next = chunks.shift()
        if (next === undefined) break
        const { at } = next
        taken.push({ length: Math.min(next.length, left), at })
        if (next.length > left) chunks = [{ length: next.length - left, at }, ...chunks]
        left -= next.length
      }
      const begun = taken[0]?.at ?? 0
      return {
        begunAt: new Date(begun).toISOString(),
        // The machine's clock may have been set back meanwhile.
        chunks: taken.map(({ length: characters, at }) => [characters, Math.max(0, at - begun)]),
      }
    },
  }
}
