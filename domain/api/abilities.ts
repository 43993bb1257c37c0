/** Skills, commands and subagents of agents, and files that a message can mention: routes and limits. */
import type { Routes } from './route.ts'

export const abilityRoutes = {
  listTaskAbilities: { method: 'GET', path: '/tasks/:taskId/abilities' },
  listProjectAbilities: { method: 'GET', path: '/projects/:projectId/abilities' },
  findProjectFiles: { method: 'GET', path: '/projects/:projectId/files' },
} as const satisfies Routes

export const abilityLimits = { nameLength: 100, descriptionLength: 300, filesFound: 30, searchLength: 200 }
