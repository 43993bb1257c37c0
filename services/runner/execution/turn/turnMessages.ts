/**
 * Which messages of a turn its agent has taken up, its model has seen and it has answered. A message counts as answered only by an end that names
 * it, and as seen once the model has said something with it in view: before that the agent may be stopped, or find its model away. No I/O.
 */
import type { AgentEnd, AgentEvent } from '../../agents/port.ts'

export interface TurnMessages {
  /** Adds a message that is sent now; false once the turn is over, since nothing more is read of the agent then. */
  add(id: string): boolean
  /** Takes back a message that could not be sent. */
  remove(id: string): void
  /** What an event means for them. */
  hear(event: AgentEvent): Heard
  /** Every message that was sent is answered, well or not. */
  isOver(): boolean
  /** One of them is answered, well or not. */
  hasEnded(): boolean
  /** Some are answered, the last that the model has seen well, and none that the agent has taken up waits for its answer. */
  isCompleted(): boolean
}

export interface Heard {
  /** The agent takes these up now. */
  readonly takenUp: readonly string[]
  /** It is known now that the model has seen these. */
  readonly seen: readonly string[]
  /** It ends the turn of one of them. */
  readonly isOwnEnd: boolean
}

/** Whether the model itself has said this to the agent's request. */
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

/** Whether the model has gone on since it was answered. Several questions of it may follow each other. */
export function hasGoneOn(event: AgentEvent): boolean {
  return event.type === 'end' ? event.ok : isOfModel(event) && event.type !== 'question'
}

export function turnMessages(): TurnMessages {
  const messages = new Map<string, 'sent' | 'taken_up' | 'answered'>()
  const has = (...states: readonly string[]) => [...messages.values()].some((state) => states.includes(state))
  /** Messages that the agent took up and the model has not answered yet. They stay in the conversation even if their turn failed. */
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
    // What failed before the model saw it takes nothing from what was answered: it becomes a turn of its own.
    if (lastEnd === undefined || answered.some((id) => !unseen.has(id))) lastEnd = { ok }
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
