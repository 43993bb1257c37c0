/**
 * A stand-in for a container engine at the wire: the part of Docker's interface that the product uses, on a unix socket. Its containers are processes
 * in bubblewrap with this machine's programs, so whatever the product runs in them does run. It has no system call filter and no limits.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { dirname } from 'node:path'
import type { Duplex, Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { z } from 'zod'

export interface EngineStandIn {
  /** The names of images that were built here. */
  readonly built: readonly string[]
  /** For every container that was created: the paths at which something is mounted in it. */
  readonly mounts: readonly (readonly string[])[]
  close(): Promise<void>
}

const Body = z.object({
  Labels: z.record(z.string(), z.string()),
  User: z.string(),
  WorkingDir: z.string(),
  Entrypoint: z.array(z.string()),
  Cmd: z.array(z.string()),
  HostConfig: z.object({
    Mounts: z.array(z.object({ Source: z.string(), Target: z.string(), ReadOnly: z.boolean() })),
  }),
})
type Body = z.infer<typeof Body>

interface Container {
  readonly body: Body
  readonly streams: Map<string, Duplex>
  readonly waiting: ServerResponse[]
  child: ChildProcess | undefined
}

interface Engine {
  readonly bubblewrap: string
  readonly containers: Map<string, Container>
  readonly built: string[]
  readonly mounts: (readonly string[])[]
}

/** `bubblewrap` is the path of that program. */
export async function startEngineStandIn(socketPath: string, bubblewrap: string): Promise<EngineStandIn> {
  const engine: Engine = { bubblewrap, containers: new Map(), built: [], mounts: [] }
  const server = createServer((request, response) => {
    answer(engine, request, response).catch((fault: unknown) => refuse(response, 500, String(fault)))
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => attach(engine, request, socket))
  server.listen(socketPath)
  await once(server, 'listening')
  return {
    built: engine.built,
    mounts: engine.mounts,
    async close() {
      for (const { child } of engine.containers.values()) child?.kill('SIGKILL')
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function answer(engine: Engine, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url = '' } = request
  const { pathname, searchParams } = new URL(url, 'http://engine')
  const [, kind, name = '', action] = pathname.split('/').map(decodeURIComponent)
  if (pathname === '/version') return tell(response, { Version: '0.0.0-stand-in' })
  if (pathname === '/info') return tell(response, { MemoryLimit: false })
  if (kind === 'images') {
    if (engine.built.includes(name)) return tell(response, { Id: `sha256:${name}`, Config: {} })
    return refuse(response, 404, `No such image: ${name}`)
  }
  if (pathname === '/build') {
    request.resume()
    engine.built.push(searchParams.get('t') ?? '')
    return tell(response, { stream: 'Step 1/2 : FROM node\n' })
  }
  if (kind === 'events') {
    response.flushHeaders()
    return
  }
  if (pathname === '/containers/json') return tell(response, [])
  if (pathname === '/containers/create') {
    const id = randomBytes(32).toString('hex')
    const body = Body.parse(await json(request))
    engine.containers.set(id, { body, streams: new Map(), waiting: [], child: undefined })
    engine.mounts.push(body.HostConfig.Mounts.map(({ Target }) => Target))
    return tell(response, { Id: id })
  }
  const container = engine.containers.get(name)
  if (container === undefined) return refuse(response, 404, `No such container: ${name}`)
  if (method === 'DELETE') {
    end(engine, name, container, 137)
    return tell(response, {})
  }
  if (action === 'wait') {
    response.flushHeaders()
    container.waiting.push(response)
    return
  }
  if (action === 'start') start(engine, name, container)
  return tell(response, {})
}

function tell(response: ServerResponse, said: object): void {
  response.end(JSON.stringify(said))
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.statusCode = status
  tell(response, { message })
}

function attach({ containers }: Engine, { url = '' }: IncomingMessage, socket: Duplex): void {
  const { pathname, searchParams } = new URL(url, 'http://engine')
  const container = containers.get(pathname.split('/')[2] ?? '')
  socket.on('error', () => socket.destroy())
  socket.write('HTTP/1.1 101 UPGRADED\r\nconnection: Upgrade\r\nupgrade: tcp\r\n\r\n')
  for (const name of ['stdin', 'stdout', 'stderr'])
    if (searchParams.has(name)) container?.streams.set(name, socket)
}

function start(engine: Engine, id: string, container: Container): void {
  const child = spawn(engine.bubblewrap, bubblewrapArguments(container.body), { stdio: 'pipe', env: {} })
  container.child = child
  child.stdin.on('error', () => undefined)
  container.streams.get('stdin')?.pipe(child.stdin)
  frames(child.stdout, 1, container.streams.get('stdout'))
  frames(child.stderr, 2, container.streams.get('stderr'))
  child.on('close', (code) => end(engine, id, container, code ?? 137))
}

/** Sends each piece of output with its kind and length before it. */
function frames(output: Readable, kind: number, to: Duplex | undefined): void {
  output.on('data', (bytes: Buffer) => {
    const head = Buffer.alloc(8)
    head[0] = kind
    head.writeUInt32BE(bytes.length, 4)
    to?.write(Buffer.concat([head, bytes]))
  })
}

function end({ containers }: Engine, id: string, container: Container, code: number): void {
  if (!containers.delete(id)) return
  container.child?.kill('SIGKILL')
  for (const stream of new Set(container.streams.values())) stream.end()
  for (const response of container.waiting) tell(response, { StatusCode: code })
}

function bubblewrapArguments({ User, WorkingDir, Entrypoint, Cmd, HostConfig }: Body): readonly string[] {
  const system = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/etc'].filter((path) => existsSync(path))
  const [uid = '', gid = ''] = User.split(':')
  // Folders that bubblewrap creates for a mount would be accessible to root only.
  const folders = new Set(HostConfig.Mounts.flatMap(({ Target }) => parentsOf(Target)))
  const mounts = HostConfig.Mounts.flatMap(({ Source, Target, ReadOnly }) => [
    ReadOnly ? '--ro-bind' : '--bind',
    Source,
    Target,
  ])
  // A container that does not ask for root runs as another user.
  const asUser =
    process.getuid?.() === 0
      ? ['/usr/bin/setpriv', '--reuid', uid, '--regid', gid, '--clear-groups', '--no-new-privs']
      : []
  return [
    '--unshare-pid',
    '--unshare-net',
    '--unshare-ipc',
    '--die-with-parent',
    '--as-pid-1',
    ...system.flatMap((path) => ['--ro-bind', path, path]),
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--perms',
    '1777',
    '--tmpfs',
    '/tmp',
    ...[...folders].flatMap((folder) => ['--perms', '0755', '--dir', folder]),
    ...mounts,
    '--chdir',
    WorkingDir,
    '--',
    ...asUser,
    ...Entrypoint,
    ...Cmd,
  ]
}

/** The folders above a path that do not belong to the system, the outermost first. */
function parentsOf(path: string): readonly string[] {
  const parent = dirname(path)
  if (parent === '/' || /^\/(usr|bin|sbin|lib|lib64|etc|tmp|proc|dev)(\/|$)/.test(parent)) return []
  return [...parentsOf(parent), parent]
}
