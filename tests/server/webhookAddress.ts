/** The real address for a code host's deliveries, with the engines of a test and on a port of its own. */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import Koa from 'koa'
import { webhookPath } from '#domain/api/server.ts'
import { faultResponses } from '#platform/http/faultResponses.ts'
import { createBodies } from '#platform/http/bodies.ts'
import { githubWebhooks } from '../../services/gateway/webhooks/githubWebhooks.ts'
import type { TestEngines } from './engines.ts'

export interface WebhookAddress {
  readonly url: string
  close(): Promise<void>
}

/** Opens an address that accepts what is signed with one of the secrets. */
export async function openWebhookAddress(
  engines: TestEngines,
  secrets: readonly string[],
): Promise<WebhookAddress> {
  const app = new Koa()
  app.silent = true
  app.use(faultResponses(engines.logger, randomUUID))
  app.use(githubWebhooks(async () => secrets, { ...engines, bodies: createBodies() }))
  const http = createServer(app.callback())
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening))
  const at = http.address()
  return {
    url: `http://127.0.0.1:${typeof at === 'object' && at ? at.port : 0}${webhookPath}`,
    close: () =>
      new Promise((closed) => {
        http.close(() => closed())
        http.closeAllConnections()
      }),
  }
}
