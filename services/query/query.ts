/** The query service: folds the log into read models, and answers reads. */
import type { Middleware } from 'koa'
import { mount, type Mounting } from '#platform/http/route.ts'
import { authRoutes } from './routes/auth.ts'
import { chatRoutes } from './routes/chat.ts'
import { githubRoutes } from './routes/github.ts'
import { projectSettingsRoutes } from './routes/projectSettings.ts'
import { projectRoutes } from './routes/projects.ts'
import { taskRoutes } from './routes/tasks.ts'
import type { QueryServices } from './services.ts'

export const queryRoutes = [
  ...authRoutes,
  ...projectRoutes,
  ...projectSettingsRoutes,
  ...taskRoutes,
  ...chatRoutes,
  ...githubRoutes,
]

/** The reads of the API, below `/api`. The one who mounts this has authenticated the request. */
export function queryApi(services: QueryServices, mounting: Mounting): Middleware {
  return mount('/api', queryRoutes, services, mounting)
}
