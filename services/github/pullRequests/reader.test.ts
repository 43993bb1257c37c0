/** What happens when an installation of the App is refused a read: people are told nothing because of that refusal alone. */
import { expect, test } from 'vitest'
import { logger } from '#platform/log.ts'
import { CodeHostFault, type PullRequestKey, type PullRequestReading } from '#platform/ports/codeHost.ts'
import type { InstallationAccess, OwnAccess } from '../access.ts'
import type { ReadRequest } from './readQueue.ts'
import { readAll } from './reader.ts'

const own: OwnAccess = {
  kind: 'own',
  holder: 'user:ada',
  token: async () => 'own',
  repositoryToken: async () => 'own',
}
const byNode: PullRequestKey = { nodeId: 'PR_1' }
const byName: PullRequestKey = { repository: { owner: 'acme', name: 'engine' }, number: 1 }

async function read(answer: () => PullRequestReading[], key: PullRequestKey = byNode, access?: OwnAccess) {
  const tokens: string[] = []
  const recorded: unknown[] = []
  let refusals = 0
  const installation: InstallationAccess = {
    kind: 'installation',
    holder: 'installation:7',
    own,
    token: async () => 'wide',
    repositoryToken: async () => 'narrow',
    again: async () => installation,
    refused: () => void (refusals += 1),
  }
  const request: ReadRequest = {
    taskId: 'task',
    number: 1,
    key,
    access: access ?? installation,
    repository: '42',
  }
  const outcome = await readAll(
    {
      codeHost: {
        pullRequestStates: async (token) => {
          tokens.push(token)
          return answer()
        },
      },
      commands: {
        execute: async (_decider, _stream, command) => {
          recorded.push(command)
          throw new Error('nothing is recorded here')
        },
      },
      logger: logger('silent'),
    },
    [request],
  )
  const unseen = outcome.kind === 'read' ? outcome.unseen.map(({ access: { holder } }) => holder) : null
  return { outcome: outcome.kind, unseen, tokens, recorded, refusals }
}
const refuses = (kind: CodeHostFault['kind']) => () => {
  throw new CodeHostFault(kind, 'no')
}

test('a refused token of an installation is waited for, and asked for anew', async () => {
  expect(await read(refuses('unauthorized'))).toEqual({
    outcome: 'wait',
    unseen: null,
    tokens: ['wide'],
    recorded: [],
    refusals: 1,
  })
})

test.each([
  ['a request that it may not make', refuses('forbidden')],
  ['a request for what is gone', refuses('not_found')],
  [
    'a pull request that it is not shown',
    (): PullRequestReading[] => [{ kind: 'hidden', code: 'forbidden' }],
  ],
])('%s is made again by the owner', async (_what, answer) => {
  expect(await read(answer)).toMatchObject({ outcome: 'read', unseen: ['user:ada'], recorded: [] })
})

test('by a name an installation reads with a token for the one repository', async () => {
  expect(await read(refuses('rate_limited'), byName)).toMatchObject({ tokens: ['narrow'], outcome: 'wait' })
})

test('what the own access is refused is recorded', async () => {
  await expect(read(refuses('unauthorized'), byNode, own)).rejects.toThrow('nothing is recorded here')
})
