/** A project is a repository that was added once, is described by its owner, and is refreshed from the code host. */
import { describe, test } from 'vitest'
import { given } from '../../tests/domain/given.ts'
import { projectId, userId } from '../../tests/domain/ids.ts'
import {
  ProjectCreated,
  ProjectDeleted,
  ProjectModelKeyRemoved,
  ProjectModelKeySet,
  ProjectSecretRemoved,
  ProjectSecretSet,
  ProjectDraftsChanged,
  ProjectFiltersAllowed,
  ProjectHooksAllowed,
  ProjectHooksForbidden,
  ProjectSettingsChanged,
  ProjectSubmodulesChosen,
  ProjectSyncStarted,
  ProjectSynced,
  ProjectSyncFailed,
  ProjectUpdated,
  type RepositoryFacts,
} from './events.ts'
import { projectDecider, type ProjectCommand } from './project.ts'

const repository: RepositoryFacts = {
  githubUrl: 'https://code.example/ada/hello',
  githubOwner: 'ada',
  githubRepoName: 'hello',
  defaultBranch: 'main',
  language: 'TypeScript',
}
const create = {
  type: 'CreateProject',
  projectId: projectId(1),
  ownerId: userId(1),
  githubRepoId: '7',
  isPrivate: true,
  name: 'hello',
  description: 'Says hello',
  repository,
} as const

const created = ProjectCreated.of(
  { projectId: projectId(1), ownerId: userId(1), isPrivate: true },
  { ...repository, githubRepoId: '7', name: 'hello', description: 'Says hello' },
)
const renamed = ProjectUpdated.of({}, { name: 'Hello', description: 'Says hello' })
const deleted = ProjectDeleted.of({})

describe('creation', () => {
  test('keeps what the code host says', () => given(projectDecider).when(create).then([created]))
  test('happens once', () => given(projectDecider, created).when(create).thenRefused('already_exists'))
  test('does not take up the id of a deleted project', () =>
    given(projectDecider, created, deleted).when(create).thenRefused('already_exists'))
})

describe('update', () => {
  test('keeps what is not named', () =>
    given(projectDecider, created).when({ type: 'UpdateProject', name: 'Hello' }).then([renamed]))
  test('builds on the update before', () =>
    given(projectDecider, created, renamed)
      .when({ type: 'UpdateProject', description: '' })
      .then([ProjectUpdated.of({}, { name: 'Hello', description: '' })]))
  test('to what is true already is nothing', () =>
    given(projectDecider, created, renamed)
      .when({ type: 'UpdateProject', name: 'Hello', description: 'Says hello' })
      .thenNothing())
})

describe('a sync', () => {
  test('is told when it begins', () =>
    given(projectDecider, created)
      .when({ type: 'StartSync' })
      .then([ProjectSyncStarted.of({})]))

  test('records what the repository is now', () =>
    given(projectDecider, created)
      .when({ type: 'RecordSync', isPrivate: false, repository: { ...repository, defaultBranch: 'trunk' } })
      .then([ProjectSynced.of({ isPrivate: false }, { ...repository, defaultBranch: 'trunk' })]))

  test('records why it could not be made', () =>
    given(projectDecider, created)
      .when({ type: 'RecordSyncFailure', code: 'not_found', reason: 'The repository is gone.' })
      .then([ProjectSyncFailed.of({ code: 'not_found' }, { reason: 'The repository is gone.' })]))
})

