/** Previews of the programs that listen on ports in a task's sandbox: routes. */
import type { Routes } from './route.ts'

export const previewRoutes = {
  listPorts: { method: 'GET', path: '/tasks/:taskId/ports' },
  openPort: { method: 'POST', path: '/tasks/:taskId/ports/:port/open' },
} as const satisfies Routes
