/** Figures of tasks: their routes, and the measures that there are. */
import type { Routes } from './route.ts'

export const figuresRoutes = {
  getFigures: { method: 'GET', path: '/figures' },
  exportFigures: { method: 'GET', path: '/figures/export' },
} as const satisfies Routes

export const figuresLimits = {
  /** How many groups are shown; the others are added up in one. Weeks are always shown. */
  groups: 50,
  /** The maximum number of days in a period. */
  days: 1_830,
  /** The number of weeks in the default period. */
  weeks: 12,
} as const

export const scopes = ['own', 'all'] as const
export type Scope = (typeof scopes)[number]
