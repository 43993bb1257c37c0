/** The log of one service: redacted lines, each with the service's name before it. */
import { StringDecoder } from 'node:string_decoder'
import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import type { Redaction } from '../../redaction/redaction.ts'

export interface ServiceLog {
  /** Reads a stream to its end, no faster than its lines are recorded. */
  drain(stream: AsyncIterable<Uint8Array>, redaction: Redaction): Promise<void>
  /** Adds a line of our own. */
  say(line: string): Promise<void>
  /** Records the lines that were kept since the last turn, and then the following lines as they come. */
  beginTurn(record: (text: string) => Promise<void>): Promise<void>
  /** From now on, only the last lines are kept. */
  endTurn(): void
  /** The last lines that the service printed, without the prefix that names the service. */
  last(): string
}

interface ServiceLogLimits {
  /** How many characters are recorded at most in a turn as they come. Later output is treated like output between turns. */
  readonly inTurn: number
  /** How many characters are kept at most for the next turn. */
  readonly kept: number
  /** How long to wait after each unrecorded chunk, so that a service with very much output takes little processor time. */
  readonly paceMs: number
}

const defaultLimits: ServiceLogLimits = { inTurn: 256 * 1024, kept: 64 * 1024, paceMs: 50 }
/** Lines with more characters than this are split. */
const longestLine = 4_096
const lastCharacters = 1_000

export function serviceLog(name: string, limits: ServiceLogLimits = defaultLimits): ServiceLog {
  const prefix = `[${name}] `
  let record: ((text: string) => Promise<void>) | undefined
  let room = 0
  let kept = ''
  let isCut = false
  let last = ''

  function keep(text: string): void {
    kept += text
    if (kept.length <= limits.kept) return
    const tail = kept.slice(-limits.kept)
    kept = tail.slice(tail.indexOf('\n') + 1)
    isCut = true
  }
  async function add(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return
    const text = lines.map((line) => `${prefix}${line}\n`).join('')
    if (record !== undefined && text.length <= room) {
      room -= text.length
      return record(text).catch(() => undefined)
    }
    if (record !== undefined && room > 0) {
      room = 0
      await record(
        `${prefix}It prints much: its last lines are shown at the beginning of the next turn.\n`,
      ).catch(() => undefined)
    }
    keep(text)
    await sleep(limits.paceMs)
  }

  const printed = (lines: readonly string[]): Promise<void> => {
    last = `${last}${lines.map((line) => `${line}\n`).join('')}`.slice(-lastCharacters)
    return add(lines)
  }

  return {
    async drain(stream, redaction) {
      const decoder = new StringDecoder('utf8')
      const redactor = redaction.stream()
      const lines = lineSplitter()
      // A control sequence within a secret hides the secret from the first search. So the text is searched again without control sequences.
      const shown = async (some: readonly string[]) =>
        printed(some.length === 0 ? some : split(await redaction.text(some.join('\n'))))
      for await (const chunk of stream)
        await shown(lines.push(await redactor.push(decoder.write(Buffer.from(chunk)))))
      await shown([
        ...lines.push(await redactor.push(decoder.end())),
        ...lines.push(await redactor.end()),
        ...lines.end(),
      ])
    },
    say: (line) => add([line]),
    async beginTurn(recordNow) {
      const text = `${isCut ? `${prefix}Earlier lines are left out.\n` : ''}${kept}`
      kept = ''
      isCut = false
      room = limits.inTurn
      record = recordNow
      if (text !== '') await recordNow(text)
    },
    endTurn: () => void (record = undefined),
    last: () => last.trimEnd(),
  }
}

/** The lines of a text, with long lines split. */
const split = (text: string): readonly string[] =>
  text.split('\n').flatMap((line) => line.match(longLine) ?? [''])
const longLine = new RegExp(`.{1,${longestLine}}`, 'gsu')

/** Splits text into lines, and removes control characters that could move a terminal's cursor. */
function lineSplitter() {
  let pending = ''
  const clean = (line: string): string => stripVTControlCharacters(line).replaceAll(/[^\t\P{Cc}]/gu, '')
  return {
    push(text: string): readonly string[] {
      const lines = `${pending}${text}`.split('\n')
      pending = lines.pop() ?? ''
      while (pending.length > longestLine) {
        lines.push(pending.slice(0, longestLine))
        pending = pending.slice(longestLine)
      }
      return lines.map(clean)
    },
    end(): readonly string[] {
      const rest = pending
      pending = ''
      return rest === '' ? [] : [clean(rest)]
    },
  }
}
