import { expect, test } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { asFaultOfCreation } from './projects.ts'

test('a refused creation of a repository stays a 422 only where the name is taken', () => {
  const taken = new CodeHostFault(
    'invalid',
    'Repository creation failed: name already exists on this account',
  )
  expect(asFaultOfCreation(taken)).toBe(taken)
  for (const kind of ['forbidden', 'not_found', 'invalid'] as const)
    expect(asFaultOfCreation(new CodeHostFault(kind, 'GitHub says why.'))).toMatchObject({
      code: 'forbidden',
      message: 'GitHub says why.',
    })
})

test.each([
  new CodeHostFault('unauthorized', 'Connect again.'),
  new CodeHostFault('unavailable', 'It does not answer.'),
  new Fault('github_not_connected'),
  new TypeError('x is not a function'),
])('any other fault of a creation is left as it is: %s', (fault) => {
  expect(asFaultOfCreation(fault)).toBe(fault)
})
