/** A list of tasks as JSON shows what its documents are at that moment, also when the texts of some tasks were kept. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { listTasks } from '#domain/api/tasks.schema.ts'
import { projectStream } from '#domain/kernel/streams.ts'
import { ProjectCreated, ProjectUpdated, type ProjectEvent } from '#domain/project/events.ts'
import { projectsView } from '#domain/views/projects.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { ViewDocument } from '#domain/views/view.ts'
import { sampleImage } from '../../tests/domain/creating.ts'
import { foldView } from '../../tests/domain/fold.ts'
import { historyOf } from '../../tests/domain/given.ts'
import { projectId, taskId, userId } from '../../tests/domain/ids.ts'
import { recorded } from '../../tests/domain/recorded.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import { openTestEngines, type TestEngines } from '../../tests/server/engines.ts'
import { taskTexts } from './taskListJson.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

const created = ProjectCreated.of(
  { projectId: projectId(1), ownerId: userId(1), isPrivate: true },
  {
    githubUrl: 'https://code.example/acme/hello',
    githubOwner: 'acme',
    githubRepoName: 'hello',
    defaultBranch: 'main',
    language: null,
    githubRepoId: '7',
    name: 'hello',
    description: '',
  },
)
const projectAfter = (...events: readonly ProjectEvent[]) =>
  foldView(
    projectsView,
    new Map(),
    events.map((event, revision) =>
      recorded(event, { stream: projectStream(projectId(1)), revision, position: `${revision + 1}` }),
    ),
  ).get(projectId(1))
const [task] = foldView(tasksView, new Map(), historyOf(past.queued)).values()

async function put(collection: string, document: ViewDocument | undefined, position: string): Promise<void> {
  if (document === undefined) throw new Error('The events make a document.')
  await engines.readStore.apply([{ kind: 'put', collection, document: { ...document }, position }], null)
}

/** Lists all tasks in the way the route does. Addresses of images are never the same twice. */
function listing() {
  let addresses = 0
  const addressOf = () => `/api/images/${(addresses += 1)}`
  const texts = taskTexts({ ...engines, imageAddresses: { addressOf, openedBy: () => undefined } })
  return async (next: string | null = null) => {
    const found = await engines.documents.find(tasksView, {
      where: {},
      sort: { field: 'order', direction: 'descending' },
      limit: 9,
    })
    const answer: AnswerOf<typeof listTasks> = JSON.parse((await texts.list(found, next)).toString('utf8'))
    return listTasks.answer.parse(answer)
  }
}

test('no tasks are an empty list', async () => {
  expect(await listing()()).toEqual({ tasks: [], next: null })
})

test('what changes in a task or in its project is shown at once', async () => {
  const list = listing()
  await put('tasks', task, '1')
  expect((await list()).tasks).toMatchObject([{ id: task?.id, project: { name: '' } }])
  await put('projects', projectAfter(created), '1')
  expect((await list()).tasks).toMatchObject([{ project: { name: 'hello', githubOwner: 'acme' } }])
  await put('projects', projectAfter(created, ProjectUpdated.of({}, { name: 'Größe', description: '' })), '2')
  expect((await list()).tasks).toMatchObject([{ project: { name: 'Größe' } }])
  await put('tasks', task && { ...task, title: 'Another title' }, '2')
  await put('tasks', task && { ...task, id: taskId(2), order: '9' }, '2')
  expect(await list('after this')).toMatchObject({
    tasks: [{ id: taskId(2) }, { id: task?.id, title: 'Another title', project: { name: 'Größe' } }],
    next: 'after this',
  })
})

test('the addresses of images are made for each answer, since they expire', async () => {
  const list = listing()
  await put('tasks', task && { ...task, images: [{ ...sampleImage(), uploadedAt: task.createdAt }] }, '1')
  const addressIn = async () => (await list()).tasks[0]?.images[0]?.url
  expect(await addressIn()).toBe('/api/images/1')
  expect(await addressIn()).toBe('/api/images/2')
})
