/** Text of a message as it is written: redacted, in few pieces, each with its place in the message. */
import { v5 as uuidv5 } from 'uuid'
import type { Fence } from '#domain/task/commands.ts'
import { MessageTextRecorded } from '#domain/task/terminal.ts'
import { recordOutput, type OutputRecorder } from '../output/record.ts'
import { realTimers } from '../output/coalesce.ts'
import type { Redaction } from '../output/redaction.ts'
import type { TerminalWriter } from './terminalWriter.ts'

export interface MessageTexts {
  /** More of a text. */
  write(messageKey: string, text: string): Promise<void>
  /** The text is whole; resolves with the id of its message once every piece is recorded. */
  finish(messageKey: string): Promise<string>
}

/** People read this as it is written: less than half of what output may wait, for a few more appends a second. */
const betweenPiecesMs = 15

/** Message ids follow from the fence and the agent's own key, so that pieces and the whole meet under one id. */
export function messageTexts(terminal: TerminalWriter, fence: Fence, redaction: Redaction): MessageTexts {
  const open = new Map<string, OutputRecorder>()
  const idOf = (messageKey: string) => uuidv5(`${fence.attempt}:${messageKey}`, fence.executionId)

  function recorderOf(messageKey: string): OutputRecorder {
    const known = open.get(messageKey)
    if (known) return known
    let offset = 0
    const recorder = recordOutput({
      redaction,
      timers: realTimers,
      intervalMs: betweenPiecesMs,
      emit: async (text) => {
        const data = { ...fence, messageId: idOf(messageKey), offset }
        offset += text.length
        await terminal.append(MessageTextRecorded.of(data, { text }))
      },
    })
    open.set(messageKey, recorder)
    return recorder
  }

  return {
    write: (messageKey, text) => recorderOf(messageKey).write(text),
    async finish(messageKey) {
      await open.get(messageKey)?.end()
      open.delete(messageKey)
      return idOf(messageKey)
    },
  }
}
