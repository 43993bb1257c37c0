/** What a runner reads for people of a repository whose name may belong to another repository now. */
import { expect, test } from 'vitest'
import { logger } from '#platform/log.ts'
import { projectId, taskId, userId } from '../../../tests/domain/ids.ts'
import { foundRepositories, type AbilitiesDeps } from './abilities.ts'
import { linesOf, type LinesDeps } from './fileLines.ts'
import { fetchedRepository } from './repositoryFacts.ts'

type Deps = AbilitiesDeps & LinesDeps & Parameters<typeof fetchedRepository>[0]

/** The person's project is of the repository with the number 7. */
const depsAt = (numberAtHost: string) =>
  ({
    root: '/nowhere',
    logger: logger('silent'),
    documents: {
      get: async () => ({
        owner: userId(1),
        projectId: projectId(1),
        githubOwner: 'ada',
        githubRepoName: 'sample',
        githubRepoId: '7',
      }),
    },
    accessControl: { check: async () => undefined },
    access: { tokenOf: async () => 'token' },
    codeHost: {
      gitAccess: () => ({ url: 'https://host.example/ada/sample' }),
      repository: async () => ({ id: numberAtHost, defaultBranch: 'main', mayPush: true }),
    },
    mirrors: { find: async () => ({ dir: '/nowhere/mirror' }) },
    git: async () => ({ code: 0, endedBy: 'itself', stdout: Buffer.from('line\n'), stderr: Buffer.alloc(0) }),
  }) as unknown as Deps

test.each([
  ['7', true],
  ['8', false],
])('of the repository with the number %s it reads files: %s', async (numberAtHost, isRead) => {
  const deps = depsAt(numberAtHost)
  const place = { projectId: projectId(1), ownerId: userId(1) }
  const lines = { taskId: taskId(1), ownerId: userId(1), blob: 'a'.repeat(40), from: 1, to: 1 }
  expect((await fetchedRepository(deps, place)) !== undefined).toBe(isRead)
  expect((await foundRepositories(deps)(place)) !== undefined).toBe(isRead)
  expect((await linesOf(deps, lines)) !== undefined).toBe(isRead)
})
