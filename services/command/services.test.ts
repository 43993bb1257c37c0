/** What is created while its account or project is being deleted would never be erased, so it is refused. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { projectStream, taskStream, userStream } from '#domain/kernel/streams.ts'
import type { ProjectCommand } from '#domain/project/project.ts'
import { ProjectDeleted } from '#domain/project/events.ts'
import { AccountDeleted, UserRegistered } from '#domain/user/events.ts'
import { usersView } from '#domain/views/users.ts'
import { emptyHead } from '#platform/eventlog/eventLog.ts'
import type { Person } from '#platform/http/guards.ts'
import { creating } from '../../tests/domain/creating.ts'
import { foldView } from '../../tests/domain/fold.ts'
import { projectId, sessionId, taskId, userId } from '../../tests/domain/ids.ts'
import { created } from '../../tests/domain/issues.ts'
import { cause, openTestEngines, type TestEngines } from '../../tests/server/engines.ts'
import { executeOnProject, executeOnTask } from './services.ts'

let engines: TestEngines
let asker: Person & { readonly commandId: string }
const [account, project, ownTask] = [
  userStream(userId(1)),
  projectStream(projectId(1)),
  taskStream(taskId(1)),
]

beforeEach(async () => {
  engines = await openTestEngines()
  const registered = UserRegistered.of({ userId: userId(1) }, { name: 'Ada', email: null })
  await engines.log.append(account, emptyHead, [registered], cause())
  const user = foldView(usersView, new Map(), await engines.log.read(account, 0, 1)).get(userId(1))
  if (!user) throw new Error('There is nobody.')
  const actor = { kind: 'user', userId: userId(1) } as const
  asker = { actor, user, sessionId: sessionId(1), commandId: cause().commandId }
})
afterEach(() => engines.close())

const { data, content } = created
const { githubRepoId, name, description, ...repository } = content
const creatingProject: ProjectCommand = {
  type: 'CreateProject',
  ...data,
  githubRepoId,
  name,
  description,
  repository,
}
const createProject = () => executeOnProject(engines, projectId(1), asker, creatingProject)
const createTask = () => {
  const admission = { admit: async () => () => undefined }
  const imageAddresses = { addressOf: () => '', openedBy: () => undefined }
  return executeOnTask({ ...engines, admission, imageAddresses }, taskId(1), asker, creating())
}

async function append(stream: string, event: Parameters<TestEngines['log']['append']>[2][number]) {
  const [last] = await engines.log.readBackwards(stream, 'end', 1)
  const head = last ? { revision: last.revision, hash: last.meta.hash } : emptyHead
  await engines.log.append(stream, head, [event], cause())
}

test('a project and a task of a living account are created', async () => {
  await createProject()
  expect((await createTask()).events[0]?.type).toBe('TaskCreated')
})

test('neither is created once the account was deleted', async () => {
  await append(project, created)
  await append(account, AccountDeleted.of({}))
  await expect(createTask()).rejects.toMatchObject({ code: 'not_found' })
  expect(await engines.log.read(ownTask, 0, 10)).toEqual([])
  await append(project, ProjectDeleted.of({}))
  const other = { ...creatingProject, projectId: projectId(2) }
  await expect(executeOnProject(engines, projectId(2), asker, other)).rejects.toMatchObject({
    code: 'not_found',
  })
  expect(await engines.log.read(projectStream(projectId(2)), 0, 10)).toEqual([])
})

test('a task is not created once its project was deleted', async () => {
  await append(project, created)
  await append(project, ProjectDeleted.of({}))
  await expect(createTask()).rejects.toMatchObject({ code: 'not_found', field: 'projectId' })
  expect(await engines.log.read(ownTask, 0, 10)).toEqual([])
})
