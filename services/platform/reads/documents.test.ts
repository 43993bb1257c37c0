/** Documents as of a revision of their stream, even if the projection is behind that revision or beyond it. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import { TaskDeleted, TaskUpdated } from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import { chatView, messageDocumentId } from '#domain/views/chat.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { creating } from '../../../tests/domain/creating.ts'
import { messageId, taskId } from '../../../tests/domain/ids.ts'
import { recorded } from '../../../tests/domain/recorded.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import type { Head } from '../eventlog/eventLog.ts'
import { goneWith } from './documents.ts'

const stream = taskStream(taskId(1))
const create = creating()

let engines: TestEngines
let created: Head
beforeEach(async () => {
  engines = await openTestEngines()
  created = (await engines.commands.execute(task, stream, create, cause())).head
})
afterEach(() => engines.close())

const asOf = (head: Head) => engines.documents.asOf(tasksView, stream, taskId(1), head)
const retitle = (title: string) =>
  engines.commands.execute(task, stream, { type: 'UpdateTask', title }, cause())

test('a write is shown though nothing is projected yet', async () => {
  expect(await asOf(created)).toMatchObject({ title: 'A title', status: 'queued', version: 2 })
  expect(
    await engines.documents.asOf(chatView, stream, messageDocumentId(taskId(1), messageId(1)), created),
  ).toMatchObject({
    message: 'Words',
    status: 'queued',
  })
})

test('what the projection has is taken from it, and only what is newer is folded on top', async () => {
  const document = await asOf(created)
  if (!document) throw new Error('The task was created.')
  const marked = { ...document, title: 'as projected' }
  const put = { kind: 'put', collection: 'tasks', document: marked, position: document.position } as const
  await engines.readStore.apply([put], { projection: 'main', position: document.position })
  expect(await asOf(created)).toEqual(marked)
  const { head } = await retitle('newer')
  expect(await asOf(head)).toMatchObject({ title: 'newer', version: 3 })
})

test('a stream of thousands of events is folded to its end', async () => {
  let head = created
  for (let count = 0; count < 5; count += 1) {
    const many = Array.from({ length: 500 }, (_, n) =>
      TaskUpdated.of({}, { title: `t${count * 500 + n}`, description: '' }),
    )
    const appended = await engines.log.append(stream, head, many, cause())
    if (appended.kind === 'appended') head = appended.head
  }
  expect(await asOf(head)).toMatchObject({ title: 't2499', version: head.revision })
})

test('what was deleted is no more, and what never was is not', async () => {
  const deleted = await engines.log.append(stream, created, [TaskDeleted.of({})], cause())
  expect(deleted.kind === 'appended' && (await asOf(deleted.head))).toBeUndefined()
  const elsewhere = taskStream(taskId(9))
  const head = await engines.log.headOf(elsewhere)
  expect(await engines.documents.asOf(tasksView, elsewhere, taskId(9), head)).toBeUndefined()
})

test('other work gets its turn while the documents of a large task are looked for', async () => {
  const page = Array.from({ length: 1_000 }, (_, order) => ({ id: `m${order}`, order }))
  let pages = 0
  const find = async () => ((pages += 1) < 3 ? page : [])
  let isDone = false
  setImmediate(() => (isDone = true))
  const ids = await goneWith({ find }, chatView, recorded(TaskDeleted.of({}), { revision: 1, stream }))
  expect(ids).toHaveLength(2_000)
  expect(isDone).toBe(true)
})

test('an erased task is still folded: its words are gone, its facts are there', async () => {
  await engines.vault.destroy(`task:${taskId(1)}`)
  expect(await asOf(created)).toMatchObject({ title: '', description: '', status: 'queued', agent: 'claude' })
  const message = await engines.documents.asOf(
    chatView,
    stream,
    messageDocumentId(taskId(1), messageId(1)),
    created,
  )
  expect(message).toMatchObject({ message: null, messageType: 'user' })
})
