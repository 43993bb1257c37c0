/** Events that the stand-in reports by webhooks, in addition to those of the code host itself. */
import type { Account } from '../../../services/codehost/state/accounts.ts'
import type { HostEvent } from '../../../services/codehost/state/events.ts'
import type { Repository } from '../../../services/codehost/state/stateSchema.ts'
import type { CheckRun, CommitStatus } from './checks/records.ts'

export type GitHubEvent =
  | HostEvent
  | {
      readonly kind: 'repository'
      readonly action:
        | 'renamed'
        | 'transferred'
        | 'privatized'
        | 'publicized'
        | 'archived'
        | 'unarchived'
        | 'edited'
        | 'deleted'
      readonly repository: Repository
      readonly before: Repository
      readonly sender: Account
    }
  | {
      readonly kind: 'check_run'
      readonly action: 'created' | 'completed'
      readonly repository: Repository
      readonly run: CheckRun
      readonly sender: Account
    }
  | {
      readonly kind: 'check_suite'
      readonly action: 'completed'
      readonly repository: Repository
      /** The latest runs of the suite. */
      readonly runs: readonly CheckRun[]
      readonly sender: Account
    }
  | {
      readonly kind: 'status'
      readonly repository: Repository
      readonly status: CommitStatus
      readonly sender: Account
    }
