/** The query service: folds the log into read models, and answers reads. */
import type { Middleware } from 'koa'
import { gitHubAnswers } from '#platform/credentials/hostAnswerCache.ts'
import { mount, type Mounting } from '#platform/http/route.ts'
import { abilityRoutes } from './routes/abilities.ts'
import { authRoutes, githubRoutes } from './routes/user.ts'
import { adminRoutes } from './routes/admin.ts'
import { gitHubAccessRoutes } from './routes/gitHubAccess.ts'
import { gitHubRightsRoutes } from './routes/gitHubRights.ts'
import { figuresRoutes } from './routes/figures.ts'
import { comparisonRoutes } from './routes/comparison.ts'
import { chatRoutes } from './routes/chat.ts'
import { feedbackRoutes } from './routes/feedback.ts'
import { questionRoutes } from './routes/questions.ts'
import { historyRoutes } from './routes/history.ts'
import { mcpServerRoutes } from './routes/mcpServers.ts'
import { projectSettingsRoutes, projectRoutes } from './routes/projects.ts'
import { taskRoutes } from './routes/tasks.ts'
import { provenanceRoutes } from './routes/provenance.ts'
import { undoRoutes } from './routes/undo.ts'
import type { QueryServices } from './services.ts'
import { taskRecords } from './taskRecord.ts'

export const queryRoutes = [
  ...authRoutes,
  ...projectRoutes,
  ...projectSettingsRoutes,
  ...mcpServerRoutes,
  ...taskRoutes,
  ...undoRoutes,
  ...provenanceRoutes,
  ...comparisonRoutes,
  ...chatRoutes,
  ...feedbackRoutes,
  ...questionRoutes,
  ...historyRoutes,
  ...githubRoutes,
  ...gitHubAccessRoutes,
  ...figuresRoutes,
  ...adminRoutes,
  ...gitHubRightsRoutes,
  ...abilityRoutes,
]

/** The services of the routes that come from the engines. */
export type QueryEngines = Omit<QueryServices, 'gitHubAnswers' | 'taskRecords'> &
  Parameters<typeof gitHubAnswers>[0] &
  Parameters<typeof taskRecords>[0]

/** The reads of the API, below `/api`. The caller has authenticated the request. */
export function queryApi(engines: QueryEngines, mounting: Mounting): Middleware {
  const kept = { gitHubAnswers: gitHubAnswers(engines), taskRecords: taskRecords(engines) }
  return mount('/api', queryRoutes, { ...engines, ...kept }, mounting)
}
