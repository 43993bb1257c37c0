/**
 * The local code host behind a counter, which counts the requests to its API by kind and by the limit that they count against. Git counts against
 * none.
 */
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { webhookPath } from '#domain/api/server.ts'
import { clientId, clientSecret, startLocal, type LocalCodeHost } from '../contracts/codeHost.fixture.ts'
import type { Seed } from '../../services/codehost/seeds.ts'

/** The holder of a limit: GitHub has one for each person, one for each installation, and none for what the App signs itself. */
export type Holder = 'person' | 'installation' | 'App'

export interface Spent {
  readonly holder: Holder
  /** The method and path, without ids and names. */
  readonly kind: string
  readonly isGraphql: boolean
  /** Whether the answer was a 304, which does not count against the limit. */
  readonly isFree: boolean
  /** The time of the request, in milliseconds of the monotonic clock. */
  readonly at: number
}

export interface CountedCodeHost {
  readonly local: LocalCodeHost
  /**
   * The variables that make the product use this code host. With `hooks`, the code host reports changes at `base` to the product, which receives them
   * by `deliverTo`.
   */
  readonly env: Readonly<Record<string, string>>
  deliverTo(base: string): void
  /** All requests since the last call. */
  take(): readonly Spent[]
  close(): Promise<void>
}

const secret = 'a secret of the hook'

export async function startCounted(
  dataDir: string,
  seeds: readonly Seed[],
  hooks: boolean,
): Promise<CountedCodeHost> {
  let spent: Spent[] = []
  let target = ''
  let product = ''
  const server = createServer((asked, answer) => {
    const isHook = asked.url === webhookPath
    const to = isHook ? product : target
    forward(asked, answer, to + (asked.url ?? ''), (status) => {
      if (!isHook) spent.push(spentBy(asked, status))
    }).catch(() => answer.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  const local = await startLocal(dataDir, {
    seeds,
    ...(hooks && { hook: { url: url + webhookPath, secret } }),
  })
  target = new URL(local.api).origin
  return {
    local,
    env: {
      GITHUB_SERVER_URL: local.url,
      GITHUB_API_URL: `${url}/api/v3`,
      GITHUB_CLIENT_ID: clientId,
      GITHUB_CLIENT_SECRET: clientSecret,
      ...(local.app && {
        GITHUB_APP_ID: String(local.app.id),
        GITHUB_APP_SLUG: local.app.slug,
        GITHUB_APP_PRIVATE_KEY: local.app.privateKey,
      }),
      ...(hooks && { GITHUB_WEBHOOK_SECRET: secret }),
    },
    deliverTo: (base) => void (product = base),
    take() {
      const taken = spent
      spent = []
      return taken
    },
    async close() {
      await local.stop()
      server.closeAllConnections()
      server.close()
    },
  }
}

async function forward(
  asked: IncomingMessage,
  answer: ServerResponse,
  url: string,
  onAnswer: (status: number) => void,
): Promise<void> {
  const { host: _host, ...headers } = asked.headers
  const sent = request(url, { method: asked.method, headers })
  const coming = once(sent, 'response')
  await pipeline(asked, sent)
  const [response]: unknown[] = await coming
  if (!isMessage(response)) return
  onAnswer(response.statusCode ?? 0)
  answer.writeHead(response.statusCode ?? 502, response.headers)
  await pipeline(response, answer)
}

const isMessage = (value: unknown): value is IncomingMessage =>
  typeof value === 'object' && value !== null && 'statusCode' in value

function spentBy({ method = 'GET', url = '', headers }: IncomingMessage, status: number): Spent {
  const path = new URL(url, 'http://host').pathname
  const isGraphql = path === '/api/graphql'
  return {
    holder: holderOf(headers.authorization ?? ''),
    kind: isGraphql ? 'GraphQL' : `${method} ${kindOf(path)}`,
    isGraphql,
    isFree: status === 304,
    at: performance.now(),
  }
}

function holderOf(authorization: string): Holder {
  if (/ghs_/.test(authorization)) return 'installation'
  return /ghu_/.test(authorization) ? 'person' : 'App'
}

const kindOf = (path: string): string =>
  path
    .replace('/api/v3', '')
    .replace(/^\/repos\/[^/]+\/[^/]+/, '/repos/:repository')
    .replace(/(collaborators|users)\/[^/]+/, '$1/:login')
    .replace(/\/[0-9a-f]{40}\b/, '/:sha')
    .replace(/\/\d+/g, '/:id')
