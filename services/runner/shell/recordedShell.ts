/** Records what a shell prints. Ends the shell when it has been open or idle for too long, or when no more output may be recorded. */
import type { Readable } from 'node:stream'
import type { Logger } from '#platform/log.ts'
import { idleShellMs, longestShellMs, shellEndSentences, type ShellEnd } from '#domain/task/shells.ts'
import { ShellOutputRecorded } from '#domain/task/terminalEvents.ts'
import { eventOverhead } from '../execution/recording/boundedRecording.ts'
import { recordOutput, type TypedOutputRecorder } from '../execution/recording/outputRecorder.ts'
import type { RecordingAllowance } from '../execution/recording/recordingAllowance.ts'
import type { TerminalWriters } from '../execution/recording/terminalWriters.ts'
import type { Redaction } from '../redaction/redaction.ts'
import type { Program, TerminalSize } from '../sandbox/program.ts'

export interface RecordedShell {
  readonly shellId: string
  input(bytes: Uint8Array): Promise<void>
  resize(size: TerminalSize): void
  /** Ends the shell. `sentence` tells the person why, if the sentence of the reason does not. */
  end(why: ShellEnd, sentence?: string): void
  /** Whether the shell takes no more input. Its end may not be recorded yet. */
  isOver(): boolean
  /** Settles when the shell and everything that it started has ended and, if possible, its end is recorded. Never rejects. */
  readonly ended: Promise<void>
}

interface ShellRecording {
  readonly terminals: Pick<TerminalWriters, 'append'>
  readonly allowance: RecordingAllowance
  readonly redaction: Redaction
  readonly logger: Pick<Logger, 'info'>
}

/** How long output that may begin a secret is held back when nothing follows. */
const revealMs = 20

/** How long the remaining output of a closed shell is read. A process outside of the shell may hold that output open. */
const heldOpenMs = 1_000

/** The last event of a shell's output. */
export function endOfShell(
  shellId: string,
  size: TerminalSize,
  ended: ShellEnd,
  sentence = shellEndSentences[ended],
) {
  const text = `\r\n[${sentence}]\r\n`
  return ShellOutputRecorded.of({ shellId, ...size, ended }, { text })
}

export function recordShell(
  { terminals, allowance, redaction, logger }: ShellRecording,
  { taskId, shellId, program, size: first }: ShellToRecord,
): RecordedShell {
  let size = first
  let why: ShellEnd | undefined
  let whyInWords: string | undefined
  let spent = 0
  let isOver = false
  const end = (reason: ShellEnd, sentence?: string): void => {
    if (why === undefined) whyInWords = sentence
    why ??= reason
    program.kill()
    void program.exited.then(() => setTimeout(() => program.stdout.destroy(), heldOpenMs).unref())
  }
  const output = recordOutput({
    redaction,
    async emit(text) {
      const bytes = Buffer.byteLength(text) + eventOverhead
      spent += bytes
      if (spent > allowance.bytes()) return end('output_limit')
      allowance.spend(bytes)
      const event = ShellOutputRecorded.of({ shellId, ...size, ended: null }, { text })
      await terminals.append(taskId, event).catch((fault: unknown) => {
        // Nothing may be printed that is not recorded.
        program.kill()
        throw fault
      })
    },
  })
  const tooLong = setTimeout(end, longestShellMs, 'too_long')
  const idle = setTimeout(end, idleShellMs, 'idle')
  async function untilEnd(): Promise<void> {
    try {
      program.stderr.resume()
      await record(program.stdout, output).catch((fault: unknown) => {
        if (why === undefined) throw fault
      })
      const { reason } = await program.exited
      isOver = true
      await output.end()
      const ended = why ?? (reason === 'lost' ? 'sandbox_ended' : 'exited')
      await terminals.append(taskId, endOfShell(shellId, size, ended, whyInWords))
    } catch (fault) {
      // Another runner has the task, or nothing can be recorded.
      logger.info({ err: fault, taskId }, 'a shell is no longer recorded')
    } finally {
      isOver = true
      clearTimeout(tooLong)
      clearTimeout(idle)
      program.kill()
      await program.exited
      await allowance.settled()
    }
  }
  return {
    shellId,
    end,
    isOver: () => isOver || why !== undefined,
    async input(bytes) {
      idle.refresh()
      if (program.stdin.write(bytes)) return
      await new Promise<void>((resolve) => {
        program.stdin.once('drain', resolve)
        void program.exited.then(() => resolve())
      })
    },
    resize(next) {
      size = next
      program.resize(next)
    },
    ended: untilEnd(),
  }
}

/** Records a stream to its end. */
async function record(stdout: Readable, output: TypedOutputRecorder): Promise<void> {
  let revealing: NodeJS.Timeout | undefined
  try {
    for await (const chunk of stdout) {
      clearTimeout(revealing)
      await output.write(Buffer.from(chunk))
      revealing = setTimeout(() => void output.reveal().catch(() => undefined), revealMs)
    }
  } finally {
    clearTimeout(revealing)
  }
}

interface ShellToRecord {
  readonly taskId: string
  readonly shellId: string
  readonly program: Program
  readonly size: TerminalSize
}
