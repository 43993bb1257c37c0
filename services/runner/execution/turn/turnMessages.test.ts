/** Messages, wake-ups, freezes and restarts of an agent in any order: which messages are answered, and which only seem to be. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { executionId } from '../../../../tests/domain/ids.ts'
import { recordingOf } from '../../../../tests/runner/turnRecording.ts'
import {
  answerTo,
  createWakingAgent,
  wokeUp,
  type WakingAgent,
} from '../../../../tests/standins/wakingAgent.ts'
import { claude } from '../../agents/claude/claude.ts'
import type { AgentDialogue, AgentEvent } from '../../agents/port.ts'
import { turnMessages } from './turnMessages.ts'

const end = (answers?: readonly string[], ok = true) =>
  ({ type: 'end', ok, sessionId: 's', durationMs: 1, turns: 1, ...(answers && { answers }) }) as const

describe('agents D1: the messages of a turn', () => {
  test('agents D1: an end that names none of them ends nothing', () => {
    const messages = turnMessages()
    messages.add('mine')
    expect(messages.hear(end([]))).toEqual({ takenUp: [], seen: [], isOwnEnd: false })
    expect(messages.hear(end(['of another turn']))).toEqual({ takenUp: [], seen: [], isOwnEnd: false })
    expect(messages.isOver()).toBe(false)
    expect(messages.isCompleted()).toBe(false)
    expect(messages.hear(end(['mine']))).toEqual({ takenUp: ['mine'], seen: ['mine'], isOwnEnd: true })
    expect(messages.isOver()).toBe(true)
    expect(messages.isCompleted()).toBe(true)
  })

  test('agents D1: an agent that does not say answers all that it was sent', () => {
    const messages = turnMessages()
    messages.add('mine')
    expect(messages.hear(end())).toEqual({ takenUp: ['mine'], seen: ['mine'], isOwnEnd: true })
    expect(messages.isOver()).toBe(true)
  })

  // Holds findings 1.133.
  test('agents D1: a message that steers and comes too late is waited for', () => {
    const messages = turnMessages()
    messages.add('first')
    messages.hear({ type: 'taken_up', messageIds: ['first'] })
    messages.add('late')
    messages.hear(end(['first']))
    expect(messages.isOver()).toBe(false)
    messages.hear({ type: 'taken_up', messageIds: ['late'] })
    expect(messages.isCompleted()).toBe(false)
    messages.hear(end(['late']))
    expect(messages.isOver()).toBe(true)
  })

  test('agents D1: once all is answered no more is sent to the turn', () => {
    const messages = turnMessages()
    messages.add('first')
    messages.hear(end(['first']))
    expect(messages.isOver()).toBe(true)
    expect(messages.add('late')).toBe(false)
    expect(messages.isOver()).toBe(true)
  })

  test('agents D1: the model has seen a message once it says something after the agent took it up, and not before', () => {
    const messages = turnMessages()
    const text = { type: 'text', messageKey: 'a', text: 'Hello.', cut: false } as const
    messages.add('first')
    expect(messages.hear(text).seen).toEqual([])
    expect(messages.hear({ type: 'taken_up', messageIds: ['first'] })).toMatchObject({ seen: [] })
    expect(messages.hear(text).seen).toEqual(['first'])
    messages.add('late')
    messages.hear({ type: 'taken_up', messageIds: ['late'] })
    expect(messages.hear(end(['first', 'late'], false))).toEqual({ takenUp: [], seen: [], isOwnEnd: true })
  })

  test('agents D1: what fails before the model saw it takes nothing from what was answered', () => {
    const messages = turnMessages()
    messages.add('first')
    messages.hear({ type: 'taken_up', messageIds: ['first'] })
    messages.add('late')
    messages.hear(end(['first']))
    expect(messages.hear(end(['late'], false)).seen).toEqual([])
    expect([messages.isOver(), messages.isCompleted()]).toEqual([true, true])
  })

  test('agents D1: what was refused counts as seen neither by what the model says next nor by the end of its turn', () => {
    const messages = turnMessages()
    const text = { type: 'text', messageKey: 'a', text: 'Hello.', cut: false } as const
    messages.add('first')
    messages.hear({ type: 'taken_up', messageIds: ['first'] })
    messages.add('refused')
    expect(messages.hear(end(['refused'], false)).seen).toEqual([])
    expect(messages.hear(text).seen).toEqual(['first'])
    expect(messages.hear(end(['first'])).seen).toEqual([])
    expect([messages.isOver(), messages.isCompleted()]).toEqual([true, true])
  })

  test('agents D1: what failed is answered and not completed', () => {
    const messages = turnMessages()
    messages.add('first')
    messages.hear(end(['first'], false))
    expect([messages.isOver(), messages.isCompleted()]).toEqual([true, false])
  })
})

/** What happens next to the agent, or to the person. */
type Happening = 'step' | 'wake' | 'steer' | 'die'
const happening = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Happening>('step') },
  { weight: 4, arbitrary: fc.constant<Happening>('wake') },
  { weight: 3, arbitrary: fc.constant<Happening>('steer') },
  { weight: 1, arbitrary: fc.constant<Happening>('die') },
)
const turn = fc.record({
  /** While it is frozen between two turns, things become due. */
  dueBefore: fc.nat({ max: 2 }),
  happenings: fc.array(happening, { maxLength: 25 }),
})
const conversation = fc.record({
  turns: fc.array(turn, { minLength: 1, maxLength: 5 }),
  seed: fc.integer({ min: 1, max: 2 ** 30 }),
})

