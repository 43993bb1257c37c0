/** The two stores of the stand-in: the code host's own, and that for what only GitHub has. */
import type { Clock } from '#platform/ports/clock.ts'
import type { Store } from '../../../services/codehost/state/store.ts'
import type { GitHubState } from './state.ts'

export interface Stores {
  readonly store: Store
  readonly github: Store<GitHubState>
  readonly clock: Clock
}
