/** A user signs in through the code host, completes the onboarding once, and may connect and disconnect. */
// oxlint-disable vitest/expect-expect -- `given` expects
import { describe, expect, test } from 'vitest'
import { fold } from '../kernel/decider.ts'
import { given, stateAfter } from '../../tests/domain/given.ts'
import { userId } from '../../tests/domain/ids.ts'
import { recorded } from '../../tests/domain/recorded.ts'
import {
  GitHubConnected,
  GitHubDisconnected,
  OnboardingCompleted,
  ProfileUpdated,
  SessionEnded,
  SessionStarted,
  UserRegistered,
  type HostProfile,
} from './events.ts'
import { user, type UserCommand } from './user.ts'

const profile: HostProfile = {
  login: 'ada',
  name: 'Ada Lovelace',
  email: 'ada@code.example',
  avatar: 'https://code.example/ada.png',
}
const expiresAt = '2026-01-08T00:00:00.000Z'

const signIn = (sessionId: string, as: HostProfile = profile) =>
  ({
    type: 'SignInWithGitHub',
    userId: userId(1),
    githubId: '42',
    profile: as,
    sessionId,
    expiresAt,
  }) as const
const onboard = {
  type: 'CompleteOnboarding',
  fullName: 'Ada King',
  email: 'other@code.example',
  companySize: '2-5',
  role: 'cto',
} as const

const registered = UserRegistered.of(
  { userId: userId(1) },
  { name: 'Ada Lovelace', email: 'ada@code.example' },
)
const connected = GitHubConnected.of({ githubId: '42' }, profile)
const disconnected = GitHubDisconnected.of({})
const session = (sessionId: string) => SessionStarted.of({ sessionId, expiresAt })
const ended = (sessionId: string) => SessionEnded.of({ sessionId })
const onboarded = (email: string | null) =>
  OnboardingCompleted.of({ companySize: '2-5', role: 'cto' }, { fullName: 'Ada King', email })
const ada = [registered, connected, session('first')]

describe('signing in', () => {
  test('the first time registers the person, under what the code host says', () =>
    given(user).when(signIn('first')).then(ada))

  test('registers under the login when the host knows no name', () => {
    const nameless = { ...profile, name: null, email: null }
    given(user)
      .when(signIn('first', nameless))
      .then([
        UserRegistered.of({ userId: userId(1) }, { name: 'ada', email: null }),
        GitHubConnected.of({ githubId: '42' }, nameless),
        session('first'),
      ])
  })

  test('again is only a session', () =>
    given(user, ada)
      .when(signIn('second'))
      .then([session('second')]))

  test.each<[keyof HostProfile, HostProfile]>([
    ['login', { ...profile, login: 'countess' }],
    ['name', { ...profile, name: null }],
    ['email', { ...profile, email: null }],
    ['avatar', { ...profile, avatar: 'https://code.example/new.png' }],
  ])('records a changed %s', (_, now) =>
    given(user, ada)
      .when(signIn('second', now))
      .then([GitHubConnected.of({ githubId: '42' }, now), session('second')]),
  )

  test('connects again who had disconnected', () =>
    given(user, ada, disconnected)
      .when(signIn('second'))
      .then([connected, session('second')]))

  test('forgets sessions that have run out', () => {
    const past = [
      recorded(registered, { revision: 0, at: '2026-01-01T00:00:00.000Z' }),
      recorded(session('first'), { revision: 1, at: '2026-01-01T00:00:00.000Z' }),
      recorded(SessionStarted.of({ sessionId: 'second', expiresAt: '2026-01-15T00:00:00.000Z' }), {
        revision: 2,
        at: '2026-01-08T00:00:00.000Z',
      }),
    ]
    expect(fold(user, past)).toMatchObject({ sessions: new Map([['second', '2026-01-15T00:00:00.000Z']]) })
  })
})

describe('signing out', () => {
  const signOut = { type: 'SignOut', sessionId: 'first' } as const

  test('ends the session', () =>
    given(user, ada)
      .when(signOut)
      .then([ended('first')]))
  test('ends a session once', () => given(user, ada, ended('first')).when(signOut).thenNothing())
  test('of an unknown session is nothing', () => given(user, registered).when(signOut).thenNothing())
  test('leaves the other sessions', () =>
    expect(stateAfter(user, ada, session('second'), ended('first'))).toMatchObject({
      sessions: new Map([['second', expiresAt]]),
    }))
})

describe('the code host', () => {
  const connect = { type: 'ConnectGitHub', githubId: '42', profile } as const
  const disconnect = { type: 'DisconnectGitHub' } as const

  test('is connected once', () => given(user, ada).when(connect).thenNothing())
  test('is disconnected', () => given(user, ada).when(disconnect).then([disconnected]))
  test('is disconnected once', () => given(user, ada, disconnected).when(disconnect).thenNothing())
  test('may be connected again', () => given(user, ada, disconnected).when(connect).then([connected]))
  test('may be connected as another account', () => {
    const other = { ...profile, login: 'grace' }
    given(user, ada, disconnected)
      .when({ type: 'ConnectGitHub', githubId: '43', profile: other })
      .then([GitHubConnected.of({ githubId: '43' }, other)])
  })
  test('being disconnected leaves the sessions', () =>
    expect(stateAfter(user, ada, disconnected)).toMatchObject({
      githubId: null,
      profile: null,
      sessions: new Map([['first', expiresAt]]),
    }))
})

describe('the onboarding', () => {
  test('keeps the address that the code host gave', () =>
    given(user, ada)
      .when(onboard)
      .then([onboarded('ada@code.example')]))

  test('takes the address when there is none', () =>
    given(user, UserRegistered.of({ userId: userId(1) }, { name: 'Ada', email: null }))
      .when(onboard)
      .then([onboarded('other@code.example')]))

  test('needs no address', () =>
    given(user, UserRegistered.of({ userId: userId(1) }, { name: 'Ada', email: null }))
      .when({ ...onboard, email: null })
      .then([onboarded(null)]))

  test('is completed once', () => given(user, ada, onboarded('ada@code.example')).when(onboard).thenNothing())
})

test('a profile is what the person says', () =>
  given(user, ada)
    .when({ type: 'UpdateProfile', fullName: 'Ada King', email: null })
    .then([ProfileUpdated.of({}, { fullName: 'Ada King', email: null })]))

test.each<UserCommand>([
  { type: 'ConnectGitHub', githubId: '42', profile },
  { type: 'DisconnectGitHub' },
  { type: 'SignOut', sessionId: 'first' },
  { type: 'UpdateProfile', fullName: 'Ada', email: null },
  onboard,
])('$type needs a user', (command) =>
  given(user).when(command).thenRefused('not_found', 'User not found. Please try again.'),
)
