/** Images of a message: facts about them are not sealed, their names are sealed with the text, and the state for later decisions has neither. */
import { describe, expect, test } from 'vitest'
import { creating, sampleImage } from '../../tests/domain/creating.ts'
import { given, historyOf, stateAfter } from '../../tests/domain/given.ts'
import { executionId, messageId, taskId } from '../../tests/domain/ids.ts'
import { erased } from '../../tests/domain/recorded.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import { ChatMessage } from '../api/chat.schema.ts'
import { Task } from '../api/tasks.schema.ts'
import { chatMessageOf, chatView, messageDocumentId } from '../views/chat.ts'
import type { SealedImage } from '../views/images.ts'
import { taskOf, tasksView } from '../views/tasks.ts'
import { ExecutionRequested, MessageEdited, MessageQueued, TaskCreated, type TaskEvent } from './events.ts'
import { task } from './task.ts'
import { foldView } from '../../tests/domain/fold.ts'

const images = [sampleImage(1), sampleImage(2)]
const facts = images.map(({ name: _name, ...image }) => image)
const imageNames = ['words 1.png', 'words 2.png']
const { title, description, branch, ownerId, projectId } = creating()
const created = [
  TaskCreated.of(
    { taskId: taskId(1), ownerId, projectId, agent: 'claude' },
    { title, description, branch, codexModel: null },
  ),
  MessageQueued.of(
    { messageId: messageId(1), kind: 'turn', agent: 'claude', images: facts },
    { message: description, imageNames },
  ),
  ExecutionRequested.of({
    executionId: executionId(1),
    kind: 'turn',
    reason: 'start',
    messageId: messageId(1),
    agent: 'claude',
  }),
]
const second = MessageQueued.of(
  { messageId: messageId(2), kind: 'turn', agent: 'claude', images: facts.slice(0, 1) },
  { message: '', imageNames: imageNames.slice(0, 1) },
)

describe('a message', () => {
  test('that makes a task has its images', () =>
    given(task)
      .when({ ...creating(), images })
      .then(created))

  test('may have images for words', () =>
    given(task, past.running)
      .when({
        type: 'SendMessage',
        messageId: messageId(2),
        kind: 'turn',
        agent: null,
        message: '',
        images: images.slice(0, 1),
        executionId: executionId(2),
      })
      .then([second]))

  test('waits without them: they are in its event', () =>
    expect(stateAfter(task, past.running, second)).toMatchObject({
      queue: [{ messageId: messageId(2), kind: 'turn', agent: 'claude' }],
    }))
})

describe('as the API shows them', () => {
  const asked: SealedImage[] = []
  const addressOf = (image: SealedImage) => `/at/${asked.push(image)}`
  const stream = `task-${taskId(1)}`
  const historyIn = (...events: readonly TaskEvent[]) =>
    historyOf(events).map((event) => ({ ...event, stream }))
  const chat = (events: ReturnType<typeof historyIn>, n: number) => {
    const document = foldView(chatView, new Map(), events).get(messageDocumentId(taskId(1), messageId(n)))
    return ChatMessage.parse(document && chatMessageOf(document, { owner: ownerId, projectId }, addressOf))
  }
  const shownTask = (events: ReturnType<typeof historyIn>) => {
    const document = foldView(tasksView, new Map(), events).get(taskId(1))
    return Task.parse(document && taskOf(document, undefined, addressOf))
  }
  const shown = (n: number) => ({
    id: sampleImage(n).imageId,
    url: expect.stringMatching(/^\/at\/\d+$/),
    name: `words ${n}.png`,
    size: 1_000 + n,
    type: 'image/png',
  })

  test('a message has its own, and a task those of its first message, with when they came', () => {
    const history = historyIn(...created, second)
    expect(chat(history, 1).images).toEqual([shown(1), shown(2)])
    expect(chat(history, 2)).toMatchObject({ message: '', images: [shown(1)] })
    const { uploadedAt } = sampleImage()
    expect(shownTask(history).images).toEqual([1, 2].map((n) => ({ ...shown(n), uploadedAt })))
  })

  test('each is sealed under the key of the task', () => {
    asked.length = 0
    chat(historyIn(...created), 1)
    const { imageId, blob, mediaType, name } = sampleImage(1)
    expect(asked[0]).toEqual({ imageId, blob, mediaType, name, scope: `task:${taskId(1)}` })
  })

  test('a message that is written anew keeps them', () => {
    const edited = MessageEdited.of({ messageId: messageId(2) }, { message: 'Look.' })
    expect(chat(historyIn(...created, second, edited), 2)).toMatchObject({
      message: 'Look.',
      images: [shown(1)],
    })
  })

  test('none is shown once the task was erased', () => {
    const history = historyIn(...created, second).map(erased)
    expect(chat(history, 1)).toMatchObject({ message: null, images: [] })
    expect(shownTask(history).images).toEqual([])
  })
})
