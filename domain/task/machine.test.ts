/** After any commands in any order, a task's status has moved only along the state machine, and its state is consistent. */
// oxlint-disable vitest/expect-expect -- what `over` and `always` are given expects
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expectToFitItsSchema } from '../../tests/domain/given.ts'
import { erased, recorded } from '../../tests/domain/recorded.ts'
import { lives, liveTask, logOf, type Life, type Moment } from '../../tests/domain/taskLives.ts'
import { isRefusal } from '../kernel/decider.ts'
import type { LiveTask, TaskState } from './state.ts'
import { task } from './task.ts'
import { randomRuns } from '../../tests/longRun.ts'
import { fold } from '../../tests/domain/fold.ts'

/** `pending -> queued -> running -> an end`, from an end to `queued`; a cancel may come before the runner. */
const machine: Readonly<Record<string, readonly string[]>> = {
  none: ['pending'],
  pending: ['queued'],
  queued: ['running', 'cancelled'],
  running: ['completed', 'failed', 'cancelled'],
  completed: ['queued'],
  failed: ['queued'],
  cancelled: ['queued'],
  deleted: [],
}

const statusOf = (state: TaskState): string => (state.kind === 'task' ? state.phase.status : state.kind)

const over = (check: (life: Life) => void): void =>
  fc.assert(
    fc.property(lives(), (life) => {
      check(life)
    }),
    { numRuns: randomRuns(200) },
  )

/** The steps of a life that the machine does not know. */
function strayMoves(life: Life): readonly string[] {
  const log = logOf(life)
  const states = log.map((_, index) => fold(task, log.slice(0, index)))
  return log.flatMap((event, index) => {
    const before = states[index] ?? task.initial
    const [from, to] = [statusOf(before), statusOf(task.evolve(before, event))]
    const execution = executionOf(before)
    const isGivenBack = execution?.kind === 'command' && to === execution.statusBefore
    const isKnown = from === to || to === 'deleted' || isGivenBack || machine[from]?.includes(to) === true
    return isKnown ? [] : [`${from} -> ${to} by ${event.type}`]
  })
}

describe('the status', () => {
  test('moves only along the machine; a command gives back the status it met', () =>
    over((life) => expect(strayMoves(life)).toEqual([])))

  test('is never pending once the task is made', () =>
    over((life) => expect(life.map(({ after }) => statusOf(after))).not.toContain('pending')))

  test('comes to every state of the machine in these lives', () => {
    const seen = new Set<string>()
    over((life) => life.forEach(({ after }) => seen.add(statusOf(after))))
    expect([...seen].toSorted()).toEqual(['cancelled', 'completed', 'deleted', 'failed', 'queued', 'running'])
  })
})

describe('at every moment', () => {
  /** The moments of a life at which a rule about a task that exists does not hold. */
  const always = (rule: (task: LiveTask) => boolean): void =>
    over((life) =>
      expect(life.map(({ after }) => after).filter((state) => state.kind === 'task' && !rule(state))).toEqual(
        [],
      ),
    )

  test('it runs when a runner holds the execution, and is queued when none does', () =>
    always(
      ({ phase }) => !('execution' in phase) || phase.execution.attempt > 0 === (phase.status === 'running'),
    ))

  test('an attempt is the next of its execution, and of no other runner', () =>
    over((life) => {
      const claims = logOf(life).flatMap((event) =>
        event.type === 'ExecutionStarted' ? [`${event.data.executionId}:${event.data.attempt}`] : [],
      )
      expect(claims).toEqual([...new Set(claims)])
    }))

  test('no message waits twice', () =>
    always(({ queue }) => new Set(queue.map(({ messageId }) => messageId)).size === queue.length))

  test('no message waits after it had its turn', () =>
    always(({ queue, delivered }) => !queue.some(({ messageId }) => delivered.has(messageId))))

  test('what is on its way is the first that waits, or a retry', () =>
    always(
      ({ phase, queue, delivered }) =>
        phase.status !== 'queued' ||
        queue[0]?.messageId === phase.execution.messageId ||
        delivered.has(phase.execution.messageId),
    ))

  test('what runs was delivered', () =>
    always(({ phase, delivered }) => phase.status !== 'running' || delivered.has(phase.execution.messageId)))

  test('there is a turn to try again', () => always(({ lastTurn }) => lastTurn?.kind === 'turn'))

  test('tools are open only while something runs', () =>
    always(({ phase, openTools }) => phase.status === 'running' || openTools.size === 0))

  test('a workspace is being prepared only while something runs', () =>
    always(({ phase, workspace }) => phase.status === 'running' || workspace !== 'preparing'))
})

describe('a decision', () => {
  test('is made of events that fit their schemas', () =>
    over((life) => logOf(life).forEach(expectToFitItsSchema)))

  test('for a runner that lost the execution, or is mistaken, is a refusal', () =>
    over((life) => expect(life.filter(isTakenFromAStranger)).toEqual([])))

  test('does not depend on what was asked in vain before', () =>
    over((life) => {
      const replayed = life
        .filter(({ events }) => events.length > 0)
        .reduce((state: TaskState, { command }) => {
          const decision = task.decide(command, state)
          expect(decision).not.toHaveProperty('refused')
          if (isRefusal(decision)) return state
          return decision.reduce(
            (folded, event) => task.evolve(folded, recorded(event, { revision: 0 })),
            state,
          )
        }, task.initial)
      expect(replayed).toEqual(life.at(-1)?.after)
    }))
})

describe('the fold', () => {
  test('may start at any snapshot', () =>
    fc.assert(
      fc.property(lives(), fc.nat(), (life, at) => {
        const log = logOf(life)
        const cut = at % (log.length + 1)
        const snapshot = structuredClone(fold(task, log.slice(0, cut)))
        expect(fold(task, log.slice(cut), snapshot)).toEqual(fold(task, log))
      }),
      { numRuns: randomRuns(200) },
    ))

  test('changes no state in place', () =>
    over((life) => {
      let state: TaskState = task.initial
      for (const event of logOf(life)) {
        const kept = structuredClone(state)
        const next = task.evolve(state, event)
        expect(state).toEqual(kept)
        state = next
      }
    }))

  test('accepts erased content, and stands where it stood', () =>
    over((life) => {
      const state = fold(task, logOf(life).map(erased))
      const trees = { changedTree: null, treeBefore: null }
      const ofPullRequest = { pullRequest: null, requestedPullRequest: null }
      const sealed = { title: '', description: '', ...trees, ...ofPullRequest, saved: null }
      expect({ ...state, ...sealed }).toEqual({ ...life.at(-1)?.after, ...sealed })
    }))
})

/** Whether a report took effect that was not the holder's, or a claim that was not for the next attempt. */
function isTakenFromAStranger({ command, before, events }: Moment): boolean {
  const execution = executionOf(before)
  if (command.type === 'StartExecution') {
    const isNext =
      execution?.executionId === command.executionId && execution.attempt === command.afterAttempt
    return !isNext && events.length > 0
  }
  if (command.type !== 'RecordProgress' && command.type !== 'EndExecution') return false
  const { executionId, attempt } = command.fence
  const isHolder = attempt > 0 && execution?.executionId === executionId && execution.attempt === attempt
  return !isHolder && events.length > 0
}

function executionOf(state: TaskState) {
  const phase = liveTask(state)?.phase
  return phase && 'execution' in phase ? phase.execution : undefined
}
