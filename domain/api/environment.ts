/** The environment of a project: routes. */
import type { Routes } from './route.ts'

export const environmentRoutes = {
  getProjectEnvironment: { method: 'GET', path: '/projects/:projectId/environment' },
  rebuildProjectEnvironment: { method: 'POST', path: '/projects/:projectId/environment/rebuild' },
} as const satisfies Routes
