/**
 * The key broker of a run: the one way from the agent's box to its model. It stands on a unix socket, takes a token that is good
 * for this run alone, and puts the real key in its place - so the agent never holds one.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { chmod, chown, lstat, unlink } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import type { TextThreads } from '../redaction/textThreads.ts'
import type { HostUser } from '#platform/childProcess.ts'
import { answerFault, budgetUsedUp, faults } from './apiFault.ts'
import { anyAmount, type Budget } from './budget.ts'
import type { ApiFault } from './apiFault.ts'
import { anthropicUpstream } from './httpUpstream.ts'
import type { AnthropicOptions } from './httpUpstream.ts'
import type { ModelUsage } from './meter.ts'
import { scriptedUpstream } from './scriptedUpstream.ts'
import type { BrokerFault, MessagesPath, Upstream } from './upstream.ts'

/** What answers: the real API with its key, or the built-in scripted model. */
export type Model =
  | ({ readonly kind: 'anthropic' } & AnthropicOptions)
  | { readonly kind: 'scripted'; readonly pauseMs?: number }

export interface BrokerOptions {
  /** In a folder that only the runner and the box's user can enter; at most 107 bytes long. */
  readonly socketPath: string
  /** The box's user, to whom the socket is given with mode 0600; the runner's own without one. */
  readonly owner?: HostUser
  readonly runToken: string
  readonly upstream: Model
  /** Where long requests are looked through. */
  readonly threads: Pick<TextThreads, 'run'>
  /** Whether the model's service may be told to fetch from the network itself; no, unless told. */
  readonly modelFetches?: boolean
  /** What may be used before the first turn is admitted; as much as one likes, unless told. */
  readonly budget?: Budget
  /** Told after each request that was metered, also of one that broke off. */
  readonly onUsage: (usage: ModelUsage) => void
  readonly onFault: (fault: BrokerFault) => void
  /** The largest request: 32 MB by default, as the model's API takes them. */
  readonly bodyBytes?: number
  /** How many requests may be under way at once, 32 by default, and what they may hold together is four of the largest. */
  readonly concurrency?: number
}

export interface Broker {
  /** What the turn that begins may use; `null` between two turns, when nothing may be asked of the model. */
  admit(budget: Budget | null): void
  /** Breaks off what is under way and removes the socket. */
  close(): Promise<void>
}

type FaultCode = BrokerFault['code']

/** Starts a broker; fails with a sentence when the socket cannot be made. */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const { socketPath, owner, onFault } = options
  const { bodyBytes = 32 * 1024 * 1024, concurrency = 32, modelFetches = false } = options
  const upstream = upstreamOf(options)
  const knowsToken = tokenCheck(options.runToken)
  let budget: Budget | null = options.budget ?? anyAmount
  let underWay = 0
  /** Bytes of their bodies, which are in memory. */
  let held = 0

  const refuse = async (
    request: IncomingMessage,
    response: ServerResponse,
    code: FaultCode,
    fault: ApiFault,
  ) => {
    onFault({ code, message: fault.message })
    // A client that is cut off while it writes never reads why: it is let finish, unless it wants to send too much.
    if (declaredBytes(request) <= bodyBytes) await drained(request)
    response.setHeader('connection', 'close')
    answerFault(response, fault)
  }
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = pathOf(request)
    if (!knowsToken(request)) return refuse(request, response, 'bad_token', faults.badToken)
    if (path === undefined) return refuse(request, response, 'not_served', faults.notServed)
    const spending = budget
    if (spending === null) return refuse(request, response, 'no_turn', faults.noTurn)
    const refusal = await spending.refusal()
    // A client that left meanwhile sends nothing that could be passed on.
    if (response.destroyed) return
    if (refusal !== undefined)
      return refuse(request, response, 'budget', refusal === budgetUsedUp ? faults.budget : faults.dayBudget)
    if (declaredBytes(request) > bodyBytes) return refuse(request, response, 'too_large', faults.tooLarge)
    const bytes = mostBytesOf(request, bodyBytes)
    if (underWay >= concurrency || held + bytes > 4 * bodyBytes)
      return refuse(request, response, 'too_many', faults.tooMany)
    underWay += 1
    held += bytes
    const onUsage = (usage: ModelUsage) => {
      spending.spend(usage)
      options.onUsage(usage)
    }
    try {
      await upstream.answer({ request, response, path, bodyBytes, modelFetches, onFault, onUsage })
    } finally {
      underWay -= 1
      held -= bytes
    }
  }

  const server = createServer({ headersTimeout: 30_000, requestTimeout: 300_000 }, (request, response) => {
    // A client that goes away is no fault of ours; what it left half-sent ends with its connection.
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    serve(request, response).catch((error: unknown) => {
      onFault({ code: 'broke_off', message: error instanceof Error ? error.message : String(error) })
      response.destroy()
    })
  })
  server.maxConnections = concurrency * 2
  await removeStale(socketPath)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(socketPath, resolve)
  })
  server.on('error', (error) => onFault({ code: 'broke_off', message: error.message }))
  await chmod(socketPath, 0o600)
  if (owner !== undefined) await chown(socketPath, owner.uid, owner.gid)

  return {
    admit(next) {
      budget = next
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
        upstream.close()
      }),
  }
}

function upstreamOf({ upstream: model, threads }: BrokerOptions): Upstream {
  switch (model.kind) {
    case 'anthropic':
      return anthropicUpstream(model, threads)
    case 'scripted':
      return scriptedUpstream(model)
  }
}

function declaredBytes(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0)
}

/** What the body of a request can come to: one that does not say may be as large as any. */
function mostBytesOf({ headers }: IncomingMessage, bodyBytes: number): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : bodyBytes
}

/** Reads on to the end of a request that is refused, or until its client goes away. */
async function drained(request: IncomingMessage): Promise<void> {
  request.resume()
  await finished(request, { writable: false }).catch(() => undefined)
}

const longestSocketPath = 107

/** A socket that a runner left when it died stands in the way of a new one. */
async function removeStale(socketPath: string): Promise<void> {
  if (Buffer.byteLength(socketPath) > longestSocketPath) {
    throw new Error(
      `The path of the broker's socket is longer than ${longestSocketPath} bytes: choose a shorter DATA_DIR.`,
    )
  }
  const there = await lstat(socketPath).catch(() => undefined)
  if (there?.isSocket() === true) await unlink(socketPath)
}

/** Only these two: batches and files would use the key without being metered. */
function pathOf(request: IncomingMessage): MessagesPath | undefined {
  if (request.method !== 'POST') return undefined
  const [path] = (request.url ?? '').split('?', 1)
  return path === '/v1/messages' || path === '/v1/messages/count_tokens' ? path : undefined
}

/** Compares in a time that tells nothing about the token. */
function tokenCheck(runToken: string): (request: IncomingMessage) => boolean {
  const digest = (token: string) => createHash('sha256').update(token).digest()
  const expected = digest(runToken)
  return ({ headers }) => {
    const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
    const given = headers['x-api-key'] ?? bearer
    return typeof given === 'string' && timingSafeEqual(digest(given), expected)
  }
}
