/** Load over HTTP: a number of requests in flight at a time, for a given time. */
import { Agent, request } from 'node:http'

export interface Asked {
  readonly method: 'GET' | 'PUT' | 'POST'
  readonly path: string
  readonly body?: string
}

export interface Client {
  /** Makes a request and returns the body of its answer. Throws when the status is not one of success. */
  ask(asked: Asked): Promise<string>
  /** Keeps `inFlight` requests in flight for `ms` milliseconds; `next` makes them, with numbers from 0. */
  under(load: { readonly inFlight: number; readonly ms: number; next(number: number): Asked }): Promise<Borne>
  close(): void
}

/** The results of a load. */
export interface Borne {
  /** Answers per second. */
  readonly rate: number
  /** The time of each answer in milliseconds. */
  readonly times: readonly number[]
}

const answerWithinMs = 10_000

/** A client that keeps its connections. `token` is the bearer token, if there is one. */
export function openClient(base: string, token?: string): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }

  const ask = ({ method, path, body }: Asked): Promise<string> =>
    new Promise((resolve, reject) => {
      const sent = body === undefined ? {} : { 'content-type': 'application/json' }
      const asking = request(`${base}${path}`, {
        agent,
        method,
        headers: { ...authorization, ...sent, 'content-length': Buffer.byteLength(body ?? '') },
        timeout: answerWithinMs,
      })
      asking.once('timeout', () => asking.destroy(new Error(`${method} ${path} was not answered.`)))
      asking.once('error', reject)
      asking.once('response', (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.once('error', reject)
        answer.once('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          const status = answer.statusCode ?? 0
          if (status >= 200 && status < 300) resolve(text)
          else reject(new Error(`${method} ${path} answers ${status}: ${text.slice(0, 300)}`))
        })
      })
      asking.end(body)
    })

  return {
    ask,
    async under({ inFlight, ms, next }) {
      const startedAt = performance.now()
      const times: number[] = []
      let asked = 0
      const worker = async () => {
        while (performance.now() - startedAt < ms) {
          const number = asked
          asked += 1
          const askedAt = performance.now()
          await ask(next(number))
          times.push(performance.now() - askedAt)
        }
      }
      await Promise.all(Array.from({ length: inFlight }, worker))
      return { rate: (asked * 1_000) / (performance.now() - startedAt), times }
    },
    close: () => agent.destroy(),
  }
}
