/** Removes secrets from text, however it is cut: from short pieces at once and here, from long ones in a thread. */
import type { Automaton } from '#platform/redaction/automaton.ts'
import { diffWithout, goOn, newScan, soughtFor, textWithout, type Scan } from '#platform/redaction/scan.ts'
import type { TextThreads } from './textThreads.ts'

export { redacted } from '#platform/redaction/scan.ts'

export interface Redactor {
  /** Returns what is safe to show so far. An end that may be the start of a secret is held back until more is known. */
  push(text: string): string | Promise<string>
  /** Returns what was held back. Nothing may be pushed after it. */
  end(): string | Promise<string>
}

/**
 * Hides secrets - plain, in hex, in base64 at each alignment, URL-encoded and JSON-escaped - and the shapes that tokens are known by.
 * Every character of an occurrence is covered, also where occurrences overlap, and the whole output is the same however the text was cut. It
 * takes time linear in the text for any number of secrets. Text that cannot be scanned is not shown.
 */
export interface Redaction {
  /** For one stream. Pieces come out in the order in which they were pushed, so a push need not be awaited. */
  stream(): Redactor
  /** Redacts a whole text. */
  text(text: string): Promise<string>
  /**
   * Of a unified diff. Every line stays, with the mark that it begins with, so that lines can still be counted and numbered. The lines before a
   * file's first hunk, which contain its name, are left as they are.
   */
  diff(diff: string): Promise<string>
}

/** Replaces text that could not be scanned for secrets. */
export const withheld = '[not shown: it could not be looked through for secrets]\n'

/** Characters that are scanned at once in the calling thread: well below a millisecond. */
const shortText = 16 * 1024
/** Characters of secrets whose automaton is built in the calling thread too: a few milliseconds. */
const shortSecrets = 2 * 1024

export function redactionOf(secrets: readonly string[], threads: TextThreads): Redaction {
  const length = secrets.reduce((sum, secret) => sum + secret.length, 0)
  let sought: Automaton | Promise<Automaton> | undefined
  /** Built when it is first needed. */
  const seeking = (): Automaton | Promise<Automaton> => {
    if (sought !== undefined) return sought
    if (length <= shortSecrets) return (sought = soughtFor(secrets))
    const building = threads.run({ kind: 'build', secrets })
    void building.then(
      (built) => (sought = built),
      () => undefined,
    )
    return (sought = building)
  }
  const wholly = async (kind: 'text' | 'diff', text: string): Promise<string> => {
    try {
      const known = await seeking()
      if (text.length > shortText) return await threads.run({ kind, sought: known, text })
      return kind === 'text' ? textWithout(known, text) : diffWithout(known, text)
    } catch {
      return withheld
    }
  }
  return {
    stream: () => redactorOf(seeking, threads),
    text: (text) => wholly('text', text),
    diff: (diff) => wholly('diff', diff),
  }
}

function redactorOf(seeking: () => Automaton | Promise<Automaton>, threads: TextThreads): Redactor {
  let scan = newScan()
  /** What was pushed before and is still being scanned. */
  let underWay: Promise<unknown> | undefined
  let isBroken = false

  async function later(before: Promise<unknown> | undefined, text: string, final: boolean): Promise<string> {
    await before
    if (isBroken) return ''
    try {
      const sought = await seeking()
      if (text.length <= shortText) return goOn(sought, scan, text, final)
      const scanned: { readonly scan: Scan; readonly shown: string } = await threads.run({
        kind: 'piece',
        sought,
        scan,
        text,
        final,
      })
      scan = scanned.scan
      return scanned.shown
    } catch {
      // What follows may be the rest of a secret that began in the lost piece.
      isBroken = true
      return withheld
    }
  }
  function take(text: string, final: boolean): string | Promise<string> {
    if (underWay === undefined && text.length <= shortText && !isBroken) {
      const sought = seeking()
      if (!(sought instanceof Promise)) return goOn(sought, scan, text, final)
    }
    const piece = later(underWay, text, final)
    underWay = piece
    const over = () => {
      if (underWay === piece) underWay = undefined
    }
    // It does not reject: a failure shows as withheld text.
    void piece.then(over, over)
    return piece
  }
  return { push: (text) => take(text, false), end: () => take('', true) }
}
