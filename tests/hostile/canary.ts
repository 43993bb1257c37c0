/** A server to which a trap would send keys: it records all requests. */
import { createServer } from 'node:http'

export interface Canary {
  readonly url: string
  /** The requests that were received, with their headers. */
  readonly heard: readonly string[]
  close(): Promise<void>
}

export async function startCanary(): Promise<Canary> {
  const heard: string[] = []
  const server = createServer((request, response) => {
    heard.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`)
    response.writeHead(403, { 'content-type': 'application/json' })
    response.end('{"type":"error","error":{"type":"permission_error","message":"no"}}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    heard,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
