/**
 * The local code host: sign-in, repositories, git over HTTP, pull requests and issues on one port, in GitHub's ways, for trying the
 * product offline. Its accounts have no passwords: it belongs on loopback.
 */
import { mkdir } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { resolve } from 'node:path'
import { drain, listen } from '#platform/http/listen.ts'
import { createApp } from './app.ts'
import { createGit, type Git } from './git/run.ts'
import { openHost, type CodeHostOptions } from './openHost.ts'
import { openStore } from './state/store.ts'

export interface RunningCodeHost {
  /** Where browsers find it: by `localhost` when it listens on loopback. */
  readonly url: string
  readonly port: number
  /** Answers what is under way, for 3 s at most, and leaves no process behind. */
  stop(): Promise<void>
}

/**
 * Starts the code host. Throws a sentence that says what to do when the port is taken, the folder cannot be used, git is
 * missing or no seed can be brought in; nothing half made is left then.
 */
export async function startCodeHost(options: CodeHostOptions): Promise<RunningCodeHost> {
  const git = createGit(options.environment)
  const gate = createGate()
  const server = createServer(gate.handle)
  // A push may be long; a client that stalls goes.
  server.requestTimeout = 600_000
  server.maxConnections = 1_000
  // Longer than clients keep an idle connection: they end it, and none is cut while a request is on its way.
  server.keepAliveTimeout = 75_000
  const stop = () => stopServer(server, git)
  try {
    const dataDir = resolve(options.dataDir)
    await checkGit(git)
    await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch((error: Error) => {
      throw new Error(`The code host cannot use the folder ${dataDir}: ${error.message}`, { cause: error })
    })
    const store = await openStore(dataDir)
    // The port comes before the seeds: who starts twice learns it before anything is cloned.
    const port = await listen(server, options).catch((error: NodeJS.ErrnoException) => {
      throw unusablePort(options, error)
    })
    const host = await openHost({ ...options, dataDir }, { git, store, port })
    gate.open(createApp(host, options.host).callback())
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

/** Lets requests wait while seeds are brought in. */
function createGate(): { handle: Handler; open(handler: Handler): void } {
  let open: (handler: Handler) => void = () => undefined
  const opened = new Promise<Handler>((resolve) => {
    open = resolve
  })
  return {
    handle: (request, response) => opened.then((handler) => handler(request, response)),
    open: (handler) => open(handler),
  }
}
