/** A project's document: the latest answer of the code host, and whether the host could be asked. */
import { describe, expect, test } from 'vitest'
import { Project } from '../api/projects.schema.ts'
import { projectId, userId } from '../../tests/domain/ids.ts'
import { moment, recorded } from '../../tests/domain/recorded.ts'
import { projectStream } from '../kernel/streams.ts'
import {
  ProjectCreated,
  ProjectDeleted,
  ProjectSyncStarted,
  ProjectSynced,
  ProjectSyncFailed,
  ProjectUpdated,
  type ProjectEvent,
} from '../project/events.ts'
import { projectOf, projectsView } from './projects.ts'
import { foldView } from '../../tests/domain/fold.ts'

const repository = {
  githubUrl: 'https://code.example/acme/hello',
  githubOwner: 'acme',
  githubRepoName: 'hello',
  defaultBranch: 'main',
  language: 'Go',
}
const created = ProjectCreated.of(
  { projectId: projectId(1), ownerId: userId(1), isPrivate: true },
  { ...repository, githubRepoId: '7', name: 'hello', description: 'Says hello' },
)
const stats = {
  totalTasks: 1,
  completedTasks: 0,
  runningTasks: 1,
  runningTitles: ['Add a greeting'],
}
const later = '2026-02-01T00:00:00.000Z'

const documentOf = (...events: readonly ProjectEvent[]) =>
  foldView(
    projectsView,
    new Map(),
    events.map((event, revision) =>
      recorded(event, { revision, stream: projectStream(projectId(1)), at: revision === 0 ? moment : later }),
    ),
  ).get(projectId(1))

describe('a project', () => {
  test('begins as the code host describes it', () =>
    expect(documentOf(created)).toMatchObject({
      ...repository,
      name: 'hello',
      status: 'active',
      lastSync: moment,
    }))

  test('follows the repository, and keeps its own name', () =>
    expect(
      documentOf(
        created,
        ProjectUpdated.of({}, { name: 'Hello', description: '' }),
        ProjectSynced.of(
          { isPrivate: false },
          { ...repository, githubRepoName: 'greeter', defaultBranch: 'trunk' },
        ),
      ),
    ).toMatchObject({
      name: 'Hello',
      description: '',
      githubRepoName: 'greeter',
      defaultBranch: 'trunk',
      isPrivate: false,
      lastSync: later,
    }))

  // Holds contract 4.7b.
  test.each([
    ['not_found', 'inactive'],
    ['forbidden', 'error'],
    ['unavailable', 'error'],
    ['github_not_connected', 'inactive'],
    ['invalid', 'error'],
  ])('that could not be synced for %s is %s until it can', (code, status) => {
    const failed = ProjectSyncFailed.of({ code }, { reason: 'It is gone.' })
    expect(documentOf(created, failed)).toMatchObject({
      status,
      lastSync: moment,
      statusReason: 'It is gone.',
    })
    expect(documentOf(created, failed, ProjectSynced.of({ isPrivate: true }, repository))).toMatchObject({
      status: 'active',
      statusReason: null,
    })
  })

  test('is syncing from the beginning of a sync to its end, and no longer than one can last', () => {
    const after = (ms: number) => new Date(Date.parse(later) + ms)
    const statusAt = (now: Date, ...events: readonly ProjectEvent[]) => {
      const document = documentOf(created, ...events)
      return document && projectOf(document, { stats, login: null, now }).status
    }
    const begun = ProjectSyncStarted.of({})
    const failed = ProjectSyncFailed.of({ code: 'forbidden' }, { reason: 'Access is refused.' })
    expect(statusAt(after(0), begun)).toBe('syncing')
    expect(statusAt(after(89_999), failed, begun)).toBe('syncing')
    // The server died in the middle.
    expect(statusAt(after(90_000), begun)).toBe('active')
    expect(statusAt(after(90_000), failed, begun)).toBe('error')
    expect(statusAt(after(0), begun, ProjectSynced.of({ isPrivate: true }, repository))).toBe('active')
    expect(statusAt(after(0), begun, failed)).toBe('error')
  })

  test('that was deleted has no document', () =>
    expect(documentOf(created, ProjectDeleted.of({}))).toBeUndefined())

  // Holds contract 6.1d.
  test.each([
    ['acme', false],
    ['ada', true],
    [null, false],
  ])('seen by %s: of an organisation is %s', (login, isOrganization) => {
    const document = documentOf(created)
    const answer = document && projectOf(document, { stats, login, now: new Date(moment) })
    expect(Project.parse(answer)).toStrictEqual(answer)
    expect(answer).toMatchObject({ isOrganization, stats })
  })
})
