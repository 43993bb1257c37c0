/** The user: its state, its commands, and its decisions. */
import type { Decider, Decision } from '../kernel/decider.ts'
import { canonicalJson } from '../kernel/canonicalJson.ts'
import { refuse } from '../kernel/errors.ts'
import type { RecordedOf } from '../kernel/event.ts'
import type { McpServer } from '../mcp/mcpServers.ts'
import {
  AccountDeleted,
  AgentKeyRemoved,
  AgentKeySet,
  GitHubConnected,
  GitHubDisconnected,
  OnboardingCompleted,
  PasswordSet,
  PersonMcpServersChosen,
  ProfileUpdated,
  SessionEnded,
  SessionStarted,
  UserRegistered,
  type HostProfile,
  type UserEvent,
} from './events.ts'
import { InstructionsChanged, type OwnInstructions } from './instructions.ts'
import type { KeyKind, KeyProvider } from '../agentKeys.ts'
import type { z } from 'zod'
import type { CompanySize, Role } from './events.ts'

export type UserState =
  | { readonly kind: 'nobody' }
  /** Final: signing in again creates a new user. */
  | { readonly kind: 'deleted' }
  | {
      readonly kind: 'user'
      readonly name: string
      readonly fullName: string
      readonly email: string | null
      readonly githubConnected: boolean
      /** The revision of the last sign-in or connection to the code host, which may have stored new tokens. */
      readonly lastSignIn: number
      readonly profile: HostProfile | null
      /** The id of the person's account at the code host, connected or not; `null` before the first connection, and once erased. */
      readonly githubId: string | null
      /** The id of the password's hash in the vault; `null` without a password. */
      readonly credentialId: string | null
      readonly onboardingCompleted: boolean
      readonly sessions: ReadonlyMap<string, string>
      /** The expiry times of all sessions that had not expired when the latest session began, including sessions that were ended early. */
      readonly begun: readonly string[]
      readonly mcpServers: readonly McpServer[]
      readonly own: OwnInstructions
      /** The providers for which the person has a key of their own. */
      readonly agentKeys: ReadonlySet<KeyProvider>
    }

const noInstructions: OwnInstructions = { instructions: '', commands: [] }

export interface NewSession {
  readonly sessionId: string
  readonly startsAt: string
  readonly expiresAt: string
  readonly client: string | null
}
const started = ({ sessionId, expiresAt, client }: NewSession) =>
  SessionStarted.of({ sessionId, expiresAt }, { client })

/** The maximum number of open sessions per person. When another session begins, the oldest session is ended. */
export const maxSessions = 500
/** The maximum number of sessions that may begin within the lifetime of one session, because every request searches the list of ended sessions. */
export const maxBegun = 5_000

function begun(
  command: NewSession,
  state: Extract<UserState, { kind: 'user' }>,
  before: readonly UserEvent[] = [],
): Decision<UserEvent> {
  if (state.begun.filter((expiresAt) => expiresAt > command.startsAt).length >= maxBegun)
    return refuse('rate_limited', `You have signed in ${maxBegun} times in a week. Try again later.`)
  const [oldest] = state.sessions.keys()
  const isFull = state.sessions.size >= maxSessions && oldest !== undefined
  return [...before, ...(isFull ? [SessionEnded.of({ sessionId: oldest })] : []), started(command)]
}

