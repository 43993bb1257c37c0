/**
 * Sends requests to one remote MCP server, with its credential: only to addresses that the rules of egress allow, and without following redirects.
 */
import { lookup as systemLookup } from 'node:dns'
import * as http from 'node:http'
import * as https from 'node:https'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { hostAndPort, mayConnect, ruleOfProject, rulesFor, type Rule } from '#platform/http/egressRules.ts'

export interface McpNetwork {
  readonly mayReachPrivate: boolean
  /**
   * The rule for the code host. It keeps requests from reaching a local code host by another address; no MCP server is reached because of this rule.
   */
  readonly codeHost: Rule
}

export interface RemoteServer {
  readonly id: string
  readonly name: string
  readonly url: string
  readonly header: { readonly name: string; readonly value: string } | null
  /**
   * Returns the access token of a sign-in. `refused` is a token that the server no longer accepts, so that a new token is returned. Throws
   * `McpFault`.
   */
  readonly token?: (refused?: string) => Promise<string>
  readonly toolsOff: readonly string[]
  readonly network: McpNetwork
}

/** A fault of the server, as a sentence for people and the agent. */
export class McpFault extends Error {
  override readonly name = 'McpFault'
}

export interface RemoteRequest {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: OutgoingHttpHeaders
  readonly body?: string
  /** The time limit until the head of the answer has arrived. */
  readonly answerWithinMs: number
  readonly signal: AbortSignal
}

export interface Remote {
  /** Sends a request and returns the answer, whatever its status, unless it is a redirect. Throws `McpFault`. */
  askOnce(request: RemoteRequest, credential?: Credential): Promise<IncomingMessage>
  /** Like `askOnce`, with the credential of the server. Throws `McpFault` also when the credential is refused. */
  ask(request: RemoteRequest): Promise<IncomingMessage>
  close(): void
}

type Credential = NonNullable<RemoteServer['header']>

const connectTimeoutMs = 10_000

export function remoteOf(server: Pick<RemoteServer, 'url' | 'network' | 'header' | 'token'>): Remote {
  const url = new URL(server.url)
  const transport = url.protocol === 'https:' ? https : http
  const agent = new transport.Agent({ keepAlive: true, maxFreeSockets: 2 })
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const { host } = hostAndPort(url.hostname)
  const own = [ruleOfProject(`${url.hostname}:${port}`, server.network)]
  const rules = [...own, { ...server.network.codeHost, mayBeInside: false }]
  const isAllowed = (address: string) => mayConnect(address, port, rulesFor(own, host, port), rules)
  const askOnce: Remote['askOnce'] = async (asked, credential) => {
    const { method, headers, body, answerWithinMs, signal } = asked
    if (isIP(host) !== 0 && !isAllowed(host)) throw new McpFault(inside)
    const request = transport.request({
      agent,
      method,
      hostname: host,
      port,
      path: `${url.pathname}${url.search}`,
      lookup: allowedLookup(isAllowed),
      signal,
      headers: {
        ...headers,
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        host: url.host,
        'accept-encoding': 'identity',
        ...(credential && { [credential.name]: credential.value }),
      },
    })
    const response = await answered(request, { body, answerWithinMs })
    const { statusCode = 502 } = response
    if (statusCode < 300 || statusCode >= 400) return response
    response.destroy()
    throw new McpFault('It redirects to another address, which is not followed.')
  }
  return {
    askOnce,
    async ask(request) {
      const token = await server.token?.()
      let response = await askOnce(
        request,
        token === undefined ? (server.header ?? undefined) : bearer(token),
      )
      if (response.statusCode === 401 && token !== undefined) {
        response.destroy()
        response = await askOnce(request, bearer(await server.token?.(token)))
      }
      const { statusCode } = response
      if (statusCode !== 401 && statusCode !== 403) return response
      response.destroy()
      throw new McpFault(`It refuses the credential (${statusCode}).`)
    },
    close: () => agent.destroy(),
  }
}

const bearer = (token = ''): Credential => ({ name: 'authorization', value: `Bearer ${token}` })

export const messageBytes = 4 * 1024 * 1024
export const tooLarge = 'It sent a message of more than 4 MiB.'

/** The whole text of an answer that is no stream. Throws `McpFault` beyond 4 MiB. */
export async function wholeText(response: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response) {
    bytes += chunk.length
    if (bytes > messageBytes) throw new McpFault(tooLarge)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const inside = "It leads into the server's own network, which is not reached."

/** Resolves a name to allowed addresses only: the connection goes to the very address that was checked. */
function allowedLookup(isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    systemLookup(hostname, { all: true }, (fault, found) => {
      if (fault) return callback(fault, '', 0)
      const allowed = found.filter(({ address }) => isAllowed(address))
      const [first] = allowed
      if (first === undefined) return callback(new McpFault(inside), '', 0)
      if (options.all === true) return callback(null, allowed)
      callback(null, first.address, first.family)
    })
  }
}

function answered(
  request: http.ClientRequest,
  { body, answerWithinMs }: { readonly body: string | undefined; readonly answerWithinMs: number },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const giveUp = (sentence: string) => request.destroy(new McpFault(sentence))
    const connecting = setTimeout(() => giveUp('It cannot be reached within 10 seconds.'), connectTimeoutMs)
    const answering = setTimeout(
      () => giveUp(`It did not answer within ${Math.round(answerWithinMs / 1_000)} seconds.`),
      answerWithinMs,
    )
    const stopClocks = () => {
      clearTimeout(connecting)
      clearTimeout(answering)
    }
    request.once('socket', (socket) => {
      if (!socket.connecting) return clearTimeout(connecting)
      socket.once(socket instanceof Object && 'encrypted' in socket ? 'secureConnect' : 'connect', () =>
        clearTimeout(connecting),
      )
    })
    request.once('response', (response) => {
      stopClocks()
      resolve(response)
    })
    request.once('error', (fault) => {
      stopClocks()
      reject(fault instanceof McpFault ? fault : new McpFault('It cannot be reached.'))
    })
    request.end(body)
  })
}
