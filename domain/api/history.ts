/** The history of a task and its seals: routes and limits. */
import type { Routes } from './route.ts'

export const historyRoutes = {
  getTaskHistory: { method: 'GET', path: '/tasks/:taskId/history' },
  getTaskAudit: { method: 'GET', path: '/tasks/:taskId/audit' },
  getTaskRecord: { method: 'GET', path: '/tasks/:taskId/record' },
  getSeals: { method: 'GET', path: '/seals' },
  getRecordedChanges: { method: 'GET', path: '/tasks/:taskId/history/changes' },
} as const satisfies Routes

/** The most events that one page of a history has. */
export const historyPageSize = 4_000

/** The most sizes of the log for which one request for an audit bundle can demand proofs. */
export const mostSizesAsked = 50