export type UserCommand =
  | ({
      readonly type: 'Register'
      readonly userId: string
      readonly name: string
      readonly email: string
      readonly credentialId: string
    } & NewSession)
  | ({ readonly type: 'SignInWithPassword'; readonly credentialId: string } & NewSession)
  | ({
      readonly type: 'SignInWithGitHub'
      readonly userId: string
      readonly profile: HostProfile
    } & NewSession)
  | {
      readonly type: 'ConnectGitHub'
      readonly profile: HostProfile
      /** The session of the request, which must still be open. */
      readonly sessionId: string
      /** Whether new tokens were stored for an account that is already connected, so that failed requests to the code host may be retried. */
      readonly hasNewTokens: boolean
    }
  /** Refused with `conflict` if the person has signed in or connected the account after the revision `asOf`. */
  | { readonly type: 'DisconnectGitHub'; readonly asOf?: number }
  | { readonly type: 'DeleteAccount' }
  | { readonly type: 'SignOut'; readonly sessionId: string }
  | { readonly type: 'SignOutEverywhere' }
  /** Changes only what is given. */
  | {
      readonly type: 'UpdateProfile'
      readonly name?: string | undefined
      readonly fullName?: string | undefined
      readonly email?: string | null | undefined
    }
  /** Replaces only what is given. */
  | {
      readonly type: 'ChangeInstructions'
      readonly instructions?: string | undefined
      readonly commands?: OwnInstructions['commands'] | undefined
    }
  | { readonly type: 'ChooseMcpServers'; readonly servers: readonly McpServer[] }
  | {
      readonly type: 'CompleteOnboarding'
      readonly fullName: string
      readonly email: string | null
      readonly companySize: z.infer<typeof CompanySize>
      readonly role: z.infer<typeof Role>
    }
  | {
      readonly type: 'SetAgentKey'
      readonly provider: KeyProvider
      readonly kind: KeyKind
      readonly checked: boolean
      readonly ending: string
    }
  | { readonly type: 'RemoveAgentKey'; readonly provider: KeyProvider }

function decide(command: UserCommand, state: UserState): Decision<UserEvent> {
  if (state.kind === 'deleted') return refuse('not_found', 'This account was deleted.')
  if (command.type === 'Register') {
    const { userId, name, email, credentialId } = command
    if (state.kind === 'user')
      return refuse(
        'already_exists',
        'An account with this email address already exists. Sign in instead.',
        'email',
      )
    return [
      UserRegistered.of({ userId }, { name, email }),
      PasswordSet.of({ credentialId }),
      started(command),
    ]
  }
  if (command.type === 'SignInWithGitHub') {
    const { userId, profile } = command
    const connected = GitHubConnected.of({}, profile)
    if (state.kind === 'nobody') {
      const registered = UserRegistered.of(
        { userId },
        { name: profile.name ?? profile.login, email: profile.email },
      )
      return [registered, connected, started(command)]
    }
    return begun(command, state, sameProfile(state.profile, profile) ? [] : [connected])
  }
  if (state.kind === 'nobody') return refuse('not_found', 'User not found. Please try again.')
  switch (command.type) {
    case 'SignInWithPassword': {
      // The password may have changed since it was verified.
      if (state.credentialId !== command.credentialId) return refuse('wrong_password')
      return begun(command, state)
    }
    case 'ConnectGitHub':
      if (!state.sessions.has(command.sessionId)) return refuse('sign_in_required')
      if (state.githubId !== null && state.githubId !== command.profile.githubId)
        return refuse(
          'conflict',
          'Your account is linked to a different GitHub account. Connect that one again.',
        )
      return sameProfile(state.profile, command.profile) && !command.hasNewTokens
        ? []
        : [GitHubConnected.of({}, command.profile)]
    case 'DisconnectGitHub':
      if (!state.githubConnected) return []
      return state.lastSignIn > (command.asOf ?? Number.POSITIVE_INFINITY)
        ? refuse('conflict')
        : [GitHubDisconnected.of({})]
    case 'DeleteAccount':
      // Writes one event per session, so that every consumer of session events sees each session end.
      return [...allEnded(state.sessions), AccountDeleted.of({})]
    case 'SignOutEverywhere':
      return allEnded(state.sessions)
    case 'SignOut':
      return state.sessions.has(command.sessionId) ? [SessionEnded.of({ sessionId: command.sessionId })] : []
    case 'UpdateProfile':
      return [updatedProfile(command, state)]
    case 'ChangeInstructions': {
      const { instructions = state.own.instructions, commands = state.own.commands } = command
      return [InstructionsChanged.of({}, { instructions, commands })]
    }
    case 'ChooseMcpServers': {
      const servers = [...command.servers]
      return canonicalJson(servers) === canonicalJson(state.mcpServers)
        ? []
        : [PersonMcpServersChosen.of({}, { servers })]
    }
    case 'CompleteOnboarding': {
      if (state.onboardingCompleted) return []
      const { fullName, companySize, role } = command
      // If the person already has an email address, the address that the person types in the onboarding is ignored.
      return [
        OnboardingCompleted.of({ companySize, role }, { fullName, email: state.email ?? command.email }),
      ]
    }
    default:
      return onAgentKey(command, state.agentKeys)
  }
}

