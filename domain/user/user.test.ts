/** A user signs in through the code host or with a password, completes onboarding once, and can connect and disconnect an account. */
import { describe, expect, test } from 'vitest'
import { given, historyOf, stateAfter } from '../../tests/domain/given.ts'
import { credentialId, sessionId, userId } from '../../tests/domain/ids.ts'
import { erased, recorded } from '../../tests/domain/recorded.ts'
import {
  AgentKeyRemoved,
  AgentKeySet,
  GitHubConnected,
  GitHubDisconnected,
  OnboardingCompleted,
  PasswordSet,
  ProfileUpdated,
  SessionEnded,
  SessionStarted,
  UserRegistered,
  type HostProfile,
} from './events.ts'
import { InstructionsChanged } from './instructions.ts'
import { maxBegun, maxSessions, user, type UserCommand } from './user.ts'
import { fold } from '../../tests/domain/fold.ts'

const profile: HostProfile = {
  githubId: '42',
  login: 'ada',
  name: 'Ada Lovelace',
  email: 'ada@code.example',
  avatar: 'https://code.example/ada.png',
}
const startsAt = '2026-01-01T00:00:00.000Z'
const expiresAt = '2026-01-08T00:00:00.000Z'

const signIn = (n: number, as: HostProfile = profile) =>
  ({
    type: 'SignInWithGitHub',
    userId: userId(1),
    profile: as,
    sessionId: sessionId(n),
    startsAt,
    expiresAt,
    client: 'Chrome on Linux',
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
const connected = GitHubConnected.of({}, profile)
const disconnected = GitHubDisconnected.of({})
const session = (n: number) =>
  SessionStarted.of({ sessionId: sessionId(n), expiresAt }, { client: 'Chrome on Linux' })
const ended = (n: number) => SessionEnded.of({ sessionId: sessionId(n) })
const onboarded = (email: string | null) =>
  OnboardingCompleted.of({ companySize: '2-5', role: 'cto' }, { fullName: 'Ada King', email })
const ada = [registered, connected, session(1)]

const register = (n: number) =>
  ({
    type: 'Register',
    userId: userId(1),
    name: 'Ada Lovelace',
    email: 'ada@code.example',
    credentialId: credentialId(n),
    sessionId: sessionId(n),
    startsAt,
    expiresAt,
    client: 'Chrome on Linux',
  }) as const
const passwordSet = (n: number) => PasswordSet.of({ credentialId: credentialId(n) })
const adaByPassword = [registered, passwordSet(1), session(1)]

describe('finding 9: however often somebody signs in', () => {
  const sessionsBegun = (count: number) => Array.from({ length: count }, (_, n) => session(n + 1))

  // Holds findings 1.28.
  test('so many sessions are open at once, and the oldest ends for another', () => {
    const many = [registered, connected, ...sessionsBegun(maxSessions)]
    given(user, many)
      .when(signIn(maxSessions + 1))
      .then([ended(1), session(maxSessions + 1)])
    given(user, [...many, ended(7)])
      .when(signIn(maxSessions + 1))
      .then([session(maxSessions + 1)])
  })

  test('in the time that a session lasts so many begin, also where each is ended at once', () => {
    const begunAndEnded = sessionsBegun(maxBegun).flatMap((begun, n) => [begun, ended(n + 1)])
    given(user, [registered, passwordSet(1), connected, ...begunAndEnded])
      .when(signIn(maxBegun + 1))
      .thenRefused('rate_limited')
    given(user, [registered, passwordSet(1), connected, ...begunAndEnded])
      .when({ ...signIn(maxBegun + 1), startsAt: expiresAt })
      .then([session(maxBegun + 1)])
    const later = user.evolve(
      stateAfter(user, [registered, connected, ...begunAndEnded]),
      recorded(
        SessionStarted.of(
          { sessionId: sessionId(1), expiresAt: '2026-01-15T00:00:00.000Z' },
          { client: null },
        ),
        { revision: 0, at: '2026-01-08T00:00:00.001Z' },
      ),
    )
    expect(user.decide(signIn(2), later)).toEqual([session(2)])
  })
})

describe('registering', () => {
  test('makes a person with a password, who is signed in', () =>
    given(user).when(register(1)).then(adaByPassword))

  test('is done once for an address', () => {
    given(user, adaByPassword).when(register(2)).thenRefused('already_exists')
    expect(user.decide(register(2), stateAfter(user, adaByPassword))).toMatchObject({ field: 'email' })
  })
})

describe('signing in with a password', () => {
  const signInWith = (n: number) =>
    ({
      type: 'SignInWithPassword',
      credentialId: credentialId(n),
      sessionId: sessionId(2),
      startsAt,
      expiresAt,
      client: 'Chrome on Linux',
    }) as const

  test('is a session', () =>
    given(user, adaByPassword)
      .when(signInWith(1))
      .then([session(2)]))
  test('takes the password that counts now', () => {
    given(user, adaByPassword, passwordSet(2)).when(signInWith(1)).thenRefused('wrong_password')
    given(user, adaByPassword, passwordSet(2))
      .when(signInWith(2))
      .then([session(2)])
  })
  test('needs one that was set', () => given(user, ada).when(signInWith(1)).thenRefused('wrong_password'))
  test('goes on when the account at the code host is disconnected', () =>
    given(user, adaByPassword, connected, disconnected)
      .when(signInWith(1))
      .then([session(2)]))
})

describe('signing in', () => {
  test('the first time registers the person, under what the code host says', () =>
    given(user).when(signIn(1)).then(ada))

  test('registers under the login when the host knows no name', () => {
    const nameless = { ...profile, name: null, email: null }
    given(user)
      .when(signIn(1, nameless))
      .then([
        UserRegistered.of({ userId: userId(1) }, { name: 'ada', email: null }),
        GitHubConnected.of({}, nameless),
        session(1),
      ])
  })

  test('again is only a session', () =>
    given(user, ada)
      .when(signIn(2))
      .then([session(2)]))

  test.each<[keyof HostProfile, HostProfile]>([
    ['githubId', { ...profile, githubId: '43' }],
    ['login', { ...profile, login: 'countess' }],
    ['name', { ...profile, name: null }],
    ['email', { ...profile, email: null }],
    ['avatar', { ...profile, avatar: 'https://code.example/new.png' }],
  ])('records a changed %s', (_, now) =>
    given(user, ada)
      .when(signIn(2, now))
      .then([GitHubConnected.of({}, now), session(2)]),
  )

  test('connects again who had disconnected', () =>
    given(user, ada, disconnected)
      .when(signIn(2))
      .then([connected, session(2)]))

  test('forgets sessions that have run out', () => {
    const past = [
      recorded(registered, { revision: 0, at: '2026-01-01T00:00:00.000Z' }),
      recorded(session(1), { revision: 1, at: '2026-01-01T00:00:00.000Z' }),
      recorded(
        SessionStarted.of(
          { sessionId: sessionId(2), expiresAt: '2026-01-15T00:00:00.000Z' },
          { client: null },
        ),
        {
          revision: 2,
          at: '2026-01-08T00:00:00.000Z',
        },
      ),
    ]
    expect(fold(user, past)).toMatchObject({
      sessions: new Map([[sessionId(2), '2026-01-15T00:00:00.000Z']]),
    })
  })
})

describe('signing out', () => {
  const signOut = { type: 'SignOut', sessionId: sessionId(1) } as const

  test('ends the session', () =>
    given(user, ada)
      .when(signOut)
      .then([ended(1)]))
  test('ends a session once', () => given(user, ada, ended(1)).when(signOut).thenNothing())
  test('of an unknown session is nothing', () => given(user, registered).when(signOut).thenNothing())
  test('leaves the other sessions', () =>
    expect(stateAfter(user, ada, session(2), ended(1))).toMatchObject({
      sessions: new Map([[sessionId(2), expiresAt]]),
    }))
})

describe('the code host', () => {
  const connect = {
    type: 'ConnectGitHub',
    profile,
    sessionId: sessionId(1),
    hasNewTokens: false,
  } as const
  const disconnect = { type: 'DisconnectGitHub' } as const

  test('is connected to who has a password', () => given(user, adaByPassword).when(connect).then([connected]))
  test('is connected once', () => given(user, ada).when(connect).thenNothing())
  test('is connected again by new tokens, also where it was not known to be lost', () => {
    const renew = { ...connect, hasNewTokens: true }
    given(user, ada).when(renew).then([connected])
    given(user, ada, ended(1)).when(renew).thenRefused('sign_in_required')
  })
  test('is connected in a session that goes on', () => {
    given(user, adaByPassword, ended(1)).when(connect).thenRefused('sign_in_required')
    given(user, registered, passwordSet(1), session(2)).when(connect).thenRefused('sign_in_required')
  })
  test('is disconnected', () => given(user, ada).when(disconnect).then([disconnected]))
  test('is disconnected once', () => given(user, ada, disconnected).when(disconnect).thenNothing())
  test('is disconnected by what was seen of it, unless the person has signed in or connected since', () => {
    const seen = (revision: number) => ({ ...disconnect, asOf: revision })
    given(user, ada).when(seen(2)).then([disconnected])
    given(user, ada, session(2)).when(seen(2)).thenRefused('conflict')
    given(user, ada, connected).when(seen(2)).thenRefused('conflict')
    given(user, ada, ended(1)).when(seen(2)).then([disconnected])
    given(user, ada, session(2), disconnected).when(seen(2)).thenNothing()
  })
  test('may be connected again', () => given(user, ada, disconnected).when(connect).then([connected]))
  test.each([
    ['connected', [] as const],
    ['disconnected', [disconnected] as const],
  ])('is not connected as another account once one is known: %s', (_, then) => {
    const other = { ...profile, githubId: '43', login: 'grace' }
    for (const person of [ada, [...adaByPassword, connected]])
      given(user, person, then)
        .when({ ...connect, profile: other })
        .thenRefused('conflict')
  })
  test('is connected although what it said was erased', () => {
    const gone = fold(user, historyOf(ada).map(erased))
    expect(gone).toMatchObject({ githubConnected: true, profile: null })
    expect(user.decide(disconnect, gone)).toStrictEqual([disconnected])
    expect(user.decide(connect, gone)).toStrictEqual([connected])
  })
  test('being disconnected leaves the sessions', () =>
    expect(stateAfter(user, ada, disconnected)).toMatchObject({
      githubConnected: false,
      profile: null,
      sessions: new Map([[sessionId(1), expiresAt]]),
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
    .when({ type: 'UpdateProfile', name: 'Ada', fullName: 'Ada King', email: null })
    .then([ProfileUpdated.of({}, { name: 'Ada', fullName: 'Ada King', email: null })]))

test('of a profile, what is not given stays as it is now, and one name stands for both', () => {
  const now = ProfileUpdated.of({}, { name: 'Ada', fullName: 'Ada King', email: 'ada@other.example' })
  given(user, ada, now)
    .when({ type: 'UpdateProfile', email: null })
    .then([ProfileUpdated.of({}, { name: 'Ada', fullName: 'Ada King', email: null })])
  given(user, ada, now)
    .when({ type: 'UpdateProfile', fullName: 'Ada Byron' })
    .then([ProfileUpdated.of({}, { name: 'Ada Byron', fullName: 'Ada Byron', email: 'ada@other.example' })])
  given(user, ada, onboarded('ada@code.example'))
    .when({ type: 'UpdateProfile', email: 'new@code.example' })
    .then([ProfileUpdated.of({}, { name: 'Ada King', fullName: 'Ada King', email: 'new@code.example' })])
})

test.each<UserCommand>([
  { type: 'ConnectGitHub', profile, sessionId: sessionId(1), hasNewTokens: false },
  {
    type: 'SignInWithPassword',
    credentialId: credentialId(1),
    sessionId: sessionId(1),
    startsAt,
    expiresAt,
    client: null,
  },
  { type: 'DisconnectGitHub' },
  { type: 'SignOut', sessionId: sessionId(1) },
  { type: 'UpdateProfile', name: 'Ada', fullName: 'Ada', email: null },
  onboard,
])('$type needs a user', (command) =>
  given(user).when(command).thenRefused('not_found', 'User not found. Please try again.'),
)

test('finding 9: who signs out everywhere has no session left', () => {
  given(user, [...ada, session(2), session(3), ended(2)])
    .when({ type: 'SignOutEverywhere' })
    .then([ended(1), ended(3)])
  given(user, [...ada, ended(1)])
    .when({ type: 'SignOutEverywhere' })
    .then([])
})

const ownWords = { instructions: 'Be short.', commands: [{ name: 'tidy', description: '', text: 'Tidy.' }] }

test('own instructions and commands are words of the person, and no facts', () =>
  given(user, ada)
    .when({ type: 'ChangeInstructions', ...ownWords })
    .then([InstructionsChanged.of({}, ownWords)]))

test('of own instructions and commands, what is not given stays as it is now', () => {
  const { instructions, commands } = ownWords
  given(user, ada)
    .when({ type: 'ChangeInstructions', commands })
    .then([InstructionsChanged.of({}, { instructions: '', commands })])
  const changed = InstructionsChanged.of({}, ownWords)
  given(user, ada, changed)
    .when({ type: 'ChangeInstructions', instructions: 'Others.' })
    .then([InstructionsChanged.of({}, { instructions: 'Others.', commands })])
  given(user, ada, changed)
    .when({ type: 'ChangeInstructions', commands: [] })
    .then([InstructionsChanged.of({}, { instructions, commands: [] })])
})

test('a key of one’s own is set, set again and removed once', () => {
  const registered = UserRegistered.of({ userId: userId(1) }, { name: 'Ada', email: null })
  const set = AgentKeySet.of({ provider: 'anthropic', kind: 'api_key', checked: true }, { ending: '0001' })
  const command = { type: 'SetAgentKey', ...set.data, ...set.content } as const
  given(user, registered).when(command).then([set])
  given(user, registered, set).when(command).then([set])
  const removed = AgentKeyRemoved.of({ provider: 'anthropic' })
  given(user, registered, set).when({ type: 'RemoveAgentKey', provider: 'anthropic' }).then([removed])
  given(user, registered, set).when({ type: 'RemoveAgentKey', provider: 'openai' }).thenNothing()
  given(user, registered, set, removed).when({ type: 'RemoveAgentKey', provider: 'anthropic' }).thenNothing()
})
