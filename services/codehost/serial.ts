/** One after the other: what changes one repository's refs never runs beside another such change. */

/** Runs `job` when every earlier job of the same key has ended, however it ended. */
export type Serially = <Answer>(key: number, job: () => Promise<Answer>) => Promise<Answer>

export function createSerially(): Serially {
  const last = new Map<number, Promise<unknown>>()
  return (key, job) => {
    const done = (last.get(key) ?? Promise.resolve()).then(job)
    const quiet = done.catch(() => undefined)
    last.set(key, quiet)
    void quiet.finally(() => {
      if (last.get(key) === quiet) last.delete(key)
    })
    return done
  }
}
