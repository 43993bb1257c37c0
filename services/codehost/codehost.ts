/**
 * The local code host, with which people try the product offline. It is compatible with GitHub: sign-in, repositories, git over HTTP, pull requests
 * and issues on one port. Its accounts have no passwords, so it must only listen on loopback.
 */
import { mkdir } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { resolve } from 'node:path'
import { drain, listen } from '#platform/http/listen.ts'
import { createGit, type Git } from './git/runGit.ts'
import { openHost, type CodeHostOptions } from './openHost.ts'
import { openStore } from './state/store.ts'

export interface RunningCodeHost {
  /** The address for browsers, which names `localhost` when the server listens on loopback. */
  readonly url: string
  readonly port: number
  /** Waits up to 3 s for running requests, ends all git processes, and waits until the state is on disk. */
  stop(): Promise<void>
}

/**
 * Starts the code host. Throws when the port is in use, the folder or the state in it cannot be used, git is missing or the seeds cannot be imported.
 * The error says what to do. After an error, no server or git process is left.
 */
export async function startCodeHost(options: CodeHostOptions): Promise<RunningCodeHost> {
  const git = createGit(options.environment)
  const gate = createGate()
  const server = createServer(gate.handle)
  // Ten minutes are enough for a large push. A client that stalls is cut off afterwards.
  server.requestTimeout = 600_000
  server.maxConnections = 1_000
  // This is longer than clients keep idle connections open. Otherwise the server could close a connection while a request is on its way.
  server.keepAliveTimeout = 75_000
  const stop = () => stopServer(server, git)
  try {
    const dataDir = resolve(options.dataDir)
    const checked = checkGit(git)
    // `checked` is awaited below. This handler avoids an unhandled rejection when another step fails first.
    checked.catch(() => undefined)
    await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch((error: Error) => {
      throw new Error(`The code host cannot use the folder ${dataDir}: ${error.message}`, { cause: error })
    })
    const store = await openStore(dataDir)
    // The port is opened before seeds are imported, so that a second process fails before it clones anything.
    const port = await listen(server, options).catch((error: NodeJS.ErrnoException) => {
      throw unusablePort(options, error)
    })
    await checked
    const host = await openHost({ ...options, dataDir }, { git, store, port })
    // Loading the application takes a tenth of the start-up time, and nobody needs it before the first request.
    gate.open(async () => (await import('./app.ts')).createApp(host, options.host).callback())
    return {
      url: host.url,
      port,
      stop: async () => {
        await stop()
        await store.settled()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function checkGit(git: Git): Promise<void> {
  const backend = await git.run(['http-backend'])
  if (/is not a git command/.test(backend.stderr)) {
    throw new Error("git's http-backend is missing: install the whole of git (on Alpine: git-daemon).")
  }
}

function unusablePort({ host, port }: CodeHostOptions, error: NodeJS.ErrnoException): Error {
  const why = error.code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${error.message})`
  return new Error(`Port ${port} of ${host} ${why}: set CODEHOST_PORT to a free one.`, { cause: error })
}

async function stopServer(server: Server, git: Git): Promise<void> {
  await drain(server, { drainMs: 3_000, sweepMs: 20, giveUp: () => void git.stop() })
  await git.stop()
}

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

/**
 * Makes a request handler, `handle`, that holds requests until `open` is called, which happens once the seeds are imported. The first request then
 * makes the real handler.
 */
function createGate(): { handle: Handler; open(make: () => Promise<Handler>): void } {
  let open: (make: () => Promise<Handler>) => void = () => undefined
  const opened = new Promise<() => Promise<Handler>>((resolve) => {
    open = resolve
  })
  let handler: Promise<Handler> | undefined
  return {
    handle: async (request, response) => {
      const make = await opened
      handler ??= make()
      return (await handler)(request, response)
    },
    open: (make) => open(make),
  }
}
