/**
 * Tracks the messages of a turn: which of them the agent has taken up, which the model has seen, and which were answered. A message counts as seen
 * once the model has said something or ended well after it, because earlier the agent may be stopped or its model may fail. It counts as answered
 * once an `end` event names it, or names no messages. No I/O.
 */
import type { AgentEnd, AgentEvent } from '../../agents/port.ts'

export interface TurnMessages {
  /** Adds a message that is sent now; returns `false` once the turn is over, since no more of the agent's output is read then. */
  add(id: string): boolean
  /** Removes a message that could not be sent. */
  remove(id: string): void
  /** Applies an event. Returns which messages were taken up or seen, and whether the turn of a message ended. */
  hear(event: AgentEvent): Heard
  /** Whether every message that was sent has been answered, successfully or not. */
  isOver(): boolean
  /** Whether at least one of the messages has been answered, successfully or not. */
  hasEnded(): boolean
  /**
   * Whether the turn is done: messages were answered, and no message that the agent has taken up still waits for its answer. The last answer to a
   * message that the model has seen must be a success.
   */
  isCompleted(): boolean
}

export interface Heard {
  /** The messages that the agent takes up now. */
  readonly takenUp: readonly string[]
  /** The messages that the model is now known to have seen. */
  readonly seen: readonly string[]
  /** Whether the event ends the turn of one of the messages. */
  readonly isOwnEnd: boolean
}

/** Whether the event is the model's own reaction to the agent's request. */
function isOfModel(event: AgentEvent): boolean {
  switch (event.type) {
    case 'text_delta':
    case 'thinking_delta':
    case 'text':
    case 'thinking':
    case 'question':
      return true
    case 'tool_started':
      return event.parentToolId === null
    default:
      return false
  }
}

/**
 * Whether the event shows that the model has continued after an answer. Another question does not show this, since the model may ask several
 * questions in a row.
 */
export function showsModelContinued(event: AgentEvent): boolean {
  return event.type === 'end' ? event.ok : isOfModel(event) && event.type !== 'question'
}

export function turnMessages(): TurnMessages {
  const messages = new Map<string, 'sent' | 'taken_up' | 'answered'>()
  const has = (...states: readonly string[]) => [...messages.values()].some((state) => states.includes(state))
  /** Messages that the agent took up and the model is not known to have seen. They stay in the conversation even if their turn failed. */
  const unseen = new Set<string>()
  let lastEnd: { readonly ok: boolean } | undefined
  let isClosed = false

  function takeUp(ids: readonly string[]): readonly string[] {
    const takenUp = ids.filter((id) => messages.get(id) === 'sent')
    for (const id of takenUp) {
      messages.set(id, 'taken_up')
      unseen.add(id)
    }
    return takenUp
  }
  function see(): readonly string[] {
    const seen = [...unseen]
    unseen.clear()
    return seen
  }
  function end({ ok, answers }: AgentEnd): Heard {
    const answered = (answers ?? [...messages.keys()]).filter((id) => messages.has(id))
    if (answered.length === 0) return { takenUp: [], seen: [], isOwnEnd: false }
    const takenUp = takeUp(answered)
    const seen = ok ? see() : []
    // A message that failed before the model saw it does not undo the success of the other messages. The failed message gets a turn of its own.
    if (lastEnd === undefined || answered.some((id) => !unseen.has(id))) lastEnd = { ok }
    // A message that failed before the agent took it up is not in the conversation.
    if (!ok) for (const id of takenUp) unseen.delete(id)
    for (const id of answered) messages.set(id, 'answered')
    return { takenUp, seen, isOwnEnd: true }
  }
  return {
    add(id) {
      if (!isClosed) messages.set(id, 'sent')
      return !isClosed
    },
    remove: (id) => void messages.delete(id),
    hear(event) {
      if (event.type === 'end') return end(event)
      const takenUp = event.type === 'taken_up' ? takeUp(event.messageIds) : []
      return { takenUp, seen: isOfModel(event) ? see() : [], isOwnEnd: false }
    },
    isOver() {
      isClosed ||= has('answered') && !has('sent', 'taken_up')
      return isClosed
    },
    hasEnded: () => lastEnd !== undefined,
    isCompleted: () => lastEnd?.ok === true && !has('taken_up'),
  }
}
