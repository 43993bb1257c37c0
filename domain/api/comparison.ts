/** Running the same task with other agents, models or messages: routes and a limit. */
import type { Routes } from './route.ts'

/** How many tasks a comparison has at most, including the original. */
export const mostCompared = 4

export const comparisonRoutes = {
  addAlternative: { method: 'POST', path: '/tasks/:taskId/alternatives' },
  getComparison: { method: 'GET', path: '/tasks/:taskId/comparison' },
} as const satisfies Routes
