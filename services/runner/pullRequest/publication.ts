/** The data of one publication: the task whose work is published, the person, and the request. */
import type { LiveTask } from '#domain/task/state.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import type { UserDocument } from '#domain/views/users.ts'
import type { AgentDeps, RecordingDeps, WorkspaceDeps } from '../deps.ts'

export type PublishingDeps = RecordingDeps & WorkspaceDeps & AgentDeps

export interface RequestedPullRequest {
  readonly requestId: string
  readonly title: string
  readonly body: string
  readonly draft: boolean
  /** Whether the end of a turn requested the publication, in which case nobody waits for the outcome. */
  readonly automatic: boolean
  readonly rewrites: boolean
  /** The tree that was recorded at the time of the request. */
  readonly tree: string | null
}

export interface Publication {
  readonly state: LiveTask
  readonly task: TaskDocument
  readonly user: UserDocument
  readonly requested: RequestedPullRequest
  readonly signal: AbortSignal
  readonly pushSignal: AbortSignal
}
