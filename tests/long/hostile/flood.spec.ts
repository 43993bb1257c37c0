/** Two hundred compressed or unfinished bodies from strangers at the same time, while a signed-in person works. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createHmac, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { getMe, updateProfile } from '#domain/api/auth.schema.ts'
import { webhookPath } from '#domain/api/server.ts'
import { startProduct, type Product } from '../../product.ts'
import type { Person } from '../../product/person.ts'
import { note } from '../../report/notes.ts'

const webhookSecret = 'a secret of the webhook'
const requests = 200
/** How long each is looked at, in ms. */
const lookMs = 15_000
let product: Product
/** Not flooded, and used in the same way at the same time: whatever else the machine does slows down both. */
let quietProduct: Product
let ada: Person
let quietAda: Person
let pid: number
let quietPid: number
beforeAll(async () => {
  const env = { REQUESTS_PER_MINUTE: '0', GITHUB_WEBHOOK_SECRET: webhookSecret }
  product = await startProduct({ env, preload: new URL('./memoryInUse.js', import.meta.url).href })
  quietProduct = await startProduct({ env })
  ada = await product.signIn('ada')
  quietAda = await quietProduct.signIn('ada')
  pid = await pidOf(product)
  quietPid = await pidOf(quietProduct)
})
afterAll(async () => {
  await product?.stop()
  await quietProduct?.stop()
})

async function pidOf(started: Product): Promise<number> {
  const [server] = await started.processes()
  if (!server) throw new Error('The server does not run.')
  return server.pid
}

/** The processor time that a process has taken, in ms. */
async function processorMs(of: number): Promise<number> {
  const stat = await readFile(`/proc/${of}/stat`, 'utf8')
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).map(Number)
  // Linux counts it in hundredths of a second.
  return ((user ?? NaN) + (system ?? NaN)) * 10
}

/** What the operating system has given to the server and not got back, in MB. */
async function resident(): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s*(\d+) kB/.exec(status)?.[1]) / 1_024
}

/** What the server still refers to, in MB: the heap and the buffers beside it, after a garbage collection. */
async function inUse(): Promise<number> {
  const told = () => [...product.logs.stdout.matchAll(/^bytes in use: (\d+)$/gm)]
  const before = told().length
  process.kill(pid, 'SIGUSR2')
  await expect.poll(() => told().length).toBeGreaterThan(before)
  return Number(told().at(-1)?.[1]) / 1_048_576
}

/** The times of a read and a write, in ms, of somebody who does nothing else. */
async function timed(
  person: Person,
): Promise<{ readonly rounds: number; readonly median: number; readonly p95: number }> {
  const times: number[] = []
  const end = performance.now() + lookMs
  for (let round = 0; performance.now() < end; round += 1) {
    const begun = performance.now()
    await person.ask(getMe)
    await person.ask(updateProfile, { body: { fullName: `Ada ${round % 2}` } })
    times.push(performance.now() - begun)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? NaN
  return { rounds: times.length, median: at(0.5), p95: at(0.95) }
}

async function deliver(): Promise<number> {
  const body = JSON.stringify({ action: 'opened' })
  const answer = await fetch(`${product.base}${webhookPath}`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'pull_request',
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${createHmac('sha256', webhookSecret).update(body).digest('hex')}`,
    },
  })
  return answer.status
}

const Said = z.object({ said: z.string(), answered: z.record(z.string(), z.number()) })

/** Also gives the processor time of the flooded server, in ms, beyond what the other one took for as many reads and writes. */
async function timedBoth() {
  const processors = () => Promise.all([processorMs(pid), processorMs(quietPid)])
  const [floodedFrom, quietFrom] = await processors()
  const [flooded, quiet] = await Promise.all([timed(ada), timed(quietAda)])
  const [floodedTo, quietTo] = await processors()
  const ofOthers = ((quietTo - quietFrom) / quiet.rounds) * flooded.rounds
  return { flooded, quiet, floodMs: floodedTo - floodedFrom - ofOthers }
}

/** Floods the server for as long as people are timed, and gives their times, the statuses of deliveries, and how the flood was answered. */
async function flood() {
  const { hostname, port } = new URL(product.base)
  const flooder = fork(fileURLToPath(new URL('./flooder.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, FLOOD: JSON.stringify({ hostname, port, requests }) },
  })
  try {
    await once(flooder, 'message')
    const times = await timedBoth()
    const deliveries = await Promise.all(Array.from({ length: 20 }, deliver))
    flooder.send('stop')
    const [message] = await once(flooder, 'message')
    return { times, deliveries, answered: Said.parse(message).answered }
  } finally {
    flooder.kill('SIGKILL')
  }
}

// Holds findings 1.103.
test('security H1 and M1: a flood of packed and unfinished bodies is refused, people and deliveries go on, and the memory comes back', async () => {
  // What is compiled and loaded with the first of them does not count.
  await timedBoth()
  const before = { inUse: await inUse(), resident: await resident() }
  let peak = before.resident
  const look = setInterval(() => void resident().then((now) => (peak = Math.max(peak, now))), 50)
  try {
    // The allocator of the system keeps pages that were freed, and gives them out again: what is resident need not fall after a flood. So what
    // comes back is what is in use, and however often it is flooded, the server takes no more than this from the system.
    for (const name of ['first', 'second', 'third']) {
      const { times, deliveries, answered } = await flood()
      const { flooded, quiet, floodMs } = times
      const msEach = floodMs / Object.values(answered).reduce((sum, count) => sum + count, 0)
      const after = await inUse()
      const ratio = (flooded.median / quiet.median).toFixed(2)
      note(
        `the ${name} flood of ${requests} packed and unfinished bodies`,
        `a read and a write took ${flooded.median.toFixed(1)} ms (95 %: ${flooded.p95.toFixed(1)}), at a server beside it that was not flooded ${quiet.median.toFixed(1)} ms (${quiet.p95.toFixed(1)}), ${ratio} times as long; each request of the flood took ${msEach.toFixed(1)} ms of the processor; resident ${before.resident.toFixed(0)} MB before, ${peak.toFixed(0)} MB at most, ${(await resident()).toFixed(0)} MB after; in use ${before.inUse.toFixed(0)} MB before, ${after.toFixed(0)} MB after; ${JSON.stringify(answered)}`,
      )
      expect(deliveries).toEqual(Array.from({ length: 20 }, () => 202))
      const kinds = Object.keys(answered)
      expect(kinds).toContain('packed 415')
      expect(kinds).toContain('unfinished 408')
      expect(kinds.filter((kind) => kind.startsWith('packed') && kind !== 'packed 415')).toEqual([])
      // Beside it a server that is not flooded is asked at the same time, so that a busy machine slows both.
      expect(flooded.median / quiet.median).toBeLessThan(2)
      await expect.poll(inUse).toBeLessThan(before.inUse + 5)
      expect(peak - before.resident).toBeLessThan(100)
    }
  } finally {
    clearInterval(look)
  }
})
