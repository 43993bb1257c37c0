/** Which messages of a turn its agent has taken up and answered. A message counts as answered only by an end that names it. No I/O. */
import type { AgentEvent } from '../../agents/port.ts'

export interface TurnMessages {
  /** Adds a message that is sent now; false once the turn is over, since nothing more is read of the agent then. */
  add(id: string): boolean
  /** Takes back a message that could not be sent. */
  remove(id: string): void
  /** What an event means for them: which of them the agent takes up now, and whether it ends the turn of one of them. */
  hear(event: AgentEvent): { readonly takenUp: readonly string[]; readonly isOwnEnd: boolean }
  /** Every message that was sent is answered, well or not. */
  isOver(): boolean
  /** One of them is answered, well or not. */
  hasEnded(): boolean
  /** Some are answered, the last of them well, and none that the agent has taken up waits for its answer. */
  isCompleted(): boolean
}

export function turnMessages(): TurnMessages {
  const messages = new Map<string, 'sent' | 'taken_up' | 'answered'>()
  const has = (...states: readonly string[]) => [...messages.values()].some((state) => states.includes(state))
  let lastEnd: { readonly ok: boolean } | undefined
  let isClosed = false

  function takeUp(ids: readonly string[]): readonly string[] {
    const takenUp = ids.filter((id) => messages.get(id) === 'sent')
    for (const id of takenUp) messages.set(id, 'taken_up')
    return takenUp
  }
  return {
    add(id) {
      if (!isClosed) messages.set(id, 'sent')
      return !isClosed
    },
    remove: (id) => void messages.delete(id),
    hear(event) {
      if (event.type === 'taken_up') return { takenUp: takeUp(event.messageIds), isOwnEnd: false }
      if (event.type !== 'end') return { takenUp: [], isOwnEnd: false }
      const answered = (event.answers ?? [...messages.keys()]).filter((id) => messages.has(id))
      const takenUp = takeUp(answered)
      for (const id of answered) messages.set(id, 'answered')
      if (answered.length > 0) lastEnd = event
      return { takenUp, isOwnEnd: answered.length > 0 }
    },
    isOver() {
      isClosed ||= has('answered') && !has('sent', 'taken_up')
      return isClosed
    },
    hasEnded: () => lastEnd !== undefined,
    isCompleted: () => lastEnd?.ok === true && !has('taken_up'),
  }
}
