/** The connection to NATS: waits for the server at the start, reconnects without limit, and gives every call a timeout. */
import { setTimeout as pause } from 'node:timers/promises'
import { connect, ErrorCode, Events, NatsError, type ConnectionOptions, type NatsConnection } from 'nats'
import { EngineUnavailable, type ReportFault } from '../ports/faults.ts'

/** Thrown when the address is invalid, or when NATS answers but cannot be used. The message says what to fix, and never contains the password. */
export class UnusableNats extends Error {
  override readonly name = 'UnusableNats'
}

/** For each error code of JetStream that the caller expects, a function that makes the result for this error. */
export type Refusals<R> = ReadonlyMap<number, () => R>

export interface Nats {
  /** The host and the port, without credentials. */
  readonly address: string
  /** The driver's connection, which reconnects by itself and keeps its subscriptions. */
  readonly connection: NatsConnection
  isConnected(): boolean
  /** The maximum message size in bytes, as last reported by the server. */
  maxBytes(): number
  /**
   * Calls the server, after waiting for the connection if it is down; `call` gets the time that is left of `timeoutMs` (5,000). If JetStream refuses
   * with a code in `refusals`, returns the result for this code. Any other fault, or no answer in time, becomes `EngineUnavailable`.
   */
  ask<T, R = never>(
    call: (leftMs: number) => Promise<T>,
    options?: { refusals?: Refusals<R>; timeoutMs?: number | undefined },
  ): Promise<T | R>
  /** Calls `listen` each time the server is reachable again after an outage, until the returned function is called. */
  onReturn(listen: () => void): () => void
  /** Resolves when the server has received everything that was sent before. */
  ready(): Promise<void>
  close(): Promise<void>
}

const connectMs = 5_000
const retryPauseMs = 250
const callTimeoutMs = 5_000
const readyMs = 2_000
// The time between two pings to the server. A connection that is silently dead is noticed after at most three of these pauses.
const pingMs = 4_000
const pingsUnanswered = 2

interface Server extends Address {
  readonly onFault: ReportFault
  readonly onWaiting: (line: string) => void
}

interface Connected extends Server {
  readonly connection: NatsConnection
  readonly returned: Set<() => void>
  readonly underWay: Set<(fault: Error) => void>
  isConnected: boolean
  /** The maximum message size, kept here because the driver forgets it during an outage. */
  maxBytes: number
  isClosing: boolean
  whenConnected: Promise<void>
  nowConnected: () => void
}

/**
 * Opens the connection, waiting for a server that is not reachable yet. `onWaiting` gets a line for each new reason, and when a later outage begins
 * and ends. `url` is `nats://[user:password@]host[:port]` or `tls://...`, or several separated by commas. Throws `UnusableNats` when the address is
 * invalid, or when the server refuses the credentials or is older than 2.9.
 */
export async function openNats(options: {
  url: string
  onFault: ReportFault
  onWaiting: (line: string) => void
}): Promise<Nats> {
  const server = { ...options, ...parseAddress(options.url) }
  const { address } = server
  const connection = await connectWithRetry(server)
  const nats: Connected = {
    ...server,
    connection,
    returned: new Set(),
    underWay: new Set(),
    isConnected: true,
    maxBytes: connection.info?.max_payload ?? 0,
    isClosing: false,
    whenConnected: Promise.resolve(),
    nowConnected: () => {},
  }
  void followStatus(nats)
  return {
    address,
    connection,
    isConnected: () => nats.isConnected && !connection.isClosed(),
    maxBytes: () => nats.maxBytes,
    ask: (call, expected) => ask(nats, call, expected),
    onReturn: (listen) => {
      nats.returned.add(listen)
      return () => {
        nats.returned.delete(listen)
      }
    },
    ready: () => ask(nats, () => connection.flush(), { timeoutMs: readyMs }),
    close: async () => {
      nats.isClosing = true
      await connection.close()
      for (const giveUp of nats.underWay) giveUp(new Error('The connection was closed'))
    },
  }
}

async function connectWithRetry(server: Server): Promise<NatsConnection> {
  let said = ''
  for (;;) {
    try {
      return await connectOnce(server)
    } catch (fault) {
      if (fault instanceof UnusableNats) throw fault
      const line = `NATS at ${server.address} does not answer yet (${reasonOf(fault)}); waiting for it.`
      if (line !== said) server.onWaiting(line)
      said = line
      await pause(retryPauseMs)
    }
  }
}

