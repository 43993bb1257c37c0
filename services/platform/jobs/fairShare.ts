/** How the places of a worker are shared between persons. Pure: times come in as arguments, in ms. */

/**
 * How many of so many places one person may have at once. A quarter, one at least, is left to others, since what runs may go on for hours
 * and is not stopped for anybody; where there is one place there is nothing to share.
 */
export function placesOfOne(concurrency: number): number {
  return Math.max(1, concurrency - Math.max(1, Math.floor(concurrency / 4)))
}

/** A job that a queue has handed out, and that may be taken or put back. */
interface Offered {
  readonly id: string
  readonly person: string
}

/** What becomes of it: it is taken, or offered again after a delay. */
export type Verdict = { readonly kind: 'take' } | { readonly kind: 'put_back'; readonly delayMs: number }

export interface FairShare {
  /** `behind` is how many jobs the queue has behind this one that it has offered to nobody yet. */
  offered(job: Offered, behind: number, now: number): Verdict
  /** What was taken has ended, and its place is free. */
  ended(person: string): void
  /** Polling starts again after a pause: jobs that were put back do not age while it is paused. */
  asksAgain(now: number): void
}

/**
 * Jobs of one person that were put back come again in so even a step that a place is free for this long at most. The line is as long as
 * it has to be: with a longest delay, all that are beyond it would come at once, and again and again.
 */
const stepMs = 100
/** How long a free slot looks through the queue for a person who comes before the known ones. */
const lookMs = 500
/** What was put back and does not come again in time has gone to another worker. */
const graceMs = 1_000

/**
 * Shares the places of one worker over a queue that has one order for all: what is not to be taken yet is put back. Of those who wait,
 * whoever has the fewest places is next, and of these whoever was served longest ago. Of what is offered to others nothing is known.
 */
export function fairShare(concurrency: number): FairShare {
  const most = placesOfOne(concurrency)
  const places = new Map<string, number>()
  /** Numbers the turns: a higher one was served later. */
  const served = new Map<string, number>()
  let turns = 0
  /** The jobs of each person that were put back, and when the last of them is offered again. */
  const waiting = new Map<string, { readonly ids: Set<string>; lastDue: number }>()
  let looksFrom: number | undefined
  let asksFrom = -Infinity

  const placesOf = (person: string): number => places.get(person) ?? 0
  const isBefore = (one: string, other: string): boolean => {
    const fewer = placesOf(other) - placesOf(one)
    return fewer === 0 ? (served.get(one) ?? 0) < (served.get(other) ?? 0) : fewer > 0
  }

  function putBack({ id, person }: Offered, now: number): Verdict {
    const line = waiting.get(person) ?? { ids: new Set(), lastDue: 0 }
    line.lastDue = Math.max(now, line.lastDue) + stepMs
    line.ids.add(id)
    waiting.set(person, line)
    return { kind: 'put_back', delayMs: line.lastDue - now }
  }

  function comesAgain({ id, person }: Offered): void {
    const line = waiting.get(person)
    line?.ids.delete(id)
    if (line?.ids.size === 0) waiting.delete(person)
  }

  /** Whether another waiting person comes before this one. */
  function othersFirst(person: string, now: number): boolean {
    for (const [other, { lastDue }] of waiting) {
      if (Math.max(lastDue, asksFrom) + graceMs < now) waiting.delete(other)
      else if (placesOf(other) < most && isBefore(other, person)) return true
    }
    return false
  }

  return {
    offered(job, behind, now) {
      const { person } = job
      comesAgain(job)
      if (placesOf(person) >= most || othersFirst(person, now)) return putBack(job, now)
      const isNew = placesOf(person) === 0 && !served.has(person)
      looksFrom ??= now
      // A person further back in the queue may come first, but never before one who has and had no slot.
      if (!isNew && behind > 0 && now - looksFrom < lookMs) return putBack(job, now)
      looksFrom = undefined
      places.set(person, placesOf(person) + 1)
      served.set(person, (turns += 1))
      return { kind: 'take' }
    },
    ended(person) {
      const left = placesOf(person) - 1
      if (left > 0) places.set(person, left)
      else places.delete(person)
    },
    asksAgain(now) {
      asksFrom = now
      looksFrom = undefined
    },
  }
}
