/** Shares the slots of a worker between people. Reads no clock: times are arguments, in ms. */

/**
 * How many of the slots one person may have at once. A quarter, at least one, is left to others, because jobs may run for hours and are never stopped
 * for somebody else. A single slot cannot be shared.
 */
export function placesOfOne(concurrency: number): number {
  return Math.max(1, concurrency - Math.max(1, Math.floor(concurrency / 4)))
}

interface Offered {
  readonly id: string
  readonly person: string
}

/** The decision about an offered job: it is taken, or offered again after a delay. */
export type Verdict = { readonly kind: 'take' } | { readonly kind: 'put_back'; readonly delayMs: number }

export interface FairShare {
  /** Decides about a job. `behind` is the number of jobs after this one in the queue that were not offered to any worker yet. */
  offered(job: Offered, behind: number, now: number): Verdict
  /** A taken job has ended or waits, so its slot is free. */
  ended(person: string): void
  /** A job that gave up its slot for a wait goes on, and takes a slot again. */
  goesOn(person: string): void
  /** Polling begins again after a pause. Jobs that were put back do not expire during the pause. */
  asksAgain(now: number): void
}

/**
 * Jobs of one person that were put back are offered again one by one, this long after each other. So a free slot gets a job after at most this time.
 * A job's delay has no maximum: otherwise all jobs with that delay would be offered at once, again and again.
 */
const stepMs = 100
/**
 * While a slot is free, jobs are put back for at most this long. In this time the worker sees jobs from further back in the queue, whose people may
 * have priority.
 */
const lookMs = 500
/** If a job that was put back is not offered again within this time after its delay, it counts as taken by another worker. */
const graceMs = 1_000

/**
 * Shares the slots of one worker between people, although the queue has a single order: jobs whose turn has not come are put back. The next job is
 * that of the waiting person with the fewest slots and, among those, of the one served longest ago. Offers to other workers are unknown.
 */
export function fairShare(concurrency: number): FairShare {
  const most = placesOfOne(concurrency)
  const places = new Map<string, number>()
  /** For each person, the number of the last job that was taken for them. Jobs are numbered as they are taken, so higher numbers are later. */
  const served = new Map<string, number>()
  let turns = 0
  /** For each person, the jobs that were put back, and when the last of them is offered again. */
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

  /** Whether another waiting person has priority over `person`. */
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
      // A person further back in the queue may come first, so the job is put back for a while. This is not done for a person who has no slot and
      // never had one.
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
    goesOn: (person) => void places.set(person, placesOf(person) + 1),
    asksAgain(now) {
      asksFrom = now
      looksFrom = undefined
    },
  }
}
