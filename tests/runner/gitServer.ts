/** Real git over HTTP (`git http-backend`) on loopback for tests, which accepts one authorization and records the requests. */
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { testPath } from './workspaceScene.ts'

/** What happens to a request instead of an answer: the connection is cut before the request is read, or after git has done what it asks for. */
export type Met =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | 'cut before'
  | 'cut after'
  /** No answer is sent, and the connection stays open. */
  | 'silent after'

export interface TestGitServer {
  /** The address; every bare repository in the folder is served as `<url>/<name>.git`. */
  readonly url: string
  readonly authorizations: readonly (string | undefined)[]
  /** The method and address of each request. */
  readonly requests: readonly string[]
  /** Treats the next requests whose method and address match in these ways, one after the other. */
  meet(of: RegExp, ...how: readonly Met[]): void
  /** Answers every request from now on with a redirect to this address. */
  redirectTo(url: string): void
  /** Accepts requests and answers none from now on. */
  hang(): void
  stop(): Promise<void>
}

export async function startGitServer(folder: string, authorization?: string): Promise<TestGitServer> {
  const authorizations: (string | undefined)[] = []
  const requests: string[] = []
  let meetings: { readonly of: RegExp; readonly how: Met }[] = []
  let redirect: string | undefined
  let isHanging = false
  const server = createServer((request, response) => {
    authorizations.push(request.headers.authorization)
    const line = `${request.method} ${request.url}`
    requests.push(line)
    if (isHanging) return
    const met = meetings.find(({ of }) => of.test(line))
    meetings = meetings.filter((one) => one !== met)
    if (met?.how === 'cut before') return void request.socket.destroy()
    if (typeof met?.how === 'object') {
      response.writeHead(met.how.status, met.how.headers).end('a bad day')
      return
    }
    if (met) {
      const isCut = met.how === 'cut after'
      response.end = () => {
        if (isCut) request.socket.destroy()
        return response
      }
    }
    if (redirect !== undefined) response.writeHead(302, { location: redirect + (request.url ?? '') }).end()
    else if (authorization !== undefined && request.headers.authorization !== authorization)
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('no')
    else backend(folder, request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    authorizations,
    requests,
    meet: (of, ...how) => meetings.push(...how.map((one) => ({ of, how: one }))),
    redirectTo: (url) => (redirect = url),
    hang: () => (isHanging = true),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function backend(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
  const child = spawn('git', ['-c', 'http.receivepack=true', '-c', 'safe.directory=*', 'http-backend'], {
    env: {
      PATH: testPath,
      HOME: '/nonexistent',
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: String(request.headers['content-encoding'] ?? ''),
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REMOTE_USER: 'ada',
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  request.pipe(child.stdin)
  child.stdin.on('error', () => undefined)
  const parts: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => parts.push(chunk))
  child.on('close', () => {
    const answer = Buffer.concat(parts)
    const end = answer.indexOf('\r\n\r\n')
    const headers = answer
      .subarray(0, end)
      .toString()
      .split('\r\n')
      .map((line) => line.split(': '))
    const status = headers.find(([name]) => name === 'Status')?.[1] ?? '200'
    for (const [name, value] of headers)
      if (name && value && name !== 'Status') response.setHeader(name, value)
    response.writeHead(Number.parseInt(status, 10)).end(answer.subarray(end + 4))
  })
}
