/** `POST /api/graphql`. */
import type { Router } from '@koa/router'
import type { Host } from '../services.ts'

export function graphqlRoute(router: Router, host: Host): void {
  router.post('/graphql', async (ctx) => {
    // Loading the engine and its schema is a tenth of the start, and few starts need it at once.
    const { answerGraphql } = await import('./answer.ts')
    await answerGraphql(ctx, host)
  })
}
