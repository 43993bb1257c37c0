/** The parts of the stand-in for GitHub: the code host, and what only GitHub has. */
import type { Host } from '../../../services/codehost/host.ts'
import type { Installations } from './apps/installations.ts'
import type { Registrations } from './apps/registrations.ts'
import type { TokenShape } from './apps/tokens.ts'
import type { Changes } from './changes.ts'
import type { Checks } from './checks/checks.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Limits } from './limits.ts'
import type { Stores } from './stores.ts'
import type { Webhooks } from './webhooks/deliveries.ts'
import type { WorkflowGuard } from './workflowGuard.ts'

export interface GitHubHost extends Host, Stores {
  readonly installations: Installations
  readonly manifests: Registrations
  readonly changes: Changes
  readonly checks: Checks
  readonly lifecycle: Lifecycle
  readonly limits: Limits
  /** The form of installation tokens, unless a request names the other one. */
  readonly tokenShape: TokenShape
  /** Whether Apps may have hooks on this machine, which GitHub refuses. */
  readonly takesLoopbackHooks: boolean
  readonly webhooks: Webhooks
  readonly workflowGuard: WorkflowGuard
}
