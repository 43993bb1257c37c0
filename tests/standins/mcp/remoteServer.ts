/** MCP servers on 127.0.0.1: a small one over streamable HTTP that requires a credential, and others at paths of their own. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { tinyServer } from './tinyServer.ts'

export interface RemoteMcp {
  readonly origin: string
  /** The address of the small server. */
  readonly url: string
  readonly seen: readonly {
    readonly method: string
    readonly path: string
    readonly headers: IncomingHttpHeaders
  }[]
  close(): Promise<void>
}

export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** Decides who may use the small server. Anybody else is refused with `challenge`. */
export interface Door {
  accepts(authorization: string): boolean
  readonly challenge?: (origin: string) => string
}

/** `paths` are the answers at other paths, whatever their query. */
export async function startRemoteMcp(
  door: Door,
  paths: Readonly<Record<string, Answer>> = {},
): Promise<RemoteMcp> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const seen: RemoteMcp['seen'][number][] = []

  async function tiny(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!door.accepts(request.headers.authorization ?? '')) {
      const challenge = door.challenge?.(`http://${request.headers.host}`)
      return void response.writeHead(401, challenge ? { 'www-authenticate': challenge } : {}).end()
    }
    const id = request.headers['mcp-session-id']
    let transport = typeof id === 'string' ? sessions.get(id) : undefined
    if (transport === undefined) {
      const opened = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => void sessions.set(session, opened),
      })
      transport = opened
      await tinyServer().connect(opened)
    }
    await transport.handleRequest(request, response)
  }

  const server = createServer((request, response) => {
    const { method = '', url: path = '', headers } = request
    seen.push({ method, path, headers })
    response.on('error', () => undefined)
    if (path === '/mcp') return void tiny(request, response).catch(() => response.destroy())
    const answer = paths[path.replace(/\?.*/, '')]
    if (answer === undefined) return void response.writeHead(404).end()
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    request.on('end', () => answer(request, response, body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('It listens at no port.')
  const origin = `http://127.0.0.1:${address.port}`
  return {
    origin,
    url: `${origin}/mcp`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
