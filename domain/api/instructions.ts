/** A person's own instructions and commands for agents: routes and limits. */
import type { Routes } from './route.ts'

export const instructionRoutes = {
  getInstructions: { method: 'GET', path: '/profile/instructions' },
  updateInstructions: { method: 'PUT', path: '/profile/instructions' },
} as const satisfies Routes

/** The lengths of names and descriptions are in characters. All other lengths are in UTF-8 bytes. */
export const instructionLimits = {
  instructionBytes: 16 * 1024,
  commands: 50,
  commandNameLength: 64,
  descriptionLength: 200,
  commandBytes: 16 * 1024,
  allBytes: 128 * 1024,
}
