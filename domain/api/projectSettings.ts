/** The routes of the settings for a project's tasks. */
import type { Routes } from './route.ts'

export const projectSettingsRoutes = {
  getProjectSettings: { method: 'GET', path: '/projects/:projectId/settings' },
  getProjectRepository: { method: 'GET', path: '/projects/:projectId/repository' },
  updateProjectSettings: { method: 'PUT', path: '/projects/:projectId/settings' },
  setProjectSecret: { method: 'PUT', path: '/projects/:projectId/secrets/:name' },
  removeProjectSecret: { method: 'DELETE', path: '/projects/:projectId/secrets/:name' },
} as const satisfies Routes
