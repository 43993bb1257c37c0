/** Requests to the apps in sandboxes. Connections are kept for a moment, since each costs a process in the sandbox. */
import {
  Agent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http'
import type { Duplex } from 'node:stream'
import { CannotStart } from '#platform/childProcess.ts'
import type { RunningSandbox } from '#platform/ports/listeningPorts.ts'

/** Thrown when an app cannot be asked, or gives no usable answer. The message is a sentence for the person. */
export class AppFault extends Error {
  override readonly name = 'AppFault'
  readonly status: 502 | 503 | 504
  constructor(status: AppFault['status'], message: string, cause?: unknown) {
    super(message, { cause })
    this.status = status
  }
}

interface AppRequest {
  readonly method: string
  readonly path: string
  readonly headers: OutgoingHttpHeaders
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal
}

interface Upgraded {
  readonly response: IncomingMessage
  /** The connection that stays open after the response; missing when the app refused the upgrade. */
  readonly connection?: Duplex
  readonly head?: Buffer
}

export interface AppRequests {
  /** Sends a request; `write` writes its body and ends it. Resolves when the response begins. Throws `AppFault`. */
  send(
    sandbox: RunningSandbox,
    port: number,
    request: AppRequest,
    write: (request: ClientRequest) => void,
  ): Promise<IncomingMessage>
  /** Opens a WebSocket on a connection of its own. Throws `AppFault`. */
  upgrade(sandbox: RunningSandbox, port: number, request: AppRequest): Promise<Upgraded>
  close(): void
}

/** The maximum number of connections to one app, somewhat more than the six that a browser opens to a host. */
const connectionsOfApp = 8
/** The maximum number of requests that wait for one of these connections. */
const maxWaiting = 256
/** How long an idle connection is kept. Servers usually keep it longer, so no request is sent on a connection that the app is just closing. */
const keptMs = 2_000
const firstAnswerMs = 60_000

interface App {
  readonly key: string
  readonly agent: Agent
  /** The requests that have a connection or make one. The agent itself would not count connections that are being made. */
  underWay: number
  /** Lets the requests begin that wait for others to end, in order. */
  readonly waiting: Set<() => void>
  idle: NodeJS.Timeout | undefined
}

export function appRequests(responseMs = firstAnswerMs): AppRequests {
  const apps = new Map<string, App>()
  const appOf = (sandbox: RunningSandbox, port: number): App => {
    const key = `${sandbox.id} ${port}`
    const app = apps.get(key) ?? {
      key,
      agent: agentTo(sandbox, port),
      underWay: 0,
      waiting: new Set(),
      idle: undefined,
    }
    apps.set(key, app)
    return app
  }
  /** Waits until another request to the app may begin, which `leave` ends. Throws `AppFault`. */
  const enter = async (app: App, signal?: AbortSignal): Promise<void> => {
    if (app.waiting.size >= maxWaiting)
      throw new AppFault(503, 'Too many requests to this app are unanswered. Try again in a moment.')
    clearTimeout(app.idle)
    if (app.underWay < connectionsOfApp) app.underWay += 1
    else
      await new Promise<void>((resolve, reject) => {
        const giveUp = () => {
          if (app.waiting.delete(begin)) reject(late())
        }
        const tooLate = setTimeout(giveUp, responseMs)
        signal?.addEventListener('abort', giveUp, { once: true })
        const begin = () => {
          clearTimeout(tooLate)
          resolve()
        }
        app.waiting.add(begin)
      })
  }
  const leave = (app: App): void => {
    const [next] = app.waiting
    if (next) {
      app.waiting.delete(next)
      return next()
    }
    app.underWay -= 1
    if (app.underWay > 0) return
    app.idle = setTimeout(() => {
      apps.delete(app.key)
      app.agent.destroy()
    }, keptMs).unref()
  }
  return {
    async send(sandbox, port, { signal, ...options }, write) {
      const app = appOf(sandbox, port)
      await enter(app, signal)
      const request = httpRequest({ ...options, agent: app.agent, setHost: false })
      request.once('close', () => leave(app))
      signal?.addEventListener('abort', () => request.destroy(), { once: true })
      const answered = firstResponse(request, responseMs)
      write(request)
      const { response, connection } = await answered
      if (connection === undefined) return response
      connection.destroy()
      throw new AppFault(502, 'The app opened a WebSocket that nobody asked for.')
    },
    async upgrade(sandbox, port, options) {
      const connection = await connect(sandbox, port)
      const request = httpRequest({ ...options, createConnection: () => connection, setHost: false })
      request.end()
      return firstResponse(request, responseMs)
    },
    close() {
      for (const { agent, idle } of apps.values()) {
        clearTimeout(idle)
        agent.destroy()
      }
    },
  }
}

async function connect(sandbox: RunningSandbox, port: number): Promise<Duplex> {
  const connection = await sandbox.connect(port).catch((fault: unknown) => {
    if (!(fault instanceof CannotStart)) throw fault
    throw new AppFault(503, 'The sandbox takes no further connection. Try again in a moment.', fault)
  })
  // An error without a listener would end the process. Whoever reads from the connection learns that it has closed.
  if (connection) return connection.on('error', () => undefined)
  throw new AppFault(502, `Nothing listens on port ${port} in the sandbox of this task. Start the app again.`)
}

/** An HTTP agent whose connections lead into the sandbox. */
function agentTo(sandbox: RunningSandbox, port: number): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: connectionsOfApp, maxFreeSockets: connectionsOfApp })
  return Object.assign(agent, {
    createConnection(_: unknown, opened: (fault: Error | null, connection?: Duplex) => void) {
      connect(sandbox, port).then(
        (connection) => opened(null, connection),
        (fault: unknown) => opened(fault instanceof Error ? fault : new Error(String(fault))),
      )
    },
    keepSocketAlive: () => true,
    reuseSocket: () => undefined,
  })
}

const late = () => new AppFault(504, 'The app did not answer in time.')

function firstResponse(request: ClientRequest, responseMs: number): Promise<Upgraded> {
  return new Promise((resolve, reject) => {
    const tooLate = setTimeout(() => {
      request.destroy()
      // A request that has no connection yet reports no error.
      reject(late())
    }, responseMs)
    // The listener stays when the response has begun, since an 'error' without a listener would end the process.
    request.on('error', (fault) => {
      clearTimeout(tooLate)
      reject(fault instanceof AppFault ? fault : new AppFault(502, sentenceOf(fault), fault))
    })
    request.once('response', (response) => {
      clearTimeout(tooLate)
      resolve({ response })
    })
    request.once('upgrade', (response, connection, head) => {
      clearTimeout(tooLate)
      resolve({ response, connection, head })
    })
  })
}

function sentenceOf(fault: Error): string {
  const code = 'code' in fault ? String(fault.code) : ''
  if (code === 'HPE_HEADER_OVERFLOW') return "The headers of the app's response are too long."
  if (code.startsWith('HPE_')) return 'What listens on this port does not answer as HTTP does.'
  return 'The app closed the connection without an answer.'
}
