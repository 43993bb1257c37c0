/** Takes secrets out of a stream of text, however the stream is cut. */
import { formsOf } from './secretForms.ts'
import { blockEndAt, tokenShapes } from './tokenShapes.ts'
import type { ShapeMatch } from './tokenShapes.ts'

/** What stands in a secret's place. */
export const redacted = '[redacted]'

export interface Redactor {
  /** Gives back what is safe to show so far; an end that may be the start of a secret is held until more is known. */
  push(text: string): string
  /** Gives back what was held. Nothing may be pushed after it. */
  end(): string
}

/** A key block whose end never comes stops being swallowed after this many characters. */
const longestBlock = 64 * 1024
/** At the very end, so much of a known secret's beginning is taken for the secret. */
const tellingPrefix = 8

/**
 * A redactor of these secrets - plain, in base64 at each alignment, URL-encoded and JSON-escaped - and of the shapes that tokens
 * are known by. Every character that belongs to an occurrence is covered, also where occurrences overlap, and what comes out in
 * all is the same however the text was cut. What is held is bounded by the longest form, or about 1,000 characters.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  return redactorOf(soughtFor(secrets))
}

/** Redacts a text that is whole. */
export function redact(text: string, secrets: readonly string[]): string {
  return wholly(redactorOf(soughtFor(secrets)), text)
}

/**
 * Redacts unified diffs. Every line stays, with the mark that it begins with, so that what counts and numbers lines still can; the
 * lines before a file's first hunk, which have its name, are left as they are.
 */
export function diffRedactor(secrets: readonly string[]): (diff: string) => string {
  const sought = soughtFor(secrets)
  const whole = (text: string) => wholly(redactorOf(sought, 'lines_stay'), text)
  return (diff) => {
    const [head = '', ...hunks] = diff.split(/^(?=@@ )/m)
    const shown = hunks.map((hunk) => {
      const [title = '', ...lines] = hunk.split('\n')
      const bodies = whole(lines.map((line) => line.slice(1)).join('\n')).split('\n')
      return [whole(title), ...lines.map((line, at) => line.slice(0, 1) + (bodies[at] ?? ''))].join('\n')
    })
    return head + shown.join('')
  }
}

interface Sought {
  readonly forms: readonly string[]
  /** Found where any of it may begin. */
  readonly mayStart: RegExp
}

function soughtFor(secrets: readonly string[]): Sought {
  const forms = formsOf(secrets)
  return { forms, mayStart: startsOf([...forms, ...tokenShapes.map((shape) => shape.prefix)]) }
}

function wholly(redactor: Redactor, text: string): string {
  return redactor.push(text) + redactor.end()
}

function redactorOf({ forms, mayStart }: Sought, lines?: 'lines_stay'): Redactor {
  const runs = new Set<RegExp>()
  let blockLeft = 0
  let covered = 0
  let held = ''
  let marked = false

  const scan = (final: boolean): string => {
    const text = held
    const shown: string[] = []
    let at = 0
    while (at < text.length) {
      if (covered <= at && runs.size === 0 && blockLeft === 0) {
        mayStart.lastIndex = at
        const next = mayStart.exec(text)?.index ?? text.length
        if (next > at) {
          shown.push(text.slice(at, next))
          marked = false
          at = next
          continue
        }
      }
      const match = matchAt(text, at, forms, final)
      const blockEnd = blockLeft > 0 ? blockEndAt(text, at) : 0
      if (match === 'undecided' || (blockEnd === 'undecided' && !final)) break
      if (match?.run !== undefined) runs.add(match.run)
      if (match?.block) blockLeft = longestBlock
      if (blockEnd !== 'undecided' && blockEnd > 0) blockLeft = 0
      covered = Math.max(covered, at + (match?.length ?? 0), at + (blockEnd === 'undecided' ? 0 : blockEnd))

      const character = text.charAt(at)
      for (const run of runs) if (!run.test(character)) runs.delete(run)
      const hidden = covered > at || runs.size > 0 || blockLeft > 0
      const isLineEnd = lines !== undefined && character === '\n'
      if (!hidden || isLineEnd) shown.push(character)
      else if (!marked) shown.push(redacted)
      marked = hidden && !isLineEnd
      blockLeft = Math.max(0, blockLeft - 1)
      at += 1
    }
    held = text.slice(at)
    covered = Math.max(0, covered - at)
    return shown.join('')
  }

  return {
    push(text) {
      held += text
      return scan(false)
    },
    end: () => scan(true),
  }
}

/** Finds where any of these may begin: their first two characters, or their first one at the end of the text. */
function startsOf(beginnings: readonly string[]): RegExp {
  const pairs = new Set(beginnings.map((beginning) => escaped(beginning.slice(0, 2))))
  const singles = new Set(beginnings.map((beginning) => escaped(beginning.charAt(0))))
  return new RegExp(`${[...pairs].join('|')}|(?:${[...singles].join('|')})$`, 'g')
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+./?[\\\]^{|}-]/g, String.raw`\$&`)
}

/** The longest match that begins at `at`. While a longer one is still possible it is undecided, unless nothing more can come. */
function matchAt(
  text: string,
  at: number,
  forms: readonly string[],
  final: boolean,
): ShapeMatch | 'undecided' | undefined {
  const left = text.length - at
  let length = 0
  for (const form of forms) {
    if (left < form.length) {
      if (!text.endsWith(form.slice(0, left))) continue
      if (!final) return 'undecided'
      if (left >= tellingPrefix) length = Math.max(length, left)
    } else if (form.length > length && text.startsWith(form, at)) length = form.length
  }
  for (const shape of tokenShapes) {
    if (left < shape.prefix.length) {
      if (!final && text.endsWith(shape.prefix.slice(0, left))) return 'undecided'
    } else if (text.startsWith(shape.prefix, at)) {
      const match = shape.judge(text, at)
      if (match === 'undecided') {
        if (!final) return 'undecided'
      } else if (match !== undefined) return { ...match, length: Math.max(length, match.length) }
    }
  }
  return length === 0 ? undefined : { length }
}
