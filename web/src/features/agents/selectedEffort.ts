/** The effort of a new task's agent; empty for the agent's default. A level that the agent does not have is ignored. */
import type { Persisted } from '../../state/persisted.ts'

export const selectedEffort: Persisted<string> = {
  key: 'selectedEffort',
  initial: '',
  read: (stored) => stored,
  write: (level) => level,
}
