/** One after the other: work under one name waits for the work before it in this process. */

/** Does the work once all that was asked for under the same name before is over, however it ended. */
export type SerializeByKey = <T>(name: string, work: () => Promise<T>) => Promise<T>

export function serializeByKey(): SerializeByKey {
  const queues = new Map<string, Promise<unknown>>()
  return (name, work) => {
    const before = queues.get(name) ?? Promise.resolve()
    const turn = before.then(work, work)
    const settled = turn.then(
      () => undefined,
      () => undefined,
    )
    queues.set(name, settled)
    void settled.then(() => queues.get(name) === settled && queues.delete(name))
    return turn
  }
}
