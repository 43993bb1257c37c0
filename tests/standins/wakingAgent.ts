/**
 * An agent that speaks the protocol of `claude` as the real one was observed to (2.1.329), and wakes up by itself, as that did before the tools for
 * it were withheld. It calls no model: what it would have sent to one is in `seen`.
 */
import { z } from 'zod'

export interface WakingAgent {
  /** The ids of the messages that its model has answered; a request may also fail. */
  readonly seen: ReadonlySet<string>
  /** Receives a line of standard input. */
  hear(line: string): void
  /** Something that the agent has planned is due. */
  wake(): void
  /** Does the next thing, if there is one. */
  step(): void
  isIdle(): boolean
}

export interface WakingAgentOptions {
  readonly sessionId: string
  /** Draws a number from 0 up to 1, without 1. */
  readonly chance: () => number
  readonly print: (line: object) => void
}

interface Work {
  readonly id: string
  readonly text: string
  /** Whether the agent itself wants to do this. */
  readonly isOwn: boolean
}

/** What the agent says only when it woke up. */
export const wokeUp = 'I woke up by myself.'
/** The agent's answer to a message. */
export const answerTo = (text: string): string => `Answer to ${text}.`

const Heard = z.object({
  type: z.literal('user'),
  uuid: z.string(),
  message: z.object({ content: z.array(z.object({ text: z.string() })) }),
})

export function createWakingAgent({ sessionId, chance, print }: WakingAgentOptions): WakingAgent {
  const queue: Work[] = []
  let current: Work[] = []
  let stepsLeft = 0
  let counted = 0
  const seen = new Set<string>()
  /** All messages of people in the agent's conversation. */
  const heard: string[] = []
  const count = () => (counted += 1)

  const persons = () => current.filter(({ isOwn }) => !isOwn).map(({ id }) => id)
  /** Lines name the messages that they are about; lines of a turn of the agent's own name none. */
  const naming = () => (persons().length === 0 ? {} : { user_message_uuids: persons() })
  const lifecycle = (id: string, state: string) =>
    print({ type: 'command_lifecycle', command_uuid: id, state })

  function takeUp(work: Work): void {
    current.push(work)
    if (!work.isOwn) heard.push(work.id)
    lifecycle(work.id, 'started')
  }
  function request(): void {
    print({ type: 'system', subtype: 'status', status: 'requesting', session_id: sessionId, ...naming() })
  }
  function answered(): void {
    for (const id of heard) seen.add(id)
  }
  function begin(): void {
    const next = queue.shift()
    if (next === undefined) return
    takeUp(next)
    print({ type: 'system', subtype: 'init', session_id: sessionId, model: 'waking', ...naming() })
    request()
    stepsLeft = Math.floor(chance() * 3)
  }
  function useTool(): void {
    answered()
    const id = `tool-${sessionId}-${count()}`
    const use = { type: 'tool_use', id, name: 'Bash', input: { command: 'true' } }
    print({ type: 'assistant', message: { id: `m-${count()}`, content: [use] } })
    print({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: id, content: '' }] } })
    // A message that a person sent meanwhile steers the turn.
    const steering = queue.filter(({ isOwn }) => !isOwn)
    for (const work of steering) queue.splice(queue.indexOf(work), 1)
    steering.forEach(takeUp)
    request()
  }
  function end(): void {
    const fails = chance() < 0.1
    if (!fails) answered()
    const text = current.map((work) => (work.isOwn ? wokeUp : answerTo(work.text))).join('\n')
    if (!fails)
      print({ type: 'assistant', message: { id: `m-${count()}`, content: [{ type: 'text', text }] } })
    const fault = { api_error_status: 400, terminal_reason: 'api_error', result: 'API Error: 400 No.' }
    const result = { type: 'result', subtype: 'success', is_error: fails, session_id: sessionId }
    print({ ...result, ...(fails && fault), ...naming() })
    for (const { id } of current) lifecycle(id, fails ? 'cancelled' : 'completed')
    current = []
  }
  return {
    seen,
    hear(line) {
      const { uuid: id, message } = Heard.parse(JSON.parse(line))
      lifecycle(id, 'queued')
      queue.push({ id, text: message.content.map(({ text }) => text).join(''), isOwn: false })
    },
    wake: () => void queue.push({ id: `own-${count()}`, text: '', isOwn: true }),
    step() {
      if (current.length === 0) return begin()
      if (stepsLeft === 0) return end()
      stepsLeft -= 1
      useTool()
    },
    isIdle: () => current.length === 0 && queue.length === 0,
  }
}
