/** A code host with faults: a proxy that passes on git and API requests alike, and treats some of them differently. */
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'

/** How a request is treated: instead of an answer, or after the host has done what it asks for. */
export interface Met {
  readonly when: 'before' | 'after'
  /** Whether this applies to all matching requests from now on, and not only to the next one. */
  readonly always?: boolean
  /** The connection is cut, or this answer is given; `half` is half of the host's own answer. */
  readonly how:
    | 'cut'
    | 'half'
    | { readonly status: number; readonly headers?: Readonly<Record<string, string>> }
}

/** A request as it arrived, with its time in milliseconds of the monotonic clock. */
export interface Arrived {
  readonly line: string
  /** The beginning of the request's token, such as `ghu_` for a person's; empty without a token. */
  readonly token: string
  readonly at: number
}

export interface FaultyHost {
  readonly url: string
  /** All requests since the last call. */
  take(): readonly Arrived[]
  /** Treats the next request, or all of them, whose method and path match in this way, and tells when it has arrived. */
  meet(of: RegExp, met: Met): { readonly isOver: () => boolean }
  passTo(url: string): void
  close(): Promise<void>
}

export async function startFaultyHost(): Promise<FaultyHost> {
  let arrived: Arrived[] = []
  let meetings: { readonly of: RegExp; readonly met: Met }[] = []
  let target = ''
  const server = createServer((asked, answer) => {
    const line = `${asked.method} ${asked.url}`
    arrived.push({ line, token: tokenOf(asked.headers.authorization ?? ''), at: performance.now() })
    const meeting = meetings.find(({ of }) => of.test(line))
    meetings = meetings.filter((one) => one !== meeting || one.met.always)
    meet(asked, answer, { to: target + (asked.url ?? ''), met: meeting?.met }).catch(() => answer.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    take() {
      const taken = arrived
      arrived = []
      return taken
    },
    meet(of, met) {
      const meeting = { of, met }
      meetings.push(meeting)
      return { isOver: () => !meetings.includes(meeting) }
    },
    passTo: (url) => void (target = url),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function tokenOf(authorization: string): string {
  const [, basic] = /^basic (\S+)$/i.exec(authorization) ?? []
  const text = basic === undefined ? authorization : Buffer.from(basic, 'base64').toString('utf8')
  return /gh[a-z]_/.exec(text)?.[0] ?? ''
}

async function meet(
  asked: IncomingMessage,
  answer: ServerResponse,
  { to, met }: { readonly to: string; readonly met: Met | undefined },
): Promise<void> {
  const body = await buffer(asked)
  const given = met?.when === 'before' ? undefined : await passOn(asked, to, body)
  if (met?.how === 'cut') return void answer.destroy()
  if (met && typeof met.how === 'object')
    return void answer
      .writeHead(met.how.status, { 'content-type': 'application/json', ...met.how.headers })
      .end(JSON.stringify({ message: 'a bad day' }))
  if (!given) return
  const { 'content-length': _length, 'transfer-encoding': _encoding, ...headers } = given.headers
  answer.writeHead(given.status, headers)
  answer.end(met?.how === 'half' ? given.body.subarray(0, given.body.length / 2) : given.body)
}

async function passOn(asked: IncomingMessage, to: string, body: Buffer) {
  const { host: _host, ...headers } = asked.headers
  const sent = request(to, { method: asked.method, headers })
  const coming = once(sent, 'response')
  sent.end(body)
  const [response]: unknown[] = await coming
  if (!isMessage(response)) throw new TypeError('It is no answer.')
  return { status: response.statusCode ?? 502, headers: response.headers, body: await buffer(response) }
}

const isMessage = (value: unknown): value is IncomingMessage =>
  typeof value === 'object' && value !== null && 'statusCode' in value
