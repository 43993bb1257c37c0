/** Passes a process's output into the log: from bytes to characters, to redacted text, to few pieces. */
import { StringDecoder } from 'node:string_decoder'
import type { Redaction } from '../../redaction/redaction.ts'

export interface OutputRecorder {
  /** Adds output, which may be cut anywhere. Await the result before reading on: it resolves once there is room for more output. */
  write(output: Uint8Array | string): Promise<void>
  /** Records the rest of the output. Resolves when everything has been recorded. */
  end(): Promise<void>
}

export interface TypedOutputRecorder extends OutputRecorder {
  /** Records text that was held back as the possible beginning of a secret, if it is short: a person waits to see what they typed. */
  reveal(): Promise<void>
}

/** Records output with the secrets removed. Once `emit` has failed, every call fails with its error. */
export function recordOutput(
  options: CoalesceOptions & { readonly redaction: Redaction },
): TypedOutputRecorder {
  const decoder = new StringDecoder('utf8')
  const redactor = options.redaction.stream()
  const pieces = createCoalescer(options)
  /** Output that is still being searched for secrets, or waits behind such output. */
  let underWay: Promise<void> | undefined

  function take(piece: string | Promise<string>): Promise<void> {
    if (underWay === undefined && typeof piece === 'string') return pieces.write(piece)
    const before = underWay
    const written = (async () => {
      const text = await piece
      await before
      await pieces.write(text)
    })()
    underWay = written
    const over = () => {
      if (underWay === written) underWay = undefined
    }
    written.then(over, over)
    return written
  }
  return {
    write: (output) =>
      take(redactor.push(typeof output === 'string' ? output : decoder.write(Buffer.from(output)))),
    reveal: () => take(redactor.reveal()),
    async end() {
      const rest = decoder.end()
      if (rest !== '') void take(redactor.push(rest)).catch(() => undefined)
      const last = await redactor.end()
      if (last !== '' || underWay !== undefined) await take(last)
      await pieces.end()
    },
  }
}

interface CoalesceOptions {
  /** Records one piece. Called one at a time and in order. If it fails, every later `write` and `end` fails with the same error. */
  readonly emit: (piece: string) => void | Promise<void>
  /** The time between pieces, in milliseconds. */
  readonly intervalMs?: number
  /** How many pieces may be emitted at once after a pause; 1 by default. On average, there is still one piece per interval. */
  readonly burst?: number
  /** The longest piece, in UTF-8 bytes. */
  readonly pieceBytes?: number
  /** How many characters may wait before `write` makes its caller wait. */
  readonly pendingCharacters?: number
}

interface Coalescer {
  /** Adds text. Resolves when there is room for more, so await the result before reading on. */
  write(text: string): Promise<void>
  /** Emits the rest. Resolves when everything has been emitted. */
  end(): Promise<void>
}

/**
 * Gathers a stream of text into few pieces. The first `burst` pieces after a pause are emitted at once. After that, a piece is emitted at each
 * interval, or when it has reached its size. Pieces never split a character; joined together, they are the text.
 */
export function createCoalescer(options: CoalesceOptions): Coalescer {
  const { emit, intervalMs = 50, burst = 1, pieceBytes = 16 * 1024, pendingCharacters = 256 * 1024 } = options
  let pending = ''
  let ended = false
  let failure: { readonly error: unknown } | undefined
  let emitting = false
  let timer: NodeJS.Timeout | undefined
  /** How many pieces were emitted lately, at most `burst`: each interval takes one off. */
  let lately = 0
  let waiting: { readonly done: () => void; readonly fail: (error: unknown) => void }[] = []

  const settle = () => {
    const ready =
      failure !== undefined || (ended ? pending === '' && !emitting : pending.length <= pendingCharacters)
    if (!ready) return
    const settled = waiting
    waiting = []
    for (const { done, fail } of settled)
      if (failure === undefined) done()
      else fail(failure.error)
  }
  const passInterval = () => {
    lately -= 1
    timer = lately > 0 ? setTimeout(passInterval, intervalMs) : undefined
    turn()
  }
  const turn = () => {
    const full = pending.length * 3 >= pieceBytes && Buffer.byteLength(pending) >= pieceBytes
    const due = lately < burst || full || ended
    if (emitting || failure !== undefined || pending === '' || !due) return settle()
    const piece = firstLines(pending, pieceBytes)
    pending = pending.slice(piece.length)
    lately = Math.min(lately + 1, burst)
    if (lately === burst) clearTimeout(timer)
    if (lately === burst || timer === undefined) timer = setTimeout(passInterval, intervalMs)
    emitting = true
    void emitOne(piece)
    settle()
  }
  const emitOne = async (piece: string) => {
    try {
      await emit(piece)
    } catch (error) {
      failure = { error }
      pending = ''
    }
    emitting = false
    turn()
  }
  const settled = () =>
    new Promise<void>((done, fail) => {
      waiting.push({ done, fail })
      settle()
    })

  return {
    write(text) {
      if (ended) return Promise.reject(new Error('Written after the end.'))
      if (failure === undefined) pending += text
      turn()
      return settled()
    },
    async end() {
      ended = true
      turn()
      await settled().finally(() => clearTimeout(timer))
    },
  }
}

/** Like `firstBytes`, but a text that must be cut is cut after a line if possible, so that other output does not come in the middle of a line. */
function firstLines(text: string, limit: number): string {
  const first = firstBytes(text, limit)
  return first.length === text.length ? first : first.slice(0, first.lastIndexOf('\n') + 1) || first
}

/** The longest beginning of `text` that fits into `limit` bytes of UTF-8 and splits no character; it has at least one character. */
function firstBytes(text: string, limit: number): string {
  if (text.length * 3 <= limit) return text
  let bytes = 0
  let length = 0
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > limit && length > 0) break
    length += character.length
    if (bytes >= limit) break
  }
  return text.slice(0, length)
}
