/** The parts that a soak kills and pauses: four services in processes of their own, and three engines that they share. */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { ApartProduct } from '../../product/servicesApart.ts'
import { ownNats } from '../../servers/nats.ts'
import type { SharedEngines } from '../../servers/sharedEngines.ts'
import { startForked } from './forked.ts'

export interface Part {
  readonly name: string
  readonly pid: () => number | undefined
  kill(): Promise<void>
  start(): Promise<void>
  /** The folder whose files are counted; `null` when the part has none. */
  readonly folder: string | null
}

export interface Engines extends Pick<SharedEngines, 'env'> {
  readonly parts: readonly Part[]
}

type AtEnd = (undo: () => Promise<unknown>) => void

/** Starts the engines, all empty. The stand-ins keep their data in memory, so only their connections are killed. */
export async function startEngines(atEnd: AtEnd): Promise<Engines> {
  const nats = await ownNats()
  atEnd(nats.close)
  const eventStore = await startStandIn('EventStoreDB', atEnd)
  const mongo = await startStandIn('MongoDB', atEnd)
  return {
    env: {
      EVENTSTORE_URL: `esdb://127.0.0.1:${eventStore.port}?tls=false`,
      MONGODB_URL: `mongodb://127.0.0.1:${mongo.port}/flightdeck_soak`,
      NATS_URL: nats.url,
    },
    parts: [
      eventStore,
      mongo,
      {
        name: 'NATS',
        pid: nats.pid,
        kill: () => nats.stop('SIGKILL'),
        start: () => nats.start(),
        folder: nats.folder,
      },
    ],
  }
}

async function startStandIn(
  name: 'EventStoreDB' | 'MongoDB',
  atEnd: AtEnd,
): Promise<Part & { readonly port: number }> {
  const child = startForked('./engineProcess.ts', [name])
  atEnd(() => child.end())
  const { port } = await child.answer('ready', z.object({ port: z.number() }))
  return {
    name,
    port,
    pid: () => child.pid,
    kill: () => child.answer('kill', z.unknown(), 'kill').then(() => undefined),
    start: () => child.answer('restart', z.unknown(), 'restart').then(() => undefined),
    folder: null,
  }
}

export function servicesOf(product: ApartProduct): readonly Part[] {
  return (['command', 'query', 'gateway', 'runner'] as const).flatMap((service) =>
    product.of[service].map((server, index) => ({
      name: service,
      pid: server.pid,
      kill: server.kill9,
      start: server.start,
      folder: product.folderOf(service, index),
    })),
  )
}

export interface Fault {
  readonly part: string
  readonly kind: 'killed' | 'paused'
  /** When it happened, in milliseconds of `performance.now()`. */
  readonly at: number
}

const downMs = 2_000
const pausedMs = 5_000

/**
 * Kills or pauses one part in each interval until the signal, each part in turn, and lets it go on. With an odd number of parts, each is killed in one
 * round and paused in the next.
 */
export async function disturb(
  parts: readonly Part[],
  everyMs: number,
  signal: AbortSignal,
  onFault: (fault: Fault) => void,
): Promise<void> {
  for (let n = 0; ; n += 1) {
    await pause(everyMs, undefined, { signal }).catch(() => undefined)
    const part = parts[n % parts.length]
    if (signal.aborted || part === undefined) return
    const kind = n % 2 === 0 ? 'killed' : 'paused'
    onFault({ part: part.name, kind, at: performance.now() })
    if (kind === 'killed') {
      await part.kill()
      await pause(downMs)
      await part.start()
      continue
    }
    const pid = part.pid()
    if (pid === undefined) throw new Error(`${part.name} is not running.`)
    process.kill(pid, 'SIGSTOP')
    await pause(pausedMs)
    process.kill(pid, 'SIGCONT')
  }
}
