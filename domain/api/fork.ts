/** Creating tasks from turns, and undoing turns: routes. */
import type { Routes } from './route.ts'

export const forkRoutes = {
  forkTask: { method: 'POST', path: '/tasks/:taskId/fork' },
  undoTurn: { method: 'POST', path: '/tasks/:taskId/undo' },
  previewUndo: { method: 'GET', path: '/tasks/:taskId/undo/preview' },
} as const satisfies Routes
