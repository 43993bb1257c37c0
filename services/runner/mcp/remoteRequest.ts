/**
 * Sends requests to one remote MCP server, with its credential: only to addresses that the rules of egress allow, and without following redirects.
 */
import { lookup as systemLookup } from 'node:dns'
import * as http from 'node:http'
import * as https from 'node:https'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { hostAndPort, mayConnect, rulesFor, type Rule } from '../egress/allowList.ts'

export interface RemoteServer {
  readonly id: string
  readonly name: string
  readonly url: string
  readonly header: { readonly name: string; readonly value: string } | null
  readonly toolsOff: readonly string[]
  readonly rules: readonly Rule[]
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
  /** The answer with any status, except for redirects and refused credentials. Throws `McpFault`. */
  ask(request: RemoteRequest): Promise<IncomingMessage>
  close(): void
}

const connectTimeoutMs = 10_000

export function remoteOf(server: RemoteServer): Remote {
  const url = new URL(server.url)
  const transport = url.protocol === 'https:' ? https : http
  const agent = new transport.Agent({ keepAlive: true, maxFreeSockets: 2 })
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const { host } = hostAndPort(url.hostname)
  const matched = rulesFor(server.rules, host, port)
  const isAllowed = (address: string) => mayConnect(address, port, matched, server.rules)
  return {
    async ask({ method, headers, body, answerWithinMs, signal }) {
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
          ...(server.header === null ? {} : { [server.header.name]: server.header.value }),
        },
      })
      const response = await answered(request, { body, answerWithinMs })
      const { statusCode = 502 } = response
      const refusal =
        statusCode >= 300 && statusCode < 400
          ? 'It redirects to another address, which is not followed.'
          : statusCode === 401 || statusCode === 403
            ? `It refuses the credential (${statusCode}).`
            : undefined
      if (refusal === undefined) return response
      response.destroy()
      throw new McpFault(refusal)
    },
    close: () => agent.destroy(),
  }
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
