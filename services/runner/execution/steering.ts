/** Messages that a person wants told to the turn that runs, on their way from the log to the agent. */

export interface Steering {
  /** What the log names by now; each is offered once. */
  offer(messageIds: readonly string[]): void
  /** Takes what is offered, one after the other, until the returned function is called; what comes before somebody takes it waits. */
  listen(take: (messageId: string) => Promise<void>): () => void
}

export function steering(): Steering {
  const seen = new Set<string>()
  const waiting: string[] = []
  let taking: ((messageId: string) => Promise<void>) | undefined
  let turn: Promise<void> = Promise.resolve()

  function giveOut(): void {
    const take = taking
    if (take === undefined) return
    for (const messageId of waiting.splice(0)) turn = turn.then(() => take(messageId))
  }
  return {
    offer(messageIds) {
      waiting.push(...messageIds.filter((id) => !seen.has(id)))
      for (const id of messageIds) seen.add(id)
      giveOut()
    },
    listen(take) {
      taking = take
      giveOut()
      return () => (taking = undefined)
    },
  }
}
