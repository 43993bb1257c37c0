/** A request that may be repeated is accepted once, and remembers what it created outside of the log. */
import { describe, expect, test } from 'vitest'
import { given, stateAfter } from '../tests/domain/given.ts'
import { userId } from '../tests/domain/ids.ts'
import { RepositoryMade, RequestAccepted, request } from './idempotentRequest.ts'

const digest = 'a'.repeat(64)
const accepted = RequestAccepted.of({ userId: userId(1), digest })
const accept = (of = digest) => ({ type: 'AcceptRequest', userId: userId(1), digest: of }) as const
const made = RepositoryMade.of(
  { isPrivate: true },
  {
    githubRepoId: '7',
    name: 'engine',
    fullName: 'ada/engine',
    description: null,
    htmlUrl: 'https://code.example/ada/engine',
  },
)
const record = { type: 'RecordRepository', repository: made } as const

describe('a request', () => {
  test('is taken', () => given(request).when(accept()).then([accepted]))
  test('is taken once when it comes again', () => given(request, [accepted]).when(accept()).thenNothing())
  test('with another body is refused, and named', () =>
    given(request, [accepted])
      .when(accept('b'.repeat(64)))
      .thenRefused('key_reused'))
})

describe('what it made', () => {
  test('is recorded once', () => {
    given(request, [accepted]).when(record).then([made])
    given(request, [accepted, made]).when(record).thenNothing()
  })
  test('is not recorded of a request that was never taken', () =>
    given(request).when(record).thenRefused('not_found'))
  test('is known from then on', () => {
    const state = stateAfter(request, [accepted, made])
    expect(state).toMatchObject({ kind: 'accepted', digest, made: { content: { githubRepoId: '7' } } })
  })
})
