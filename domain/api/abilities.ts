/** Skills, commands and subagents, files to mention, and a person's own instructions: routes and limits. */
import type { Routes } from './route.ts'

export const abilityRoutes = {
  listTaskAbilities: { method: 'GET', path: '/tasks/:taskId/abilities' },
  listProjectAbilities: { method: 'GET', path: '/projects/:projectId/abilities' },
  findTaskFiles: { method: 'GET', path: '/tasks/:taskId/files' },
  findProjectFiles: { method: 'GET', path: '/projects/:projectId/files' },
  getInstructions: { method: 'GET', path: '/profile/instructions' },
  updateInstructions: { method: 'PUT', path: '/profile/instructions' },
} as const satisfies Routes

export const abilityLimits = { nameLength: 100, descriptionLength: 300, filesFound: 30, searchLength: 200 }

/** Lengths are in UTF-8 bytes, except those of names and descriptions, which are in characters. */
export const instructionLimits = {
  instructionBytes: 16 * 1024,
  commands: 50,
  commandNameLength: 64,
  descriptionLength: 200,
  commandBytes: 16 * 1024,
  allBytes: 128 * 1024,
}