describe('its settings', () => {
  const words = {
    setupCommand: 'npm ci',
    variables: [{ name: 'STAGE', value: 'test' }],
    egress: ['example.org'],
    modelFetches: true,
  }
  const changed = ProjectSettingsChanged.of({}, words)
  const secret = ProjectSecretSet.of({ forAgent: false }, { name: 'TOKEN' })

  test('are changed as a whole', () =>
    given(projectDecider, created)
      .when({ type: 'ChangeSettings', ...words })
      .then([changed]))
  test('keep what is not named', () =>
    given(projectDecider, created, changed)
      .when({ type: 'ChangeSettings', setupCommand: 'make' })
      .then([ProjectSettingsChanged.of({}, { ...words, setupCommand: 'make' })]))
  test('repository F1: name the filters that may go unapplied, and keep them when others change', () => {
    const allowed = ProjectFiltersAllowed.of({}, { filters: ['lfs'] })
    given(projectDecider, created, changed)
      .when({ type: 'AllowFilters', filters: ['lfs', 'lfs'] })
      .then([allowed])
    given(projectDecider, created, allowed)
      .when({ type: 'AllowFilters', filters: ['lfs'] })
      .thenNothing()
    given(projectDecider, created, allowed, changed)
      .when({ type: 'AllowFilters', filters: ['lfs'] })
      .thenNothing()
    given(projectDecider, created, allowed)
      .when({ type: 'AllowFilters', filters: [] })
      .then([ProjectFiltersAllowed.of({}, { filters: [] })])
  })
  test('github gap 10: say whether turns open drafts, which they do not by default', () => {
    const on = ProjectDraftsChanged.of({ on: true })
    given(projectDecider, created).when({ type: 'ChangeDrafts', on: false }).thenNothing()
    given(projectDecider, created).when({ type: 'ChangeDrafts', on: true }).then([on])
    given(projectDecider, created, on, changed).when({ type: 'ChangeDrafts', on: true }).thenNothing()
  })
  test('repository F2: name the repositories that are fetched as submodules, and keep the filters', () => {
    const chosen = ProjectSubmodulesChosen.of({}, { repositories: ['ada/lib'] })
    const allowed = ProjectFiltersAllowed.of({}, { filters: ['lfs'] })
    given(projectDecider, created, allowed)
      .when({ type: 'ChooseSubmodules', repositories: ['ada/lib', 'ada/lib'] })
      .then([chosen])
    given(projectDecider, created, chosen, allowed, changed)
      .when({ type: 'ChooseSubmodules', repositories: ['ada/lib'] })
      .thenNothing()
    given(projectDecider, created, allowed, chosen)
      .when({ type: 'AllowFilters', filters: ['lfs'] })
      .thenNothing()
  })
  test('name one version of the hooks that may run, until they are forbidden again', () => {
    const [first, second] = ['a'.repeat(64), 'b'.repeat(64)]
    const allowed = ProjectHooksAllowed.of({ hash: first })
    const allow = (hash: string | null) => ({ type: 'AllowHooks', hash }) as const
    given(projectDecider, created).when(allow(null)).thenNothing()
    given(projectDecider, created).when(allow(first)).then([allowed])
    given(projectDecider, created, allowed, changed).when(allow(first)).thenNothing()
    given(projectDecider, created, allowed)
      .when(allow(second))
      .then([ProjectHooksAllowed.of({ hash: second })])
    given(projectDecider, created, allowed)
      .when(allow(null))
      .then([ProjectHooksForbidden.of({})])
    given(projectDecider, created, allowed, ProjectHooksForbidden.of({})).when(allow(first)).then([allowed])
  })
  test('to what is true already are nothing', () =>
    given(projectDecider, created, changed)
      .when({ type: 'ChangeSettings', egress: words.egress })
      .thenNothing())
  test('have a secret set and set again: its value is another, which no event tells', () =>
    given(projectDecider, created, secret)
      .when({ type: 'SetSecret', name: 'TOKEN', forAgent: false })
      .then([secret]))
  test('lose a secret once', () => {
    const removed = ProjectSecretRemoved.of({}, { name: 'TOKEN' })
    given(projectDecider, created, secret).when({ type: 'RemoveSecret', name: 'TOKEN' }).then([removed])
    given(projectDecider, created, secret, removed)
      .when({ type: 'RemoveSecret', name: 'TOKEN' })
      .thenRefused('not_found', 'There is no such secret.')
  })
  test('have one value for a name', () => {
    given(projectDecider, created, changed)
      .when({ type: 'SetSecret', name: 'STAGE', forAgent: true })
      .thenRefused('invalid_input')
    given(projectDecider, created, secret)
      .when({ type: 'ChangeSettings', variables: [{ name: 'TOKEN', value: 'shown' }] })
      .thenRefused('invalid_input')
  })
  test('have 64 secrets at most', () => {
    const all = Array.from({ length: 64 }, (_, n) =>
      ProjectSecretSet.of({ forAgent: false }, { name: `S${n}` }),
    )
    given(projectDecider, [created, ...all])
      .when({ type: 'SetSecret', name: 'S64', forAgent: false })
      .thenRefused('invalid_input')
    given(projectDecider, [created, ...all])
      .when({ type: 'SetSecret', name: 'S63', forAgent: false })
      .then([ProjectSecretSet.of({ forAgent: false }, { name: 'S63' })])
  })
})

test('a key for models is set with its address, and removed once', () => {
  const set = ProjectModelKeySet.of(
    { provider: 'openai', checked: false },
    { ending: '0004', baseUrl: 'https://gateway.example' },
  )
  const removed = ProjectModelKeyRemoved.of({ provider: 'openai' })
  const remove = { type: 'RemoveModelKey', provider: 'openai' } as const
  given(projectDecider, created)
    .when({ type: 'SetModelKey', ...set.data, ...set.content })
    .then([set])
  given(projectDecider, created, set).when(remove).then([removed])
  given(projectDecider, created, set, removed).when(remove).thenNothing()
})

test('a project is deleted once', () => {
  given(projectDecider, created).when({ type: 'DeleteProject' }).then([deleted])
  given(projectDecider, created, deleted).when({ type: 'DeleteProject' }).thenRefused('not_found')
})

describe.each([
  ['no project', []],
  ['a deleted project', [created, deleted]],
])('of %s', (_, past) => {
  test.each<ProjectCommand>([
    { type: 'UpdateProject', name: 'Hello' },
    { type: 'StartSync' },
    { type: 'RecordSync', isPrivate: false, repository },
    { type: 'RecordSyncFailure', code: 'not_found', reason: 'The repository is gone.' },
    { type: 'ChangeSettings', setupCommand: 'make' },
    { type: 'SetSecret', name: 'TOKEN', forAgent: false },
    { type: 'RemoveSecret', name: 'TOKEN' },
    { type: 'DeleteProject' },
  ])('$type is refused', (command) =>
    given(projectDecider, past).when(command).thenRefused('not_found', 'There is no such project.'),
  )
})
