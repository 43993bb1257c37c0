/** What the routes of the code host work with. */
import type { Clock } from '#platform/ports/clock.ts'
import type { Installations } from './apps/installations.ts'
import type { Registrations } from './apps/registrations.ts'
import type { TokenShape } from './apps/tokens.ts'
import type { Codes } from './codes.ts'
import type { Git } from './git/run.ts'
import type { WorkflowGuard } from './git/workflowGuard.ts'
import type { Limits } from './http/limits.ts'
import type { PullRequests } from './pullRequests.ts'
import type { Repositories } from './repositories.ts'
import type { Checks } from './checks/checks.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Issues } from './issues/issues.ts'
import type { Comments } from './reviews/comments.ts'
import type { Reviews } from './reviews/reviews.ts'
import type { Store } from './store.ts'
import type { Webhooks } from './webhooks/deliveries.ts'

export interface Host {
  /** Where browsers find the code host, when a request does not say so itself. */
  readonly url: string
  readonly store: Store
  readonly git: Git
  readonly repositories: Repositories
  readonly pulls: PullRequests
  readonly reviews: Reviews
  readonly comments: Comments
  readonly checks: Checks
  readonly installations: Installations
  readonly manifests: Registrations
  readonly codes: Codes
  readonly limits: Limits
  /** The shape of installations' tokens, unless a request names the other. */
  readonly tokenShape: TokenShape
  /** Whether Apps may be told at an address of this machine, which GitHub refuses. */
  readonly takesLoopbackHooks: boolean
  readonly workflowGuard: WorkflowGuard
  readonly issues: Issues
  readonly lifecycle: Lifecycle
  readonly webhooks: Webhooks
  readonly clock: Clock
  /** Takes one line without a secret in it. */
  readonly log: (line: string) => void
}
