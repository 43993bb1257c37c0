/** The chat's share of the width, in percent. */
import type { Persisted } from '../../state/persisted.ts'

export const splitPosition: Persisted<number> = {
  key: 'splitPosition',
  initial: 40,
  read: (stored) =>
    Number.isFinite(Number(stored)) && stored.trim() !== ''
      ? Math.min(80, Math.max(20, Number(stored)))
      : null,
  write: (value) => String(value),
}
