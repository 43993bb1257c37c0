/** git over HTTP: runs `git http-backend` as a CGI program, and streams requests to git and answers to the client. */
import { Readable } from 'node:stream'
import type { Context } from 'koa'
import type { Account } from '../state/accounts.ts'
import { mayPush, mayRead } from '../state/permissions.ts'
import type { Caller } from '../state/actors.ts'
import type { Host } from '../host.ts'
import { callerOf } from '../http/authenticate.ts'
import { notFound, Refusal } from '../httpError.ts'
import type { Repository } from '../state/stateSchema.ts'
import type { Environment, GitOptions, GitProcess } from '../git/runGit.ts'

/** Matches `/owner/name.git/info/refs`, and the addresses of git's services for fetching and pushing. As on GitHub, `.git` may be missing. */
export const gitPath = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/

const timeLimit = 600_000
/** The maximum number of simultaneous requests, because each needs a process. Others are refused with 503. */
const mostAtOnce = 32

interface GitRequest {
  readonly owner: string
  readonly name: string
  readonly path: 'info/refs' | 'git-upload-pack' | 'git-receive-pack'
  readonly service: 'git-upload-pack' | 'git-receive-pack'
}

/** Makes a function that answers git's requests. For any other request, it returns `undefined`. */
export function createGitBackend(host: Host): (ctx: Context) => Promise<void> | undefined {
  let atOnce = 0
  return (ctx) => {
    const request = gitRequest(ctx)
    if (!request) return undefined
    const allowed = authorized(ctx, host, request)
    if (atOnce >= mostAtOnce) throw new Refusal(503, 'Too many git requests at once: try again.')
    atOnce += 1
    return serve(ctx, host, request, allowed, () => {
      atOnce -= 1
    })
  }
}

function gitRequest(ctx: Context): GitRequest | undefined {
  const [, owner, name, path] = gitPath.exec(ctx.path) ?? []
  if (owner === undefined || name === undefined) return undefined
  if (path === 'info/refs') {
    const service = ctx.query['service']
    if (ctx.method !== 'GET') throw new Refusal(405, 'Method Not Allowed')
    if (service !== 'git-upload-pack' && service !== 'git-receive-pack') {
      throw new Refusal(403, 'Please upgrade your git client: only the smart protocol is spoken here.')
    }
    return { owner, name, path, service }
  }
  if (path !== 'git-upload-pack' && path !== 'git-receive-pack') return undefined
  if (ctx.method !== 'POST') throw new Refusal(405, 'Method Not Allowed')
  return { owner, name, path, service: path }
}

interface Allowed {
  readonly repository: Repository
  readonly viewer: Account | undefined
  /** The environment and settings with which git runs. */
  readonly running: Pick<GitOptions, 'env' | 'settings'>
}

/**
 * Checks access to a repository. Throws Refusal 401 for an invalid token, and without a token unless the request only reads a public repository.
 * Throws 404 for a repository that does not exist or that the caller may not read, and 403 for a push by somebody who may only read.
 */
export function authorized(
  ctx: Context,
  host: Host,
  request: Pick<GitRequest, 'owner' | 'name' | 'service'>,
): Allowed {
  const caller = gitCaller(ctx, host)
  const viewer = caller.kind === 'nobody' ? undefined : caller.account
  const repository = host.repositories.find(request.owner, request.name)
  const writes = request.service === 'git-receive-pack'
  const readable = repository !== undefined && mayRead(viewer, repository)
  if (!viewer && (writes || !readable)) throw challenge(ctx, 'Authentication required')
  if (!repository || !readable) throw notFound()
  const running = host.extension.guardGit?.(ctx, repository, writes ? 'write' : 'read') ?? {}
  if (writes && !mayPush(viewer, repository)) {
    const name = `${repository.owner}/${repository.name}.git`
    throw new Refusal(403, `Permission to ${name} denied to ${viewer?.login ?? 'you'}.`)
  }
  return { repository, viewer, running }
}

function gitCaller(ctx: Context, host: Host): Caller {
  try {
    return callerOf(ctx, host)
  } catch (error) {
    throw error instanceof Refusal && error.status === 401
      ? challenge(ctx, 'Invalid username or token.')
      : error
  }
}

function challenge(ctx: Context, sentence: string): Refusal {
  ctx.set('WWW-Authenticate', 'Basic realm="GitHub"')
  return new Refusal(401, sentence)
}