/** Numbers from 0 up to 1, the same for the same seed. */
function chances(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

interface Process {
  readonly agent: WakingAgent
  readonly dialogue: AgentDialogue
  readonly printed: string[]
  /** Events that nobody has read yet. */
  readonly pending: AgentEvent[]
}

function startProcess(chance: () => number): Process {
  const printed: string[] = []
  const print = (line: object) => void printed.push(`${JSON.stringify(line)}\n`)
  return {
    agent: createWakingAgent({ sessionId: 's', chance, print }),
    dialogue: claude.dialogue({ model: null, mode: 'free' }),
    printed,
    pending: [],
  }
}

/** One turn as the runner goes through it, recorded by its own recorder. */
async function runTurn(process: Process, text: string, happenings: readonly Happening[]) {
  const { recorder, messages, recorded, hasBegun, seen } = recordingOf(executionId(1))
  const { agent, dialogue, printed, pending } = process
  let count = 0
  const send = (words: string) => {
    const id = `${text}-${(count += 1)}`
    if (messages.add(id)) agent.hear(dialogue.message({ text: words, images: [], id }))
  }
  // What comes after the end of the turn is for the next.
  const read = async () => {
    pending.push(...printed.splice(0).flatMap((line) => dialogue.push(line)))
    while (!messages.isOver()) {
      const event = pending.shift()
      if (event === undefined) return
      await recorder.record(event)
    }
  }
  send(text)
  const left = [...happenings]
  let isDead = false
  await read()
  while (!messages.isOver() && !isDead) {
    const next = left.shift() ?? 'step'
    if (next === 'step') agent.step()
    else if (next === 'wake') agent.wake()
    else if (next === 'die') isDead = true
    // The person's word waits until the agent has begun.
    else if (hasBegun()) send(`${text} steered`)
    await read()
  }
  if (isDead) for (const event of dialogue.end()) await recorder.record(event)
  return { messages, recorded, seen, isDead }
}

// Holds findings 1.131.
test('agents D1: whatever an agent does by itself, a message is completed only when its model saw it, by its own answer', async () => {
  await fc.assert(
    fc.asyncProperty(conversation, async ({ turns, seed }) => {
      const chance = chances(seed)
      let process = startProcess(chance)
      for (const [index, { dueBefore, happenings }] of turns.entries()) {
        for (let due = 0; due < dueBefore; due += 1) process.agent.wake()
        const text = `message ${index}`
        const { messages, recorded, seen, isDead } = await runTurn(process, text, happenings)
        const responses = recorded.flatMap((event) =>
          event.type === 'MessagePosted' ? event.content.message.split('\n') : [],
        )
        const unasked = recorded.flatMap((event) =>
          event.type === 'AgentActedUnasked' ? [event.content.said] : [],
        )
        // Only this turn's messages are answered in it, and what it did by itself is no answer.
        for (const line of responses.filter((one) => one !== wokeUp))
          expect([answerTo(text), answerTo(`${text} steered`)]).toContain(line)
        for (const said of unasked) expect(['', wokeUp]).toContain(said)
        // What counts as delivered the model has answered with in view, and nothing that it answered waits to be told again.
        for (const id of seen) expect(process.agent.seen).toContain(id)
        const mustBeSeen = [...process.agent.seen].filter((id) => !isDead && id.startsWith(`${text}-`))
        for (const id of mustBeSeen) expect(seen).toContain(id)
        const isAnswered = process.agent.seen.has(`${text}-1`) && responses.length > 0
        expect(isAnswered || !messages.isCompleted()).toBe(true)
        expect(isDead || messages.isOver()).toBe(true)
        if (isDead) process = startProcess(chance)
      }
    }),
    { numRuns: 150 },
  )
})
