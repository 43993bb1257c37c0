/**
 * A program that floods a server; `FLOOD` has the address and more, as JSON. Half of its requests have compressed bodies that unpack to 256 MB, and
 * the other half have bodies that never end. Each request is repeated five seconds after its end. Prints 'begun' once all have been sent, and the
 * answer to each when it is told to stop.
 */
import { request } from 'node:http'
import { brotliCompressSync, constants } from 'node:zlib'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'

const { hostname, port, requests } = z
  .object({ hostname: z.string(), port: z.string(), requests: z.number() })
  .parse(JSON.parse(process.env['FLOOD'] ?? ''))

const packed = brotliCompressSync(Buffer.alloc(256 * 1_048_576, ' '), {
  params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 24 },
})
const json = { 'content-type': 'application/json' }
const delivery = {
  ...json,
  'x-github-event': 'push',
  'x-github-delivery': '2c2d0b14-53a5-4d1b-8d3c-6f1d4f1f8e11',
  'x-hub-signature-256': `sha256=${'0'.repeat(64)}`,
}
/** Bodies that never end: of large and small deliveries, and of a sign-in. */
const unfinished = [
  { path: '/webhooks/github', headers: delivery, announced: 25 * 1_048_576 },
  { path: '/webhooks/github', headers: delivery, announced: 250 * 1_024 },
  { path: '/api/auth/login', headers: json, announced: 1_000_000 },
]

const most = Buffer.alloc(25 * 1_048_576, ' ')
const answered = new Map<string, number>()
const stopping = new AbortController()

/** Resolves with the status once the connection has ended; 0 without an answer. */
function send(
  from: string,
  path: string,
  headers: Record<string, string>,
  body: Buffer,
  announced: number,
): Promise<number> {
  return new Promise((resolve) => {
    const asking = request({
      hostname,
      port,
      path,
      method: 'POST',
      localAddress: from,
      agent: false,
      headers: { ...headers, 'content-length': String(announced) },
    })
    asking.on('response', (response) => {
      response.resume()
      response.on('error', () => undefined)
      response.once('close', () => {
        asking.destroy()
        resolve(response.statusCode ?? 0)
      })
    })
    asking.on('error', () => resolve(0))
    asking.write(body)
  })
}

async function flood(index: number): Promise<void> {
  // The requests come from ten addresses of this machine.
  const from = `127.0.0.${2 + (index % 10)}`
  const one = unfinished[index % unfinished.length]
  const isPacked = index % 2 === 0
  while (!stopping.signal.aborted) {
    const status =
      isPacked || !one
        ? await send(
            from,
            '/api/page-views',
            { ...json, 'content-encoding': 'br' },
            packed,
            packed.byteLength,
          )
        : await send(from, one.path, one.headers, most.subarray(0, one.announced - 1), one.announced)
    const name = `${isPacked ? 'packed' : 'unfinished'} ${status}`
    answered.set(name, (answered.get(name) ?? 0) + 1)
    await pause(5_000)
  }
}

process.once('message', () => {
  stopping.abort()
  process.send?.({ said: 'over', answered: Object.fromEntries(answered) }, () => process.exit(0))
})
for (let index = 0; index < requests; index += 1) void flood(index)
process.send?.({ said: 'begun', answered: {} })
