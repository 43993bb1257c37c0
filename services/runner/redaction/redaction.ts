/** Removes secrets from text, however it is cut. Short pieces are handled at once in this thread, long ones in another. */
import type { Automaton } from '#platform/redaction/automaton.ts'
import {
  diffWithout,
  goOn,
  newScan,
  reveal,
  soughtFor,
  textWithout,
  type Scan,
} from '#platform/redaction/scan.ts'
import type { TextThreads } from './textThreads.ts'

export { redacted } from '#platform/redaction/scan.ts'

export interface Redactor {
  /** Returns the text that is safe to show so far. An end that may be the beginning of a secret is held back until more is known. */
  push(text: string): string | Promise<string>
  /** Returns the text that was held back if it is at most the first 3 characters of a secret. The rest of the secret stays hidden. */
  reveal(): string
  /** Returns the text that was held back. Nothing may be pushed after this. */
  end(): string | Promise<string>
}

/**
 * Removes secrets (plain, in hex, in base64 at each alignment, URL-encoded and JSON-escaped) and anything that has the shape of a token. Every
 * character of an occurrence is covered, even if occurrences overlap. The result does not depend on how the text was cut. The time grows linearly
 * with the text, and not with the number of secrets. Text that cannot be scanned is not shown.
 */
export interface Redaction {
  /** Makes a redactor for one stream. Pieces come out in the order in which they were pushed, so a push need not be awaited. */
  stream(): Redactor
  /** Redacts a whole text. */
  text(text: string): Promise<string>
  /** Redacts a unified diff. Every line stays, with its leading sign, so that lines can still be counted. */
  diff(diff: string): Promise<string>
}

/** Shown in place of a text that could not be scanned for secrets. */
export const withheld = '[not shown: it could not be looked through for secrets]\n'

/** The length up to which text is scanned in the calling thread, which takes well below a millisecond. */
const shortText = 16 * 1024
/** How many characters are shown at most of a text that may be the beginning of a secret. */
const revealed = 3
/**
 * All secrets are searched for at once, with an automaton. It is built in the calling thread up to this total length of the secrets, which takes a
 * few milliseconds.
 */
const shortSecrets = 2 * 1024

export function redactionOf(secrets: readonly string[], threads: TextThreads): Redaction {
  const length = secrets.reduce((sum, secret) => sum + secret.length, 0)
  let sought: Automaton | Promise<Automaton> | undefined
  /** Builds the automaton at the first call. */
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
  /** Settles when the pieces that were pushed before are scanned; `undefined` when none is being scanned. */
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
      // The following text may contain the rest of a secret that began in the lost piece.
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
    // `piece` never rejects: after a failure it resolves to a note that the text is withheld.
    void piece.then(over, over)
    return piece
  }
  return {
    push: (text) => take(text, false),
    reveal() {
      const sought = underWay === undefined && !isBroken ? seeking() : undefined
      return sought === undefined || sought instanceof Promise ? '' : reveal(sought, scan, revealed)
    },
    end: () => take('', true),
  }
}
