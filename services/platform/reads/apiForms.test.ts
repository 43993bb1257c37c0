import { afterEach, beforeEach, expect, test } from 'vitest'
import { projectStream, userStream } from '#domain/kernel/streams.ts'
import { ProjectCreated } from '#domain/project/events.ts'
import { UserRegistered } from '#domain/user/events.ts'
import { projectsView } from '#domain/views/projects.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { usersView } from '#domain/views/users.ts'
import { foldView } from '../../../tests/domain/fold.ts'
import { historyOf } from '../../../tests/domain/given.ts'
import { projectId, taskId, userId } from '../../../tests/domain/ids.ts'
import { present } from '../../../tests/domain/present.ts'
import { recorded } from '../../../tests/domain/recorded.ts'
import * as past from '../../../tests/domain/taskHistories.ts'
import { openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { presentProject } from './apiForms.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

const place = (stream: string) => ({ stream, revision: 0, position: '1' })
const registered = UserRegistered.of({ userId: userId(1) }, { name: 'Ada', email: null })
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
const user = foldView(usersView, new Map(), [recorded(registered, place(userStream(userId(1))))])
const project = foldView(projectsView, new Map(), [recorded(created, place(projectStream(projectId(1))))])
const [queued] = foldView(tasksView, new Map(), historyOf(past.queued)).values()

/** The figures of a project whose tasks have these statuses, the newest last. */
async function statsOf(...statuses: readonly string[]) {
  const changes = statuses.map((status, index) => ({
    kind: 'put' as const,
    collection: tasksView.collection,
    document: {
      ...present(queued),
      id: taskId(index + 1),
      order: String(index).padStart(20, '0'),
      title: `Task ${index + 1}`,
      status,
    },
    position: String(index + 1),
  }))
  await engines.readStore.apply(changes, null)
  const [ada, hello] = [present(user.get(userId(1))), present(project.get(projectId(1)))]
  return (await presentProject(engines.documents, hello, ada)).stats
}

test('a queued task of a project does not run', async () => {
  expect(await statsOf('queued', 'running', 'completed', 'failed', 'pending')).toEqual({
    totalTasks: 5,
    completedTasks: 1,
    runningTasks: 1,
    runningTitles: ['Task 2'],
  })
})

test('all that run are counted, and the latest ten are named', async () => {
  const stats = await statsOf(...Array.from({ length: 12 }, () => 'running'), 'queued')
  expect(stats).toMatchObject({ runningTasks: 12 })
  expect(stats.runningTitles.map((title) => title.replace('Task ', ''))).toEqual(
    [12, 11, 10, 9, 8, 7, 6, 5, 4, 3].map(String),
  )
})
