/** Records what a run prints in the terminal's stream, with one recorder per channel and with secrets removed. */
import { stripVTControlCharacters } from 'node:util'
import type { Fence } from '#domain/task/commands.ts'
import type { ExecutionKind } from '#domain/task/events.ts'
import { TerminalOutputRecorded, type OutputChannel } from '#domain/task/terminalEvents.ts'
import type { Redaction } from '../../redaction/redaction.ts'
import { recordOutput, type OutputRecorder } from './outputRecorder.ts'
import type { TerminalWriter } from './terminalWriter.ts'

export interface RunOutput {
  readonly stdout: OutputRecorder
  readonly stderr: OutputRecorder
  /** Records a line of our own after the earlier output. It is shown in the terminal and does not count as output of a command. */
  note(text: string): Promise<void>
  /** Begins to keep the last part of the recorded output. The returned function returns the kept text. */
  keepLast(): () => Promise<string>
  /** Records what is not recorded yet of stdout and stderr. */
  end(): Promise<void>
}

/** How many characters of the output `keepLast` keeps at most. */
const longestLast = 4_000

export function runOutput(
  terminal: TerminalWriter,
  { fence, kind, redaction }: { fence: Fence; kind: ExecutionKind; redaction: Redaction },
): RunOutput {
  const recorder = (channel: OutputChannel, of: ExecutionKind = kind): OutputRecorder =>
    recordOutput({
      redaction,
      emit(text) {
        if (of === kind) printed?.add(text)
        return terminal.append(TerminalOutputRecorded.of({ ...fence, kind: of, channel }, { text }))
      },
    })
  let printed: ReturnType<typeof lastOf> | undefined
  let stdout = recorder('stdout')
  let stderr = recorder('stderr')
  const end = async () => {
    await stdout.end()
    await stderr.end()
  }
  return {
    stdout: { write: (output) => stdout.write(output), end: () => stdout.end() },
    stderr: { write: (output) => stderr.write(output), end: () => stderr.end() },
    async note(text) {
      const before = [stdout, stderr]
      stdout = recorder('stdout')
      stderr = recorder('stderr')
      for (const one of before) await one.end()
      const note = recorder('stdout', 'turn')
      await note.write(text)
      await note.end()
    },
    keepLast() {
      const last = lastOf(longestLast)
      printed = last
      // A control sequence within a secret hides the secret from the first search. So the text is searched again without control sequences.
      return () => redaction.text(last.text())
    },
    end,
  }
}

/**
 * Keeps the end of a text that comes in pieces, without terminal control sequences. If the beginning is left out, the result is a line with `…` and
 * then, if possible, whole lines.
 */
export function lastOf(most: number) {
  let kept = ''
  let isCut = false
  return {
    add(piece: string): void {
      kept += piece
      if (kept.length <= 2 * most) return
      kept = kept.slice(-most)
      isCut = true
    },
    text(): string {
      const clean = stripVTControlCharacters(kept)
      if (!isCut && clean.length <= most) return clean.trimEnd()
      const end = clean.slice(-most)
      const line = end.indexOf('\n') + 1
      return `…\n${end.slice(line === end.length ? 0 : line)}`.trimEnd()
    },
  }
}