function updatedProfile(
  command: Extract<UserCommand, { type: 'UpdateProfile' }>,
  state: Extract<UserState, { kind: 'user' }>,
): UserEvent {
  // If only one of the names is given, both names are set to it.
  const name = command.name ?? command.fullName ?? state.name
  const fullName = command.fullName ?? command.name ?? state.fullName
  const email = command.email === undefined ? state.email : command.email
  return ProfileUpdated.of({}, { name, fullName, email })
}

function onAgentKey(
  command: Extract<UserCommand, { type: 'SetAgentKey' | 'RemoveAgentKey' }>,
  known: ReadonlySet<KeyProvider>,
): Decision<UserEvent> {
  const { provider } = command
  if (command.type === 'RemoveAgentKey') return known.has(provider) ? [AgentKeyRemoved.of({ provider })] : []
  const { kind, checked, ending } = command
  return [AgentKeySet.of({ provider, kind, checked }, { ending })]
}

const allEnded = (sessions: ReadonlyMap<string, string>): readonly UserEvent[] =>
  [...sessions.keys()].map((sessionId) => SessionEnded.of({ sessionId }))

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
      name: event.content?.name ?? '',
      fullName: event.content?.name ?? '',
      email: event.content?.email ?? null,
      githubConnected: false,
      lastSignIn: event.revision,
      profile: null,
      githubId: null,
      credentialId: null,
      onboardingCompleted: false,
      sessions: new Map(),
      begun: [],
      mcpServers: [],
      own: noInstructions,
      agentKeys: new Set(),
    }
  }
  if (state.kind !== 'user') return state
  switch (event.type) {
    case 'AccountDeleted':
      return { kind: 'deleted' }
    case 'PasswordSet':
      return { ...state, credentialId: event.data.credentialId }
    case 'GitHubConnected':
      return {
        ...state,
        githubConnected: true,
        lastSignIn: event.revision,
        profile: event.content,
        githubId: event.content?.githubId ?? null,
      }
    case 'GitHubDisconnected':
      return { ...state, githubConnected: false, profile: null }
    case 'SessionStarted':
      return {
        ...state,
        lastSignIn: event.revision,
        sessions: withSession(state.sessions, event.data, event.at),
        begun: [...state.begun.filter((expiresAt) => expiresAt > event.at), event.data.expiresAt],
      }
    case 'SessionEnded':
      return {
        ...state,
        sessions: new Map([...state.sessions].filter(([id]) => id !== event.data.sessionId)),
      }
    case 'ProfileUpdated': {
      const { name, fullName, email } = event.content ?? { name: '', fullName: '', email: null }
      return { ...state, name, fullName, email }
    }
    case 'InstructionsChanged':
      return { ...state, own: event.content ?? noInstructions }
    case 'PersonMcpServersChosen':
      return { ...state, mcpServers: event.content?.servers ?? [] }
    case 'OnboardingCompleted': {
      const { fullName, email } = event.content ?? { fullName: '', email: null }
      return { ...state, onboardingCompleted: true, name: fullName, fullName, email: email ?? state.email }
    }
    case 'AgentKeySet':
      return { ...state, agentKeys: new Set([...state.agentKeys, event.data.provider]) }
    case 'AgentKeyRemoved': {
      const { provider } = event.data
      return { ...state, agentKeys: new Set([...state.agentKeys].filter((known) => known !== provider)) }
    }
  }
}

/** Adds a session and drops the sessions that had expired by the time `at`, so that the state stays small. */
function withSession(
  sessions: ReadonlyMap<string, string>,
  started: { sessionId: string; expiresAt: string },
  at: string,
): ReadonlyMap<string, string> {
  return new Map([
    ...[...sessions].filter(([, expiresAt]) => expiresAt > at),
    [started.sessionId, started.expiresAt],
  ])
}

export const user: Decider<UserState, UserCommand, UserEvent> = {
  initial: { kind: 'nobody' },
  decide,
  evolve,
}
