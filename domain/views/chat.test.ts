/** The chat shows each message once, with its state and its author. */
import { describe, expect, test } from 'vitest'
import { ChatMessage } from '../api/chat.schema.ts'
import { historyOf } from '../../tests/domain/given.ts'
import { executionId, imageId, messageId, taskId } from '../../tests/domain/ids.ts'
import { erased, moment, recorded } from '../../tests/domain/recorded.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import { taskStream } from '../kernel/streams.ts'
import {
  AgentActedUnasked,
  CommandOutputRecorded,
  MessageEdited,
  MessagePosted,
  MessageQueued,
  MessageWithdrawn,
  ModelRetryScheduled,
  type TaskEvent,
} from '../task/events.ts'
import { chatMessageOf, chatView, endIn, messageDocumentId } from './chat.ts'
import type { AnyRecorded } from './view.ts'
import { foldView } from '../../tests/domain/fold.ts'

const addressOf = ({ imageId }: { imageId: string }) => `/api/images/${imageId}`

const chat = (...events: readonly (TaskEvent | readonly TaskEvent[])[]) =>
  foldView(chatView, new Map(), historyOf(...events))
const message = (n: number, ...events: readonly (TaskEvent | readonly TaskEvent[])[]) =>
  chat(...events).get(messageDocumentId('test', messageId(n)))
const commandOnItsWay = [
  past.completed,
  past.waits(2, 'command'),
  past.requested(2, 'follow_up', { kind: 'command' }),
]
const said = (messageType: 'response' | 'system' | 'error') =>
  MessagePosted.of(
    {
      messageId: messageId(9),
      messageType,
      agent: messageType === 'system' ? null : 'claude',
      executionId: executionId(1),
    },
    { message: 'Done.' },
  )

describe('a message of a person', () => {
  // Holds contract 4.6b.
  test.each([
    ['waits', [past.running, past.waits(2)], 'queued'],
    ['is on its way', [past.completed, past.waits(2), past.requested(2)], 'queued'],
    ['is worked on', [past.completed, past.waits(2), past.requested(2), past.started(2)], 'running'],
    [
      'was worked on',
      [past.completed, past.waits(2), past.requested(2), past.started(2), past.succeeded(2)],
      'completed',
    ],
    [
      'was not finished',
      [past.completed, past.waits(2), past.requested(2), past.started(2), past.broke(2)],
      'failed',
    ],
    ['was cancelled', [past.completed, past.waits(2), past.requested(2), past.stopped(2)], 'cancelled'],
  ])('that %s shows it', (_, events, status) =>
    expect(message(2, ...events)).toMatchObject({
      messageType: 'user',
      isCommand: false,
      message: 'message 2',
      status,
      // The spec: messages that are no commands are shown as pending.
      commandStatus: 'pending',
    }),
  )

  test('is worked on again by a retry', () =>
    expect(
      message(1, past.failed, past.requested(2, 'retry', { message: 1 }), past.started(2, 1, 1)),
    ).toMatchObject({ status: 'running', executionId: executionId(2) }))

  test('whose turn ended well is done, whatever the exit code of the agent', () =>
    expect(message(1, past.running, past.succeeded(1, 1))).toMatchObject({
      status: 'completed',
      response: null,
    }))

  test('is gone once withdrawn', () =>
    expect(
      message(2, past.running, past.waits(2), MessageWithdrawn.of({ messageId: messageId(2) })),
    ).toBeUndefined())

  // Holds contract 3.5d.
  test('that was edited has its new words, and says so', () => {
    const edited = MessageEdited.of({ messageId: messageId(2) }, { message: 'Words anew' })
    expect(message(2, past.running, past.waits(2))).toMatchObject({ isEdited: false })
    expect(message(2, past.running, past.waits(2), edited)).toMatchObject({
      message: 'Words anew',
      isEdited: true,
    })
  })

  test('that was erased keeps its place', () =>
    expect(
      foldView(chatView, new Map(), historyOf(past.running).map(erased)).get(
        messageDocumentId('test', messageId(1)),
      ),
    ).toMatchObject({ message: null, status: 'running' }))
})

describe('a command', () => {
  // Holds contract 3.5e, 4.6a.
  test('is queued first', () =>
    expect(message(2, ...commandOnItsWay)).toMatchObject({
      messageType: 'command',
      isCommand: true,
      commandText: 'message 2',
      commandStatus: 'queued',
      response: null,
    }))

  test.each([
    ['succeeds', past.succeeded(2, 0), 'completed', 'exit 0'],
    ['exits with another code than 0', past.succeeded(2, 2), 'failed', 'exit 2'],
    ['could not be run', past.broke(2), 'failed', 'The agent said nothing for 15 minutes.'],
    ['is cancelled', past.stopped(2), 'cancelled', 'cancelled'],
  ])('that %s says so', (_, end, commandStatus, response) =>
    expect(message(2, ...commandOnItsWay, past.started(2), end)).toMatchObject({
      commandStatus,
      status: commandStatus,
      response,
    }),
  )

  // Holds contract 3.5f.
  test('says below its end what it printed last, and nothing of it once it is run again or was erased', () => {
    const printed = CommandOutputRecorded.of(
      { executionId: executionId(2), messageId: messageId(2) },
      { output: 'one\ntwo' },
    )
    const ended = [...commandOnItsWay, past.started(2), printed, past.succeeded(2, 3)]
    expect(message(2, ...ended)).toMatchObject({ commandStatus: 'failed', response: 'exit 3\none\ntwo' })
    expect(endIn(message(2, ...ended)?.response ?? '')).toBe('exit 3')
    expect(
      foldView(chatView, new Map(), historyOf(...ended).map(erased)).get(
        messageDocumentId('test', messageId(2)),
      ),
    ).toMatchObject({ response: 'exit 3' })
    expect(message(2, ...ended, past.started(2, 2, 2))).toMatchObject({ response: null })
  })
})

