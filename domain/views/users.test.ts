/** A user's document: what people see of themselves, and which sessions are over. */
import { describe, expect, test } from 'vitest'
import { User } from '../api/auth.ts'
import { userId } from '../../tests/domain/ids.ts'
import { erased, recorded } from '../../tests/domain/recorded.ts'
import { userStream } from '../kernel/ids.ts'
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
import { userOf, usersView } from './users.ts'
import { foldView } from './view.ts'

const logOf = (events: readonly UserEvent[]) =>
  events.map((event, revision) => recorded(event, { revision, stream: userStream(userId(1)) }))
const documentOf = (...events: readonly UserEvent[]) =>
  foldView(usersView, new Map(), logOf(events)).get(userId(1))

const ada = [
  UserRegistered.of({ userId: userId(1) }, { name: 'Ada', email: 'ada@code.example' }),
  GitHubConnected.of(
    { githubId: '42' },
    { login: 'ada', name: 'Ada', email: 'ada@code.example', avatar: 'https://code.example/ada.png' },
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
      documentOf(...ada, onboarded, ProfileUpdated.of({}, { fullName: 'Ada', email: 'a@b.example' })),
    ).toMatchObject({
      name: 'Ada',
      email: 'a@b.example',
    })
  })

  test('who disconnected keeps the account as identity', () =>
    expect(documentOf(...ada, GitHubDisconnected.of({}))).toMatchObject({
      githubConnected: false,
      githubId: '42',
    }))

  test('has ended sessions', () => {
    const session = { sessionId: 'first', expiresAt: '2026-01-08T00:00:00.000Z' }
    expect(documentOf(...ada, SessionStarted.of(session))).toMatchObject({ endedSessions: [] })
    expect(
      documentOf(...ada, SessionStarted.of(session), SessionEnded.of({ sessionId: 'first' })),
    ).toMatchObject({
      endedSessions: ['first'],
    })
  })

  test('fits the contract, erased or not', () => {
    for (const log of [logOf(ada), logOf(ada).map(erased)]) {
      const document = foldView(usersView, new Map(), log).get(userId(1))
      const answer = document && userOf(document)
      expect(User.parse(answer)).toStrictEqual(answer)
    }
  })
})
