/** Projects and the repositories behind them: routes and enums. */
import type { Routes } from './route.ts'

export const projectRoutes = {
  listProjects: { method: 'GET', path: '/projects' },
  getProject: { method: 'GET', path: '/projects/:projectId' },
  createProject: { method: 'POST', path: '/projects' },
  updateProject: { method: 'PUT', path: '/projects/:projectId' },
  deleteProject: { method: 'DELETE', path: '/projects/:projectId' },
  syncProject: { method: 'POST', path: '/projects/:projectId/sync' },
  listBranches: { method: 'GET', path: '/projects/:projectId/branches' },
  getProjectGitStatus: { method: 'GET', path: '/projects/:projectId/git/status' },
  getGitHubUser: { method: 'GET', path: '/github/user' },
  listRepositories: { method: 'GET', path: '/github/repos' },
  listOrganizations: { method: 'GET', path: '/github/orgs' },
  createRepository: { method: 'POST', path: '/github/repos' },
} as const satisfies Routes

export const projectStatuses = ['active', 'syncing', 'error', 'inactive'] as const

/** The sample repository that a new local code host has, so that people can try the product. */
export const sampleRepository = {
  name: 'sample',
  description: 'Writes durations the way people say them',
} as const