describe('as the API shows it', () => {
  const shown = (n: number, ...events: readonly (TaskEvent | readonly TaskEvent[])[]) => {
    const document = message(n, ...events)
    return document && chatMessageOf(document, { owner: 'ada', projectId: 'hello' }, addressOf)
  }

  test.each([
    ['user', shown(1, past.running), 'ada'],
    ['command', shown(2, ...commandOnItsWay), 'ada'],
    ['response', shown(9, past.running, said('response')), 'claude'],
    ['error', shown(9, past.running, said('error')), 'claude'],
    ['system', shown(9, past.running, said('system')), 'system'],
  ])('a %s message fits the contract and names who said it', (messageType, answer, owner) => {
    expect(ChatMessage.parse(answer)).toStrictEqual(answer)
    expect(answer).toMatchObject({ messageType, owner, project: 'hello', createdAt: moment })
  })
})

// Holds contract 3.5b.
test('the images of a message are its attachments as well, by the path where each is read', () => {
  const image = {
    imageId: imageId(1),
    mediaType: 'image/png',
    width: 60,
    height: 40,
    blob: { hash: 'a'.repeat(64), size: 1_234 },
    uploadedAt: moment,
  } as const
  const queued = MessageQueued.of(
    { messageId: messageId(2), kind: 'turn', agent: 'claude', images: [image] },
    { message: 'Like this', imageNames: ['plan.png'] },
  )
  const document = message(2, past.completed, queued)
  const answer = document && chatMessageOf(document, { owner: 'ada', projectId: 'hello' }, addressOf)
  expect(ChatMessage.parse(answer)).toStrictEqual(answer)
  const path = addressOf({ imageId: imageId(1) })
  expect(answer?.attachments).toEqual([{ path, name: 'plan.png', mimeType: 'image/png' }])
  expect(answer?.images).toMatchObject([{ url: path, name: 'plan.png', type: 'image/png' }])
})

describe('a message id that a client made', () => {
  const at = (task: number, revision: number) => ({
    stream: taskStream(taskId(task)),
    revision,
    position: String(task * 10 + revision),
  })
  const queued = (task: number) =>
    recorded(
      MessageQueued.of(
        { messageId: messageId(1), kind: 'turn', agent: 'claude', images: [] },
        { message: `of ${task}`, imageNames: [] },
      ),
      at(task, 1),
    )
  const folded = (...log: readonly AnyRecorded[]) => foldView(chatView, new Map(), log)
  const ofTask = (task: number) => messageDocumentId(taskId(task), messageId(1))

  test('may be used by two tasks: each has its own message', () => {
    const messages = folded(queued(1), queued(2))
    expect(messages.get(ofTask(1))).toMatchObject({ task: taskId(1), message: 'of 1' })
    expect(messages.get(ofTask(2))).toMatchObject({ task: taskId(2), message: 'of 2' })
  })

  test('is touched in its own task only', () => {
    const withdrawn = recorded(MessageWithdrawn.of({ messageId: messageId(1) }), at(2, 2))
    expect([...folded(queued(1), queued(2), withdrawn).keys()]).toEqual([ofTask(1)])
    const running = folded(queued(1), queued(2), recorded(past.started(1), at(2, 2)))
    expect([1, 2].map((task) => running.get(ofTask(task))?.status)).toEqual(['queued', 'running'])
  })

  test('is what the API shows', () => {
    const document = folded(queued(1)).get(ofTask(1))
    const answer = document && chatMessageOf(document, { owner: 'ada', projectId: 'hello' }, addressOf)
    expect(ChatMessage.parse(answer)).toStrictEqual(answer)
    expect(answer?.id).toBe(messageId(1))
    expect(answer).not.toHaveProperty('messageId')
  })
})

describe('what happens around a turn', () => {
  const about = { executionId: executionId(1), messageId: messageId(9), agent: 'claude' } as const

  test('agents D1: what the agent did unasked is a message of its own, and no answer', () => {
    const acted = AgentActedUnasked.of(about, { said: 'I woke up.' })
    expect(message(9, past.running, acted)).toMatchObject({
      messageType: 'system',
      executionId: executionId(1),
      agent: 'claude',
      message: expect.stringMatching(/^The agent worked on its own between messages; .*I woke up\.$/s),
    })
    expect(message(9, past.running, AgentActedUnasked.of(about, { said: '' }))?.message).toBe(
      'The agent worked on its own between messages; nobody had asked it.',
    )
    // The message of the turn goes on.
    expect(message(1, past.running, acted)).toMatchObject({ status: 'running' })
  })

  test('agents, overload: the waiting for the model is said with its time', () => {
    const waits = ModelRetryScheduled.of({
      ...about,
      code: 'overloaded',
      retryAt: '2026-11-28T14:05:00.000Z',
    })
    expect(message(9, past.running, waits)).toMatchObject({
      messageType: 'system',
      message: 'The model is overloaded. Trying once more at 14:05 UTC.',
      modelRetry: { code: 'overloaded', retryAt: '2026-11-28T14:05:00.000Z' },
    })
  })
})
