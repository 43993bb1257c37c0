/** What is known to fail is refused, and only that. */
import { expect, test } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { isWithout, requireAgent } from './knownToFail.ts'

const project = { githubOwner: 'ada', githubRepoName: 'sample', defaultBranch: 'trunk' }
const access = { tokenOf: async () => 'token' }
/** A host that has these branches. */
const hostOf = (...names: readonly string[]) => ({
  branch: async (_token: string, _repository: object, name: string) =>
    names.includes(name) ? { commit: 'c', tree: 't' } : undefined,
  branches: async () => names,
})
const asks = (branch: string, codeHost = hostOf('trunk', 'feature'), by: typeof access = access) =>
  isWithout(project, { branch, ownerId: 'ada' }, { access: by, codeHost })

test('a branch that the repository does not have is known to be missing', async () => {
  expect(await asks('no-such-branch')).toBe(true)
  expect(await asks('main')).toBe(true)
  expect(await asks('feature')).toBe(false)
})

test('the default branch is not asked for, and main is right in an empty repository', async () => {
  expect(await asks('trunk', hostOf())).toBe(false)
  expect(await asks('main', hostOf())).toBe(false)
  expect(await asks('other', hostOf())).toBe(true)
})

test.each([
  ['is away', new CodeHostFault('unavailable', 'The code host does not answer.')],
  ['knows nobody like that', new Fault('github_not_connected')],
])('nothing is known of a host that %s', async (_, fault) => {
  const refusing = { tokenOf: () => Promise.reject(fault) }
  expect(await asks('no-such-branch', hostOf('trunk'), refusing)).toBe(false)
})

test('nobody waits for a host that does not answer', async () => {
  const silent = { tokenOf: () => new Promise<string>(() => undefined) }
  expect(await asks('no-such-branch', hostOf('trunk'), silent)).toBe(false)
})

test('a defect is no answer of the host', async () => {
  const defect = new TypeError('x is not a function')
  await expect(asks('feature', hostOf('trunk'), { tokenOf: () => Promise.reject(defect) })).rejects.toBe(
    defect,
  )
})

test('an agent that no runner can run is refused with the reason, and its field', () => {
  const agents = { whyNone: (name: string) => (name === 'cursor' ? 'It is not installed.' : null) }
  expect(() => requireAgent('cursor', { agents })).toThrow(
    expect.objectContaining({ code: 'agent_unavailable', message: 'It is not installed.', field: 'agent' }),
  )
  expect(() => requireAgent('claude', { agents })).not.toThrow()
})