async function connectOnce(server: Server): Promise<NatsConnection> {
  try {
    const connected = await connect({
      ...server.credentials,
      servers: server.servers,
      name: 'flightdeck',
      timeout: connectMs,
      maxReconnectAttempts: -1,
      reconnectTimeWait: retryPauseMs,
      pingInterval: pingMs,
      maxPingOut: pingsUnanswered,
      // Without this option, the connection would end permanently while an operator changes the credentials.
      ignoreAuthErrorAbort: true,
      noAsyncTraces: true,
    })
    const version = connected.info?.version ?? ''
    if (isAtLeast(version, 2, 9)) return connected
    await connected.close()
    throw new UnusableNats(`NATS at ${server.address} is version ${version}: 2.9 or later is needed.`)
  } catch (fault) {
    if (fault instanceof NatsError && fault.code === ErrorCode.AuthorizationViolation) {
      throw new UnusableNats(
        `NATS at ${server.address} refuses the credentials: check user and password in NATS_URL.`,
      )
    }
    throw fault
  }
}

async function followStatus(nats: Connected): Promise<void> {
  let told = ''
  for await (const status of nats.connection.status()) {
    const { type } = status
    // Some errors belong to no call: a forbidden subject, or refused credentials, which the driver tries again.
    if (type === Events.Error) {
      const of = status.permissionContext
      const refused = [String(status.data), of?.operation, of?.subject].filter(Boolean).join(' ')
      if (refused !== told) nats.onFault(`NATS at ${nats.address} refuses something: ${refused}`, undefined)
      told = refused
    }
    if (type === Events.Disconnect && nats.isConnected && !nats.isClosing) {
      nats.isConnected = false
      nats.whenConnected = new Promise((resolve) => (nats.nowConnected = resolve))
      nats.onWaiting(`NATS at ${nats.address} went away; waiting for it.`)
      // Answers to running calls are lost with the connection.
      for (const giveUp of nats.underWay) giveUp(new Error('The connection was lost'))
    }
    if (type === Events.Reconnect && !nats.isConnected) {
      nats.isConnected = true
      nats.maxBytes = nats.connection.info?.max_payload ?? nats.maxBytes
      nats.nowConnected()
      nats.onWaiting(`NATS at ${nats.address} answers again.`)
      for (const listen of nats.returned) listen()
    }
  }
}

/** Settles like the promise, but rejects after `ms`, or when the connection is lost. */
function untilLost<T>(nats: Connected, ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      clearTimeout(timer)
      nats.underWay.delete(giveUp)
    }
    const giveUp = (fault: Error) => {
      settle()
      reject(fault)
    }
    const timer = setTimeout(() => giveUp(new Error(`No answer within ${Math.round(ms)} ms`)), ms)
    nats.underWay.add(giveUp)
    promise.then(resolve, reject).finally(settle)
  })
}

async function ask<T, R = never>(
  nats: Connected,
  call: (leftMs: number) => Promise<T>,
  { refusals, timeoutMs = callTimeoutMs }: { refusals?: Refusals<R>; timeoutMs?: number | undefined } = {},
): Promise<T | R> {
  const deadline = performance.now() + timeoutMs
  try {
    // A call sent during an outage would arrive long after the caller gave up.
    if (!nats.isConnected) await untilLost(nats, timeoutMs, nats.whenConnected)
    const leftMs = Math.max(1, Math.ceil(deadline - performance.now()))
    return await untilLost(nats, leftMs, call(leftMs))
  } catch (fault) {
    const code = fault instanceof NatsError ? fault.api_error?.err_code : undefined
    const expected = code === undefined ? undefined : refusals?.get(code)
    if (expected !== undefined) return expected()
    throw new EngineUnavailable(`NATS at ${nats.address}`, fault)
  }
}

interface Address {
  readonly address: string
  readonly servers: string[]
  readonly credentials: Pick<ConnectionOptions, 'user' | 'pass' | 'token' | 'tls'>
}

/** Parses addresses. The driver gets only the hosts, since it reads no credentials from an address, and might print them. */
function parseAddress(text: string): Address {
  const urls = text.split(',').map((each) => parseUrl(each.trim()))
  const named = urls.find(({ username }) => username !== '')
  const servers = urls.map(({ host }) => host)
  return {
    address: servers.join(', '),
    servers,
    credentials: {
      ...(named === undefined ? {} : credentialsOf(named)),
      ...(urls.some(({ protocol }) => protocol === 'tls:') ? { tls: {} } : {}),
    },
  }
}

function parseUrl(text: string): URL {
  // The error of `new URL` would contain the whole text, with the password.
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || url.host === '' || !['nats:', 'tls:'].includes(url.protocol)) {
    throw new UnusableNats('NATS_URL is not a valid NATS address. Example: nats://host:4222.')
  }
  return url
}

/** The credentials for the driver. As is usual with NATS, a user name without a password is a token. */
function credentialsOf({ username, password }: URL): Pick<ConnectionOptions, 'user' | 'pass' | 'token'> {
  const name = decoded(username)
  return password === '' ? { token: name } : { user: name, pass: decoded(password) }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new UnusableNats('The user or the password in NATS_URL has a % that must be written as %25.')
  }
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [ours = 0, theirs = 0] = version.split('.').map(Number)
  return ours > major || (ours === major && theirs >= minor)
}

function reasonOf(fault: unknown): string {
  return fault instanceof Error && 'code' in fault ? String(fault.code) : 'no answer'
}
