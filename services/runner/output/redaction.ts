/** Takes secrets out of text, however it is cut: short pieces here and at once, long ones in a thread of their own. */
import type { Automaton } from './automaton.ts'
import { goOn, newScan, soughtFor, type Scan } from './scan.ts'
import type { TextThreads } from './textThreads.ts'
import { diffWithout, textWithout } from './wholeText.ts'

export { redacted } from './scan.ts'

export interface Redactor {
  /** Gives back what is safe to show so far; an end that may be the start of a secret is held until more is known. */
  push(text: string): string | Promise<string>
  /** Gives back what was held. Nothing may be pushed after it. */
  end(): string | Promise<string>
}

/**
 * Hides secrets - plain, in hex, in base64 at each alignment, URL-encoded and JSON-escaped - and the shapes that tokens are known by.
 * Every character that belongs to an occurrence is covered, also where occurrences overlap, and what comes out in all is the same
 * however the text was cut. It takes time linear in the text for any number of secrets. Text that cannot be looked through is not shown.
 */
export interface Redaction {
  /** For one stream. Pieces come out in the order in which they were pushed, so that a push need not be waited for. */
  stream(): Redactor
  /** Of a text that is whole. */
  text(text: string): Promise<string>
  /**
   * Of a unified diff. Every line stays, with the mark that it begins with, so that what counts and numbers lines still can; the lines
   * before a file's first hunk, which have its name, are left as they are.
   */
  diff(diff: string): Promise<string>
}

/** Stands for what could not be looked through for secrets. */
export const withheld = '[not shown: it could not be looked through for secrets]\n'

/** Characters that are looked through at once in the thread that asks: well below a millisecond. */
const shortText = 16 * 1024
/** Characters of secrets whose automaton is built there too: a few milliseconds. */
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
  /** What was pushed before and is still looked through. */
  let underWay: Promise<unknown> | undefined
  let isBroken = false

  async function later(before: Promise<unknown> | undefined, text: string, final: boolean): Promise<string> {
    await before
    if (isBroken) return ''
    try {
      const sought = await seeking()
      if (text.length <= shortText) return goOn(sought, scan, text, final)
      const gone: { readonly scan: Scan; readonly shown: string } = await threads.run({
        kind: 'piece',
        sought,
        scan,
        text,
        final,
      })
      scan = gone.scan
      return gone.shown
    } catch {
      // What follows may be the rest of a secret that began in what was lost.
      isBroken = true
      return withheld
    }
  }
  function take(text: string, final: boolean): string | Promise<string> {
    if (underWay === undefined && text.length <= shortText && !isBroken) {
      const sought = seeking()
      if (!(sought instanceof Promise)) return goOn(sought, scan, text, final)
    }
    const shown = later(underWay, text, final)
    underWay = shown
    const over = () => {
      if (underWay === shown) underWay = undefined
    }
    // It does not reject: what goes wrong is told in what is shown.
    void shown.then(over, over)
    return shown
  }
  return { push: (text) => take(text, false), end: () => take('', true) }
}
