/** The query service: serves the reads of the API, except a few that the gateway serves itself. */
import type { Middleware } from 'koa'
import { gitHubAnswers } from '#platform/credentials/hostAnswerCache.ts'
import { mount, type Mounting } from '#platform/http/route.ts'
import { queryRoutes } from './routes/routes.ts'
import type { QueryServices } from './services.ts'
import { taskRecords } from './taskRecord.ts'
import { taskTexts } from './taskListJson.ts'
import { terminalTexts } from './terminalAnswers.ts'

type KeptAnswers = 'gitHubAnswers' | 'taskRecords' | 'taskTexts' | 'terminalTexts'

/** The services that the query routes use, as far as the engines provide them. */
export type QueryEngines = Omit<QueryServices, KeptAnswers> &
  Parameters<typeof gitHubAnswers>[0] &
  Parameters<typeof taskRecords>[0]

/** The middleware that serves the query routes, below `/api`. */
export function queryApi(engines: QueryEngines, mounting: Mounting): Middleware {
  const kept = {
    gitHubAnswers: gitHubAnswers(engines),
    taskRecords: taskRecords(engines),
    taskTexts: taskTexts(engines),
    terminalTexts: terminalTexts(engines),
  }
  return mount('/api', queryRoutes, { ...engines, ...kept }, mounting)
}
