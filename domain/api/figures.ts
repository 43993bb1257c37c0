/** Figures of tasks: routes, and which figures there are. */
import type { Routes } from './route.ts'

export const figuresRoutes = {
  getFigures: { method: 'GET', path: '/figures' },
  exportFigures: { method: 'GET', path: '/figures/export' },
} as const satisfies Routes

export const figuresLimits = {
  /** Groups that are shown; the others are summed up in one. Weeks are always shown. */
  groups: 50,
  /** Days of a period, at most. */
  days: 1_830,
  /** Weeks of the default period. */
  weeks: 12,
} as const

export const scopes = ['own', 'all'] as const
export type Scope = (typeof scopes)[number]
