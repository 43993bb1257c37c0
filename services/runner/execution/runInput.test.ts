/** The conversation that an agent without a session is given. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import type { TaskEvent } from '#domain/task/events.ts'
import { task as decider } from '#domain/task/task.ts'
import { chatView, messageDocumentId } from '#domain/views/chat.ts'
import { emptyHead } from '#platform/eventlog/eventLog.ts'
import { messageId, taskId } from '../../../tests/domain/ids.ts'
import * as past from '../../../tests/domain/taskHistories.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { conversationBefore } from './runInput.ts'

const stream = taskStream(taskId(1))
let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

/** The positions for which the conversation before message `n` waits, in vain. */
async function waitsBefore(n: number, history: readonly TaskEvent[]): Promise<readonly unknown[]> {
  const waits: unknown[] = []
  const projected = {
    async waitFor(position: unknown) {
      waits.push(position)
      return false
    },
  }
  await engines.log.append(stream, emptyHead, history, cause())
  const { state, head } = await engines.commands.load(decider, stream)
  const id = messageDocumentId(taskId(1), messageId(n))
  const message = await engines.documents.asOf(chatView, stream, id, head)
  if (state.kind !== 'task' || message === undefined) throw new Error('There is no such message.')
  expect(await conversationBefore({ ...engines, projected }, state, message)).toBe('')
  return waits
}

test('before the first message there is none, and nothing is waited for', async () => {
  expect(await waitsBefore(1, past.running)).toEqual([])
})

test('before a later message it is waited for, and what is projected is used', async () => {
  const later = [past.waits(2), past.requested(2), past.started(2), past.delivered(2)]
  const waits = await waitsBefore(2, [...past.completed, ...later])
  expect(waits).toEqual([(await engines.commands.load(decider, stream)).position])
})
