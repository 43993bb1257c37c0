/** Provenance of the lines of a file: routes. */
import type { Routes } from './route.ts'

export const provenanceRoutes = {
  getProvenance: { method: 'GET', path: '/tasks/:taskId/provenance' },
} as const satisfies Routes
