/** Work that only so much of is done at once. */

/** Runs so many at once, in the order they came. `mayWait` is asked how many wait already, and throws when the line is full. */
export function atMost(
  atOnce: number,
  mayWait: (waiting: number) => void = () => undefined,
): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0
  const line: (() => void)[] = []
  return async (work) => {
    if (running < atOnce) running += 1
    else {
      mayWait(line.length)
      await new Promise<void>((resolve) => line.push(resolve))
    }
    try {
      return await work()
    } finally {
      // The place goes on to the next in line, if there is one.
      const next = line.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
