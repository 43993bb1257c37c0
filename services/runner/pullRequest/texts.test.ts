/** Texts that stay at the code host are written only once the chat is projected. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import { PullRequestOpened, PullRequestRequested } from '#domain/task/events.ts'
import { task as decider } from '#domain/task/task.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { emptyHead } from '#platform/eventlog/eventLog.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { taskId } from '../../../tests/domain/ids.ts'
import * as past from '../../../tests/domain/taskHistories.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import type { Publication } from './publication.ts'
import { messageOf, wordsOf } from './texts.ts'

const stream = taskStream(taskId(1))
const asked = { requestId: 'request-1', draft: false, automatic: true, rewrites: false }
let engines: TestEngines
let isProjected: boolean
let waits: unknown[]
beforeEach(async () => {
  engines = await openTestEngines()
  isProjected = false
  waits = []
  const events = [
    ...past.running,
    past.prepared,
    past.succeeded(1),
    PullRequestRequested.of(asked, { title: '', body: '', tree: null }),
    PullRequestOpened.of({ requestId: asked.requestId }, { number: 7, url: '', headCommit: 'c'.repeat(40) }),
  ]
  await engines.log.append(stream, emptyHead, events, cause())
})
afterEach(() => engines.close())

const deps = () => ({
  ...engines,
  projected: {
    async waitFor(position: unknown) {
      waits.push(position)
      return isProjected
    },
  },
})

/** A publication of the task. */
async function publication(automatic: boolean): Promise<Publication> {
  const { state, head } = await engines.commands.load(decider, stream)
  const task = await engines.documents.asOf(tasksView, stream, taskId(1), head)
  const requested = { ...asked, automatic, title: 'A title', body: 'A body', tree: null }
  return { state, task, requested } as unknown as Publication
}

/** The position of the task's last event. */
const lastPosition = async () => (await engines.commands.load(decider, stream)).position

test('the proposed words of a pull request', async () => {
  const given = await publication(true)
  await expect(wordsOf(deps(), given)).rejects.toThrow(EngineUnavailable)
  isProjected = true
  expect(await wordsOf(deps(), given)).toMatchObject({ title: past.title })
  expect(waits).toEqual([await lastPosition(), await lastPosition()])
})

test('the message of a later commit', async () => {
  const given = await publication(true)
  await expect(messageOf(deps(), given)).rejects.toThrow(EngineUnavailable)
  isProjected = true
  expect(await messageOf(deps(), given)).toContain('#7')
})

test('words that a person wrote wait for nothing', async () => {
  expect(await wordsOf(deps(), await publication(false))).toMatchObject({ title: 'A title', body: 'A body' })
  expect(waits).toEqual([])
})