async function serve(
  ctx: Context,
  host: Host,
  request: GitRequest,
  allowed: Allowed,
  release: () => void,
): Promise<void> {
  const { repository, viewer } = allowed
  const writes = request.path === 'git-receive-pack'
  const child = await startBackend(ctx, host, request, allowed).catch((fault: unknown) => {
    release()
    throw fault
  })
  ctx.res.once('close', child.kill)
  // The state is updated even if the client has disconnected, because refs may have changed.
  const settled = child.ended
    .then(
      () => (writes ? host.repositories.settle(repository, viewer) : []),
      () => [],
    )
    .finally(release)
  settled.catch((error: unknown) =>
    host.log(`after a push to ${repository.owner}/${repository.name}: ${error}`),
  )
  feed(ctx, child)
  const { head, rest } = await readHead(child)
  ctx.status = head.status
  for (const [name, value] of head.headers) ctx.set(name, value)
  ctx.body = Readable.from(answer(rest, settled), { objectMode: false })
}

async function startBackend(
  ctx: Context,
  host: Host,
  request: GitRequest,
  { repository, viewer, running }: Allowed,
): Promise<GitProcess> {
  if (request.path === 'git-receive-pack') await host.repositories.notice(repository)
  return host.git.start(['http-backend'], {
    timeLimit,
    ...running,
    env: { ...cgiEnvironment(ctx, host, request, { repository, viewer }), ...running.env },
  })
}

/** Passes the request's body to git. `pipeline` is not used: it would cut the connection when git answers before it has read the whole body. */
function feed(ctx: Context, child: GitProcess): void {
  ctx.req.on('error', () => undefined)
  child.stdin.once('close', () => ctx.req.resume())
  ctx.req.pipe(child.stdin)
}

/** Streams the rest of git's answer. The answer to a push ends after pull requests are updated, so that the client then reads their new state. */
async function* answer(rest: AsyncIterable<Buffer>, settled: Promise<unknown>): AsyncGenerator<Buffer> {
  yield* rest
  await settled
}

function cgiEnvironment(
  ctx: Context,
  host: Host,
  request: GitRequest,
  { repository, viewer }: Pick<Allowed, 'repository' | 'viewer'>,
): Environment {
  const protocol = ctx.get('Git-Protocol')
  return {
    GIT_PROJECT_ROOT: host.repositories.root,
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: `/${host.repositories.folder(repository)}/${request.path}`,
    REQUEST_METHOD: ctx.method,
    QUERY_STRING: request.path === 'info/refs' ? `service=${request.service}` : '',
    CONTENT_TYPE: ctx.get('Content-Type'),
    CONTENT_LENGTH: ctx.get('Content-Length') || undefined,
    HTTP_CONTENT_ENCODING: ctx.get('Content-Encoding') || undefined,
    GIT_PROTOCOL: /^[a-z0-9=:.,-]{1,200}$/i.test(protocol) ? protocol : undefined,
    REMOTE_USER: viewer?.login,
    REMOTE_ADDR: ctx.req.socket.remoteAddress,
    GIT_COMMITTER_NAME: viewer?.name,
    GIT_COMMITTER_EMAIL: viewer?.email,
  }
}

interface CgiHead {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
}

/** Reads the header lines that a CGI program prints first. */
async function readHead(child: GitProcess): Promise<{ head: CgiHead; rest: AsyncIterable<Buffer> }> {
  const chunks: AsyncIterator<Buffer> = child.stdout[Symbol.asyncIterator]()
  let read = Buffer.alloc(0)
  for (;;) {
    const end = /\r?\n\r?\n/.exec(read.subarray(0, 16_384).toString('latin1'))
    if (end) {
      const head = parseHead(read.subarray(0, end.index).toString('latin1'))
      return { head, rest: following(read.subarray(end.index + end[0].length), chunks) }
    }
    const next = read.length < 16_384 ? await chunks.next() : { done: true as const }
    if (next.done) {
      await child.ended
      throw new Refusal(500, 'git did not answer.')
    }
    read = Buffer.concat([read, next.value])
  }
}

async function* following(first: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
}

function parseHead(text: string): CgiHead {
  const lines = text
    .split(/\r?\n/)
    .map((line) => /^([A-Za-z-]+): *(.*)$/.exec(line))
    .flatMap((match) => (match?.[1] && match[2] !== undefined ? [[match[1], match[2]] as const] : []))
  const status = lines.find(([name]) => name.toLowerCase() === 'status')?.[1]
  return {
    status: Number(/^\d{3}/.exec(status ?? '200')?.[0] ?? 500),
    headers: lines.filter(([name]) => name.toLowerCase() !== 'status'),
  }
}
