/** Where the lines of a file come from: routes. */
import type { Routes } from './route.ts'

export const provenanceRoutes = {
  getProvenance: { method: 'GET', path: '/tasks/:taskId/provenance' },
} as const satisfies Routes
