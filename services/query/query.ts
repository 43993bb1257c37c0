/** The query service: serves the reads of the API. */
import type { Middleware } from 'koa'
import { gitHubAnswers } from '#platform/credentials/hostAnswerCache.ts'
import { mount, type Mounting } from '#platform/http/route.ts'
import { queryRoutes } from './routes/routes.ts'
import type { QueryServices } from './services.ts'
import { taskRecords } from './taskRecord.ts'

/** The services that the query routes use, as far as the engines provide them. */
export type QueryEngines = Omit<QueryServices, 'gitHubAnswers' | 'taskRecords'> &
  Parameters<typeof gitHubAnswers>[0] &
  Parameters<typeof taskRecords>[0]

/** The middleware that serves the reads of the API, below `/api`. */
export function queryApi(engines: QueryEngines, mounting: Mounting): Middleware {
  const kept = { gitHubAnswers: gitHubAnswers(engines), taskRecords: taskRecords(engines) }
  return mount('/api', queryRoutes, { ...engines, ...kept }, mounting)
}
