/** Queues of asynchronous work within one process: one at a time, one at a time per key, or a limited number at once. */

/** Runs the work after all earlier work has settled, fulfilled or rejected. */
export type Serialize = <T>(work: () => Promise<T> | T) => Promise<T>

/** A queue that runs one piece of work at a time, in order. */
export function serialize(): Serialize {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }
}

/** Runs the work after all earlier work under the same key has settled. */
export type SerializeByKey = <T>(key: string | number, work: () => Promise<T>) => Promise<T>

/** A queue per key. A key whose queue is empty takes no memory. */
export function serializeByKey(): SerializeByKey {
  const queues = new Map<string | number, Promise<unknown>>()
  return (key, work) => {
    const done = (queues.get(key) ?? Promise.resolve()).then(work)
    const leave = () => void (queues.get(key) === settled && queues.delete(key))
    const settled = done.then(leave, leave)
    queues.set(key, settled)
    return done
  }
}

/** Runs at most `atOnce` pieces of work at once, in order. Before work waits, `mayWait` gets the queue's length, and throws if it is too long. */
export function limitConcurrency(
  atOnce: number,
  mayWait: (waiting: number) => void = () => undefined,
): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running < atOnce) running += 1
    else {
      mayWait(waiting.length)
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}

/**
 * Runs at most `atOnce` pieces of work at once, and at most half as many of one person, whose further work waits while that of others begins. Work of
 * a person of whom `mostWaiting` pieces wait already is refused: its result is `undefined`. So is work whose turn comes `waitMs` after `since`, the time
 * of the request.
 */
export function limitPerPerson(
  atOnce: number,
  mostWaiting = 0,
  { waitMs = Infinity, now = Date.now }: { readonly waitMs?: number; readonly now?: () => number } = {},
): <T>(person: string, work: () => Promise<T>, since?: number) => Promise<T | undefined> {
  const running: string[] = []
  const waiting: { readonly person: string; readonly begin: () => void }[] = []
  const mayBegin = (person: string): boolean =>
    running.length < atOnce && running.filter((each) => each === person).length < atOnce / 2
  return async (person, work, since = now()) => {
    if (mayBegin(person)) running.push(person)
    else if (waiting.filter((each) => each.person === person).length >= mostWaiting) return undefined
    else await new Promise<void>((begin) => waiting.push({ person, begin }))
    try {
      return now() - since < waitMs ? await work() : undefined
    } finally {
      running.splice(running.indexOf(person), 1)
      const next = waiting.find((each) => mayBegin(each.person))
      if (next !== undefined) {
        waiting.splice(waiting.indexOf(next), 1)
        running.push(next.person)
        next.begin()
      }
    }
  }
}
