/** Figures of tasks: routes, limits and scopes. */
import type { Routes } from './route.ts'

export const figuresRoutes = {
  getFigures: { method: 'GET', path: '/figures' },
  exportFigures: { method: 'GET', path: '/figures/export' },
} as const satisfies Routes

export const figuresLimits = {
  /** The most groups in one answer, which sums up the rest as `others`. Weeks are not limited. */
  groups: 50,
  /** The most days that a period can have. */
  days: 1_830,
  /** The number of weeks in the default period. */
  weeks: 12,
} as const

export const scopes = ['own', 'all'] as const
export type Scope = (typeof scopes)[number]
