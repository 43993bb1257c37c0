/** The command service: decides writes, and queues the work that follows from them. */
import type { Middleware } from 'koa'
import { mount, type Mounting } from '#platform/http/route.ts'
import { authRoutes } from './routes/auth.ts'
import { chatRoutes } from './routes/chat.ts'
import { projectRoutes } from './routes/projects.ts'
import { pullRequestRoutes } from './routes/pullRequest.ts'
import { taskRoutes } from './routes/tasks.ts'
import type { CommandServices } from './services.ts'

export const commandRoutes = [
  ...authRoutes,
  ...projectRoutes,
  ...taskRoutes,
  ...chatRoutes,
  ...pullRequestRoutes,
]

/** The writes of the API, below `/api`. The one who mounts this has authenticated the request. */
export function commandApi(services: CommandServices, mounting: Mounting): Middleware {
  return mount('/api', commandRoutes, services, mounting)
}
