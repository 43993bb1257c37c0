/** How hard the agent of a new task shall think; empty for the agent's own. One that it does not have is passed over. */
import type { Persisted } from '../../state/persisted.ts'

export const selectedEffort: Persisted<string> = {
  key: 'selectedEffort',
  initial: '',
  read: (stored) => stored,
  write: (level) => level,
}
