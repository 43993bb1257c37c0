/** Bounds how often something is said: the first word at once, and then, at most once in a while, the last of those that came. */

export interface Pace<Word> {
  /** Whether a word about it may be said at once. */
  isFree(about: string): boolean
  /** A word about it was said: those that come now wait. */
  said(about: string): void
  /** The word waits, in the place of the one that waited before. */
  wait(about: string, word: Word): void
  /** What waits about it is not said any more. */
  forget(about: string): void
  stop(): void
}

/** `say` says a word that has waited; it is called by `serialized`, and again later when it fails. */
export function createPace<Word>(
  everyMs: number,
  serialized: (work: () => Promise<void>) => Promise<void>,
  say: (about: string, word: Word) => Promise<void>,
): Pace<Word> {
  const periods = new Map<string, { readonly timer: NodeJS.Timeout; word: Word | undefined }>()
  let stopped = false

  function begin(about: string, word?: Word): void {
    if (stopped) return
    clearTimeout(periods.get(about)?.timer)
    const timer = setTimeout(() => void serialized(() => end(about)), everyMs)
    periods.set(about, { timer, word })
  }

  async function end(about: string): Promise<void> {
    const word = periods.get(about)?.word
    periods.delete(about)
    if (word === undefined || stopped) return
    try {
      await say(about, word)
      begin(about)
    } catch {
      begin(about, word)
    }
  }

  return {
    isFree: (about) => !periods.has(about),
    said: (about) => begin(about),
    wait(about, word) {
      const period = periods.get(about)
      if (period) period.word = word
      else begin(about, word)
    },
    forget(about) {
      const period = periods.get(about)
      if (period) period.word = undefined
    },
    stop() {
      stopped = true
      for (const { timer } of periods.values()) clearTimeout(timer)
      periods.clear()
    },
  }
}
