/** Events about Apps themselves, which Apps receive without having subscribed to them. */
import type { Account } from '../../../../services/codehost/state/accounts.ts'
import type { Repository } from '../../../../services/codehost/state/stateSchema.ts'
import type { App, Installation } from '../state.ts'

export type AppEvent =
  | {
      readonly kind: 'installation'
      readonly action: 'created' | 'deleted' | 'suspend' | 'unsuspend' | 'new_permissions_accepted'
      readonly app: App
      readonly installation: Installation
      /** The login of the member who had requested the installation. */
      readonly requester: string | null
      /** `null` when the App did it itself. */
      readonly sender: Account | null
    }
  | {
      readonly kind: 'installation_repositories'
      readonly action: 'added' | 'removed'
      readonly app: App
      readonly installation: Installation
      readonly added: readonly Repository[]
      readonly removed: readonly Repository[]
      readonly sender: Account
    }
  | {
      readonly kind: 'github_app_authorization'
      readonly action: 'revoked'
      readonly app: App
      readonly sender: Account
    }

/** Events that no App subscribes to: they are always sent, and a manifest that lists them is refused. */
export const alwaysSent = ['installation', 'installation_repositories', 'github_app_authorization'] as const
