/** What the screens show of a user. */
import type { User } from '../api/auth.ts'
import { parseStream } from '../kernel/ids.ts'
import type { Position } from '../kernel/event.ts'
import type { View } from './view.ts'

export interface UserDocument extends User {
  readonly position: Position
  readonly version: number
  /** Sessions that were ended before they ran out; a token of one is refused. */
  readonly endedSessions: readonly string[]
  readonly publicEmail: string | null
}

export const usersView: View<UserDocument> = {
  collection: 'users',
  indexes: [],
  touches: (event) => {
    const stream = parseStream(event.stream)
    return stream.kind === 'user' ? [stream.id] : []
  },
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
        endedSessions: [],
        publicEmail: null,
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
          githubId: event.data.githubId,
          githubUsername: event.content?.login ?? null,
          avatar: event.content?.avatar ?? null,
          publicEmail: event.content?.email ?? null,
        }
      case 'GitHubDisconnected':
        return { ...seen, githubConnected: false }
      case 'SessionEnded':
        return { ...seen, endedSessions: [...user.endedSessions.slice(-99), event.data.sessionId] }
      case 'ProfileUpdated':
        return { ...seen, ...namesOf(event.content) }
      case 'OnboardingCompleted':
        return { ...seen, ...namesOf(event.content), onboardingCompleted: true }
      default:
        return seen
    }
  },
}

function namesOf(
  content: { fullName: string; email: string | null } | null,
): Pick<User, 'name' | 'fullName' | 'email'> {
  const fullName = content?.fullName ?? ''
  return { name: fullName, fullName, email: content?.email ?? null }
}

/** What the API shows of a user document. */
export function userOf(document: UserDocument): User {
  const {
    id,
    name,
    fullName,
    email,
    avatar,
    onboardingCompleted,
    githubConnected,
    githubId,
    githubUsername,
  } = document
  return { id, name, fullName, email, avatar, onboardingCompleted, githubConnected, githubId, githubUsername }
}
