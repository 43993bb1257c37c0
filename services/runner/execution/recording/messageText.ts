/** The text of a message while the agent writes it: redacted, sent to viewers at once, and recorded in few pieces with the time of each word. */
import { v5 as uuidv5 } from 'uuid'
import type { Fence } from '#domain/task/commands.ts'
import { MessageTextRecorded } from '#domain/task/terminalEvents.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { createCoalescer, recordOutput, type OutputRecorder } from './outputRecorder.ts'
import type { Redaction } from '../../redaction/redaction.ts'
import type { TerminalWriter } from './terminalWriter.ts'

export interface MessageTexts {
  write(messageKey: string, text: string): Promise<void>
  /** Sends viewers more of a thought. Nothing of it is recorded before it is complete. */
  think(messageKey: string, text: string): Promise<void>
  /** Called when the text was broken off and the agent will begin it again from the start. */
  restart(messageKey: string): Promise<void>
  /** Called when the text or thought is complete. Resolves when every piece of it is recorded or is being appended. */
  finish(messageKey: string): Promise<FinishedText>
}

interface FinishedText {
  readonly messageId: string
  /** Resolves when every piece is recorded. */
  readonly recorded: Promise<void>
}

interface TextRecorder extends Pick<OutputRecorder, 'write'> {
  /** Records the rest. Resolves when all of it is recorded or is being appended; the result's `recorded` resolves when it is recorded. */
  end(): Promise<Pick<FinishedText, 'recorded'>>
}

interface MessageTextDeps {
  readonly terminal: Pick<TerminalWriter, 'append' | 'tell'>
  readonly fence: Fence
  readonly redaction: Redaction
  readonly clock: Clock
}

/** The time between two messages to viewers in milliseconds: short enough to look smooth on a screen, and long enough to spare the connection. */
const betweenTellingsMs = 15
/** How many messages may be sent to viewers at once after a pause, because the words of a model come unevenly. */
const tellingsAtOnce = 3
/**
 * The time between two messages about a thought in milliseconds. It is longer than `betweenTellingsMs`, because each message repeats `toldAgain`
 * characters.
 */
const betweenThoughtsMs = 100
const recorded = { intervalMs: 250, pieceBytes: 4_096, pendingCharacters: 65_536 } as const
/** Each message to viewers repeats up to this many of the latest unrecorded characters, for viewers that missed an earlier message. */
const toldAgain = 2_000
/** The number of characters of a thought that viewers are sent while it is written. */
const toldOfThought = 32_000

/**
 * Makes the texts of one attempt of an execution. A message's id is made from the attempt and from the agent's own key for the text. So the pieces of
 * a message and the whole message have the same id.
 */
export function messageTexts(deps: MessageTextDeps): MessageTexts {
  const { attempt, executionId } = deps.fence
  const open = new Map<string, TextRecorder>()
  const idOf = (messageKey: string) => uuidv5(`${attempt}:${messageKey}`, executionId)
  function recorderOf(messageKey: string, make: typeof textRecorder): TextRecorder {
    const recorder = open.get(messageKey) ?? make(deps, idOf(messageKey))
    open.set(messageKey, recorder)
    return recorder
  }
  async function end(messageKey: string): Promise<FinishedText> {
    const ended = await open.get(messageKey)?.end()
    open.delete(messageKey)
    return { messageId: idOf(messageKey), recorded: ended?.recorded ?? Promise.resolve() }
  }
  return {
    write: (messageKey, text) => recorderOf(messageKey, textRecorder).write(text),
    think: (messageKey, text) => recorderOf(messageKey, thoughtTeller).write(text),
    restart: async (messageKey) => (await end(messageKey)).recorded,
    finish: end,
  }
}

function textRecorder(
  { terminal, fence, redaction, clock }: MessageTextDeps,
  messageId: string,
): TextRecorder {
  const spoken = spokenTimes()
  let waiting = ''
  let offset = 0
  /** How many characters are recorded or being appended. */
  let begun = 0
  let onBegun = () => {}
  const pieces = createCoalescer({
    ...recorded,
    async emit(text) {
      const data = { ...fence, messageId, offset }
      offset += text.length
      waiting = waiting.slice(text.length)
      const event = MessageTextRecorded.of(data, { text, ...spoken.take(text.length) })
      await terminal.append(event, () => {
        begun = data.offset + text.length
        onBegun()
      })
    },
  })
  const live = recordOutput({
    redaction,
    intervalMs: betweenTellingsMs,
    burst: tellingsAtOnce,
    emit(text) {
      spoken.add(text.length, clock.now().getTime())
      waiting += text
      const again = lastOf(waiting, Math.max(toldAgain, text.length))
      const from = offset + waiting.length - again.length
      terminal.tell({ executionId: fence.executionId, messageId, offset: from, text: again })
      return pieces.write(text)
    },
  })
  return {
    write: live.write,
    async end() {
      await live.end()
      const written = offset + waiting.length
      const lastBegun = new Promise<void>((resolve) => (onBegun = () => begun === written && resolve()))
      onBegun()
      const recorded = pieces.end()
      // If the recording fails, the fault is reported where `recorded` is awaited.
      recorded.catch(() => undefined)
      await Promise.race([lastBegun, recorded])
      return { recorded }
    },
  }
}

/** Sends viewers a thought as it is written, up to `toldOfThought` characters. */
function thoughtTeller({ terminal, fence, redaction }: MessageTextDeps, messageId: string): TextRecorder {
  let length = 0
  let latest = ''
  const thought = recordOutput({
    redaction,
    intervalMs: betweenThoughtsMs,
    emit(text) {
      length += text.length
      if (length > toldOfThought) return
      latest = lastOf(`${latest}${text}`, Math.max(toldAgain, text.length))
      const offset = length - latest.length
      terminal.tell({ executionId: fence.executionId, messageId, offset, text: latest, isThought: true })
    },
  })
  return {
    write: thought.write,
    async end() {
      await thought.end()
      return { recorded: Promise.resolve() }
    },
  }
}

/** The last `most` code units of a text, or one less if that would split a character. */
const lastOf = (text: string, most: number): string => text.slice(-most).replace(/^[\uDC00-\uDFFF]/, '')

/** Remembers when the unrecorded characters were written, in order. */
function spokenTimes() {
  let chunks: { readonly length: number; readonly at: number }[] = []
  return {
    add(length: number, at: number): void {
      if (length > 0) chunks.push({ length, at })
    },
    /** Removes and returns the times of the next `length` characters, in the form of `MessageTextRecorded`. */
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
        // The machine's clock may have been set back in the meantime.
        chunks: taken.map(({ length: characters, at }) => [characters, Math.max(0, at - begun)]),
      }
    },
  }
}
