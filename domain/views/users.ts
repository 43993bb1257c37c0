/** The users: one document per user, with sessions and model keys. */
import type { AgentKey } from '../api/agentKeys.schema.ts'
import type { User } from '../api/auth.schema.ts'
import { ownDocument, type View, type ViewDocument } from './view.ts'

export interface UserDocument extends User, Omit<ViewDocument, 'id'> {
  /** The sessions that have not been ended, and had not expired when the latest session began, oldest first. */
  readonly sessions: readonly KnownSession[]
  /** Sessions that were ended before they expired. Their tokens must be refused. */
  readonly endedSessions: readonly { readonly sessionId: string; readonly endedAt: string }[]
  /** Missing until a model key was set. */
  readonly agentKeys?: readonly AgentKey[]
}

export interface KnownSession {
  readonly id: string
  readonly startedAt: string
  readonly expiresAt: string
  readonly client: string | null
}

/** The name of a person in comments at the code host; `null` when no name is known. */
export const nameAtCodeHost = (user: UserDocument | undefined): string | null =>
  user?.githubUsername ?? user?.fullName ?? null

export const usersView: View<UserDocument> = {
  collection: 'users',
  version: 1,
  streams: ['user'],
  indexes: [],
  touches: ownDocument('user'),
  evolve: (user, event, id) => {
    if (event.type === 'UserRegistered') {
      const name = event.content?.name ?? ''
      return {
        id,
        name,
        fullName: name,
        email: event.content?.email ?? null,
        avatar: null,
        onboardingCompleted: false,
        githubConnected: false,
        githubId: null,
        githubUsername: null,
        sessions: [],
        endedSessions: [],
        position: event.position,
        version: event.revision,
      }
    }
    if (user === undefined) return undefined
    const seen = { ...user, version: event.revision }
    switch (event.type) {
      case 'GitHubConnected':
        return {
          ...seen,
          githubConnected: true,
          githubId: event.content?.githubId ?? null,
          githubUsername: event.content?.login ?? null,
          avatar: event.content?.avatar ?? null,
        }
      case 'AccountDeleted':
        return undefined
      case 'GitHubDisconnected':
        return { ...seen, githubConnected: false }
      case 'SessionStarted': {
        const { sessionId: id, expiresAt } = event.data
        const begun = { id, startedAt: event.at, expiresAt, client: event.content?.client ?? null }
        const open = user.sessions.filter((one) => one.expiresAt > event.at)
        return { ...seen, sessions: [...open, begun] }
      }
      case 'SessionEnded': {
        const { sessionId } = event.data
        return {
          ...seen,
          sessions: user.sessions.filter((one) => one.id !== sessionId),
          endedSessions: withEnded(user.endedSessions, sessionId, event.at),
        }
      }
      case 'ProfileUpdated': {
        const { name, fullName, email } = event.content ?? { name: '', fullName: '', email: null }
        return { ...seen, name, fullName, email }
      }
      case 'OnboardingCompleted': {
        // The onboarding form has one field, which sets both names.
        const { fullName, email } = event.content ?? { fullName: '', email: null }
        return { ...seen, name: fullName, fullName, email, onboardingCompleted: true }
      }
      case 'AgentKeySet': {
        const { provider } = event.data
        const set = { ...event.data, ending: event.content?.ending ?? '', setAt: event.at }
        return { ...seen, agentKeys: [...withoutKey(user, provider), set] }
      }
      case 'AgentKeyRemoved':
        return { ...seen, agentKeys: withoutKey(user, event.data.provider) }
      default:
        return seen
    }
  },
}

const withoutKey = ({ agentKeys = [] }: UserDocument, provider: string): readonly AgentKey[] =>
  agentKeys.filter((known) => known.provider !== provider)

/** The lifetime of a session. Sessions that were ended longer ago need not be listed, because their tokens have expired. */
const sessionMs = 7 * 86_400_000

function withEnded(
  ended: UserDocument['endedSessions'],
  sessionId: string,
  endedAt: string,
): UserDocument['endedSessions'] {
  const since = new Date(Date.parse(endedAt) - sessionMs).toISOString()
  const open = ended.filter((session) => session.endedAt > since)
  return [...open, { sessionId, endedAt }]
}

export function userOf(document: UserDocument): User {
  const { id, name, fullName, email, avatar, onboardingCompleted } = document
  const { githubConnected, githubId, githubUsername } = document
  return { id, name, fullName, email, avatar, onboardingCompleted, githubConnected, githubId, githubUsername }
}
