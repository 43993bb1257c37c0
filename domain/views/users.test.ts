/** A user's document: what people see about themselves, and which sessions have ended. */
import { describe, expect, test } from 'vitest'
import { User } from '../api/auth.schema.ts'
import { sessionId, userId } from '../../tests/domain/ids.ts'
import { erased, recorded } from '../../tests/domain/recorded.ts'
import { userStream } from '../kernel/streams.ts'
import {
  GitHubConnected,
  GitHubDisconnected,
  OnboardingCompleted,
  ProfileUpdated,
  SessionEnded,
  SessionStarted,
  UserRegistered,
  type UserEvent,
} from '../user/events.ts'
import { userOf, usersView, type UserDocument } from './users.ts'
import { foldView } from '../../tests/domain/fold.ts'

const logOf = (events: readonly UserEvent[]) =>
  events.map((event, revision) => recorded(event, { revision, stream: userStream(userId(1)) }))
const documentOf = (...events: readonly UserEvent[]) =>
  foldView(usersView, new Map(), logOf(events)).get(userId(1))

const ada = [
  UserRegistered.of({ userId: userId(1) }, { name: 'Ada', email: 'ada@code.example' }),
  GitHubConnected.of(
    {},
    {
      githubId: '42',
      login: 'ada',
      name: 'Ada',
      email: 'ada@code.example',
      avatar: 'https://code.example/ada.png',
    },
  ),
]

describe('a user', () => {
  test('is who the code host says, until the person says more', () => {
    expect(documentOf(...ada)).toMatchObject({
      name: 'Ada',
      fullName: 'Ada',
      githubConnected: true,
      githubId: '42',
      githubUsername: 'ada',
      onboardingCompleted: false,
    })
    const onboarded = OnboardingCompleted.of(
      { companySize: 'solo', role: 'cto' },
      { fullName: 'Ada King', email: null },
    )
    expect(documentOf(...ada, onboarded)).toMatchObject({
      name: 'Ada King',
      fullName: 'Ada King',
      email: null,
      onboardingCompleted: true,
    })
    expect(
      documentOf(
        ...ada,
        onboarded,
        ProfileUpdated.of({}, { name: 'Ada', fullName: 'Ada Lovelace', email: 'a@b.example' }),
      ),
    ).toMatchObject({
      name: 'Ada',
      fullName: 'Ada Lovelace',
      email: 'a@b.example',
    })
  })

  test('who disconnected keeps the account as identity', () =>
    expect(documentOf(...ada, GitHubDisconnected.of({}))).toMatchObject({
      githubConnected: false,
      githubId: '42',
    }))

  test('whose account was erased is connected to nobody that can be named', () =>
    expect(foldView(usersView, new Map(), logOf(ada).map(erased)).get(userId(1))).toMatchObject({
      githubConnected: true,
      githubId: null,
      githubUsername: null,
      avatar: null,
    }))

  test('fits the contract, erased or not', () => {
    for (const log of [logOf(ada), logOf(ada).map(erased)]) {
      const document = foldView(usersView, new Map(), log).get(userId(1))
      const answer = document && userOf(document)
      expect(User.parse(answer)).toStrictEqual(answer)
    }
  })
})

describe('the ended sessions of a user', () => {
  const session = (n: number) =>
    SessionStarted.of({ sessionId: sessionId(n), expiresAt: '2026-01-08T00:00:00.000Z' }, { client: null })
  const endedAt = (...ends: readonly (readonly [n: number, at: string])[]) =>
    foldView(usersView, new Map<string, UserDocument>(), [
      ...logOf(ada),
      ...ends.map(([n, at], index) =>
        recorded(SessionEnded.of({ sessionId: sessionId(n) }), {
          revision: ada.length + index,
          stream: userStream(userId(1)),
          at,
        }),
      ),
    ]).get(userId(1))?.endedSessions

  test('are none while a session goes on', () =>
    expect(documentOf(...ada, session(1))).toMatchObject({ endedSessions: [] }))

  test('say when each was ended', () =>
    expect(endedAt([1, '2026-01-01T00:00:00.000Z'], [2, '2026-01-02T00:00:00.000Z'])).toEqual([
      { sessionId: sessionId(1), endedAt: '2026-01-01T00:00:00.000Z' },
      { sessionId: sessionId(2), endedAt: '2026-01-02T00:00:00.000Z' },
    ]))

  test.each([
    ['is kept while its token may still be shown', '2026-01-07T23:59:59.999Z', [1, 2]],
    ['is forgotten after seven days: its token has run out', '2026-01-08T00:00:00.000Z', [2]],
  ])('each %s', (_, next, kept) =>
    expect(endedAt([1, '2026-01-01T00:00:00.000Z'], [2, next])?.map((ended) => ended.sessionId)).toEqual(
      kept.map(sessionId),
    ),
  )

  test('are all kept that were ended within those days, however many', () =>
    expect(
      endedAt(...Array.from({ length: 250 }, (_, index) => [index, '2026-01-01T00:00:00.000Z'] as const)),
    ).toHaveLength(250))
})
