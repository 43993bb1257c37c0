/** `POST /api/graphql`. */
import { Router } from '@koa/router'
import type { Host } from '../host.ts'

export function graphqlRoutes(host: Host): Router {
  const router = new Router()
  router.post('/api/graphql', async (ctx) => {
    // Loading the engine and its schema is a tenth of the start, and few starts need it at once.
    const { answerGraphql } = await import('./answer.ts')
    await answerGraphql(ctx, host)
  })
  return router
}
