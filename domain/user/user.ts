/** The user: state, commands, and what may happen to it. */
import type { Decider, Decision } from '../kernel/decider.ts'
import { refuse } from '../kernel/errors.ts'
import type { RecordedOf } from '../kernel/event.ts'
import {
  GitHubConnected,
  GitHubDisconnected,
  OnboardingCompleted,
  ProfileUpdated,
  SessionEnded,
  SessionStarted,
  UserRegistered,
  type HostProfile,
  type UserEvent,
} from './events.ts'
import type { z } from 'zod'
import type { CompanySize, Role } from './events.ts'

export type UserState =
  | { readonly kind: 'nobody' }
  | {
      readonly kind: 'user'
      readonly email: string | null
      readonly githubConnected: boolean
      readonly profile: HostProfile | null
      readonly onboardingCompleted: boolean
      /** Sessions that were started and not ended, with the time each runs out. */
      readonly sessions: ReadonlyMap<string, string>
    }

export type UserCommand =
  | {
      readonly type: 'SignInWithGitHub'
      readonly userId: string
      readonly profile: HostProfile
      readonly sessionId: string
      readonly expiresAt: string
    }
  | { readonly type: 'ConnectGitHub'; readonly profile: HostProfile }
  | { readonly type: 'DisconnectGitHub' }
  | { readonly type: 'SignOut'; readonly sessionId: string }
  | { readonly type: 'UpdateProfile'; readonly fullName: string; readonly email: string | null }
  | {
      readonly type: 'CompleteOnboarding'
      readonly fullName: string
      readonly email: string | null
      readonly companySize: z.infer<typeof CompanySize>
      readonly role: z.infer<typeof Role>
    }

function decide(command: UserCommand, state: UserState): Decision<UserEvent> {
  if (command.type === 'SignInWithGitHub') {
    const { userId, profile, sessionId, expiresAt } = command
    const session = SessionStarted.of({ sessionId, expiresAt })
    const connected = GitHubConnected.of({}, profile)
    if (state.kind === 'nobody') {
      const registered = UserRegistered.of(
        { userId },
        { name: profile.name ?? profile.login, email: profile.email },
      )
      return [registered, connected, session]
    }
    return sameProfile(state.profile, profile) ? [session] : [connected, session]
  }
  if (state.kind === 'nobody') return refuse('not_found', 'User not found. Please try again.')
  switch (command.type) {
    case 'ConnectGitHub':
      return sameProfile(state.profile, command.profile) ? [] : [GitHubConnected.of({}, command.profile)]
    case 'DisconnectGitHub':
      return state.githubConnected ? [GitHubDisconnected.of({})] : []
    case 'SignOut':
      return state.sessions.has(command.sessionId) ? [SessionEnded.of({ sessionId: command.sessionId })] : []
    case 'UpdateProfile':
      return [ProfileUpdated.of({}, { fullName: command.fullName, email: command.email })]
    case 'CompleteOnboarding': {
      if (state.onboardingCompleted) return []
      const { fullName, companySize, role } = command
      // The address the code host gave is read-only in onboarding: what a person types does not replace it.
      return [
        OnboardingCompleted.of({ companySize, role }, { fullName, email: state.email ?? command.email }),
      ]
    }
  }
}

function sameProfile(a: HostProfile | null, b: HostProfile): boolean {
  return (
    a !== null &&
    a.githubId === b.githubId &&
    a.login === b.login &&
    a.name === b.name &&
    a.email === b.email &&
    a.avatar === b.avatar
  )
}

function evolve(state: UserState, event: RecordedOf<UserEvent>): UserState {
  if (event.type === 'UserRegistered') {
    return {
      kind: 'user',
      email: event.content?.email ?? null,
      githubConnected: false,
      profile: null,
      onboardingCompleted: false,
      sessions: new Map(),
    }
  }
  if (state.kind === 'nobody') return state
  switch (event.type) {
    case 'GitHubConnected':
      return { ...state, githubConnected: true, profile: event.content }
    case 'GitHubDisconnected':
      return { ...state, githubConnected: false, profile: null }
    case 'SessionStarted':
      return { ...state, sessions: withSession(state.sessions, event.data, event.at) }
    case 'SessionEnded':
      return {
        ...state,
        sessions: new Map([...state.sessions].filter(([id]) => id !== event.data.sessionId)),
      }
    case 'ProfileUpdated':
      return { ...state, email: event.content?.email ?? null }
    case 'OnboardingCompleted':
      return { ...state, onboardingCompleted: true, email: event.content?.email ?? state.email }
  }
}

/** Adds a session and forgets those that had run out by then, so that the state stays small. */
function withSession(
  sessions: ReadonlyMap<string, string>,
  started: { sessionId: string; expiresAt: string },
  at: string,
): ReadonlyMap<string, string> {
  return new Map([
    ...[...sessions].filter(([, expiresAt]) => Date.parse(expiresAt) > Date.parse(at)),
    [started.sessionId, started.expiresAt],
  ])
}

export const user: Decider<UserState, UserCommand, UserEvent> = {
  initial: { kind: 'nobody' },
  decide,
  evolve,
}
