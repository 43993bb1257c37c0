/** The history of a task: routes. */
import type { Routes } from './route.ts'

export const historyRoutes = {
  getTaskHistory: { method: 'GET', path: '/tasks/:taskId/history' },
  getTaskAudit: { method: 'GET', path: '/tasks/:taskId/audit' },
  getTaskRecord: { method: 'GET', path: '/tasks/:taskId/record' },
  getSeals: { method: 'GET', path: '/seals' },
  getRecordedChanges: { method: 'GET', path: '/tasks/:taskId/history/changes' },
} as const satisfies Routes

/** The most events that one page of a history has. */
export const historyPageSize = 1_000

/** How many sizes of the log one audit bundle is asked to have proofs for. */
export const mostSizesAsked = 50
