/**
 * The work queue of many processes: JetStream delivers, and the standing of each job says whose it is. A job's message stays in the queue
 * until its standing says that it is done or set aside, so whatever is lost half way is finished by who is given the message next.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { Position } from '#domain/kernel/event.schema.ts'
import { EngineUnavailable, type ReportFault } from '../ports/faults.ts'
import type { Jobs, Worker } from '../ports/jobs.ts'
import type { Nats } from '../bus/natsConnection.ts'
import { mostReasonLength, type DeliveryParts } from './natsDelivery.ts'
import { fresh, openStandings, type Read, type Standing } from './natsJobRecords.ts'
import { openStreams } from './natsStreams.ts'
import { startWorker } from './natsWorker.ts'

const Job = z.object({
  id: z.string(),
  kind: z.string(),
  person: z.string().exactOptional(),
  payload: z.record(z.string(), z.string()),
})
type Job = z.output<typeof Job>
const Rejected = z.object({ job: Job, reason: z.string() })

// A job must fit into a message when it is set aside too: with its reason, in JSON, and with headers.
const mostAddedBytes = mostReasonLength * 6 + 4_096

/**
 * The queue on a connection that others may share; closing it leaves the connection open. Waits for a JetStream that does not answer yet;
 * throws `UnusableNats` when there is none. `put` throws `RangeError` for a job that is larger than a message of the server. `namespace`
 * keeps products on one server apart: letters, digits and `-`.
 */
export async function openNatsJobs(options: {
  nats: Nats
  namespace?: string
  onFault: ReportFault
  onWaiting: (line: string) => void
}): Promise<Jobs> {
  const { nats, namespace = 'flightdeck', onFault, onWaiting } = options
  const streams = await openStreams({ nats, namespace, onWaiting })
  const places = openStandings(streams, partOf)
  const workers = new Set<Worker>()
  let isClosed = false

  function requireOpen(): void {
    if (isClosed) throw new EngineUnavailable(`NATS at ${nats.address}`, new Error('The queue was closed'))
  }

  async function tell(reply: string, word: string, withinMs?: number): Promise<void> {
    requireOpen()
    await nats.ask((timeout) => nats.connection.request(reply, word, { timeout }), { withinMs })
  }

  async function finish(reply: string, word: string): Promise<void> {
    try {
      await tell(reply, word)
    } catch (fault) {
      if (!(fault instanceof EngineUnavailable)) throw fault
    }
  }

  const parts: DeliveryParts = {
    places,
    tell,
    finish,
    requireOpen,
    setAside: async (job, reason, reply) => {
      await streams.append('rejected', subjectOf(job), { data: JSON.stringify({ job, reason }) })
      await finish(reply, '+ACK')
    },
  }

  /** Puts the job's message into the queue, where it is not there; `once` names this putting of it. */
  async function enqueue(job: Job, once: string): Promise<void> {
    await streams.append('queue', subjectOf(job), { data: JSON.stringify(job), after: 0, once })
  }

  /**
   * Queues a job again whose message is lost: who put it died before the message, or the stream was removed. Who holds it cannot renew its
   * lease without the message, and is refused from here on.
   */
  async function restoreMessage(job: Job, { standing, revision }: Read): Promise<void> {
    if (standing.state === 'done' || standing.state === 'rejected') return
    if ((await streams.last('queue', subjectOf(job))) !== undefined) return
    // NATS counts the deliveries of another message from the start.
    const queued: Standing = { state: 'queued', attempt: standing.attempt, delivered: 0, claim: '' }
    const written = await places.write(job.id, queued, revision)
    // It was claimed or ended at the same moment.
    if (written !== 'conflict') await enqueue(job, `${job.id} ${written}`)
  }

  function requireSize(job: Job): void {
    if (Buffer.byteLength(JSON.stringify(job)) + mostAddedBytes <= nats.mostBytes()) return
    throw new RangeError(`Job ${job.id} is larger than a message of NATS may be.`)
  }

  return {
    put: async (job) => {
      requireOpen()
      requireSize(job)
      const read = await places.read(job.id)
      if (read !== undefined) return restoreMessage(job, read)
      if ((await streams.last('rejected', subjectOf(job))) !== undefined) return
      await places.write(job.id, fresh, 0)
      await enqueue(job, job.id)
    },

    work: (kind, { concurrency, leaseMs }, handle) => {
      const consumer = () => streams.consumer(partOf(kind), `${partOf(kind)}.*`)
      const worker = startWorker(
        { ...parts, nats, onFault, consumer, jobOf },
        { kind, concurrency, leaseMs },
        handle,
      )
      workers.add(worker)
      return {
        stop: () => {
          workers.delete(worker)
          return worker.stop()
        },
      }
    },

    standing: async (id) => {
      requireOpen()
      return (await places.read(id))?.standing.state
    },
    mark: async (name, position) => {
      requireOpen()
      await streams.append('marks', partOf(name), { data: position })
    },
    marked: async (name) => {
      requireOpen()
      const kept = await streams.last('marks', partOf(name))
      return kept === undefined ? null : Position.parse(Buffer.from(kept.data).toString('utf8'))
    },

    pending: async (kind) => {
      requireOpen()
      return streams.count(`${partOf(kind)}.*`)
    },

    rejected: async (kind, limit) => {
      requireOpen()
      const newest: z.output<typeof Rejected>[] = []
      if (limit <= 0) return newest
      for (let from = 1; ;) {
        const kept = await streams.next('rejected', `${partOf(kind)}.*`, from)
        if (kept === undefined) return newest.toReversed()
        newest.push(rejectedOf(kept.data))
        if (newest.length > limit) newest.shift()
        from = kept.sequence + 1
      }
    },

    requeue: async (id) => {
      requireOpen()
      const kept = await streams.next('rejected', `*.${partOf(id)}`, 1)
      if (kept === undefined) return false
      const { job } = rejectedOf(kept.data)
      const read = await places.read(id)
      const state = read?.standing.state ?? 'rejected'
      if (state === 'rejected' && (await places.write(id, fresh, read?.revision ?? 0)) === 'conflict')
        return false
      // Who brought it back before may have died half way: after the standing, or after the message.
      const isBack = state === 'leased' || state === 'done'
      if (!isBack) await enqueue(job, `${id} ${kept.sequence}`)
      await streams.remove('rejected', kept.sequence)
      return !isBack
    },

    ready: async () => {
      requireOpen()
      await streams.ready()
    },

    close: async () => {
      isClosed = true
      streams.close()
      // Not awaited: a handler may run for hours, and what it still says is refused from now on.
      for (const worker of workers) void worker.stop()
      workers.clear()
    },
  }
}

function subjectOf({ kind, id }: Job): string {
  return `${partOf(kind)}.${partOf(id)}`
}

/** A part of a subject, which takes no dots, blanks or wildcards: the name itself, or its hash. */
function partOf(name: string): string {
  if (/^[A-Za-z0-9-]{1,100}$/.test(name)) return name
  return `_${createHash('sha256').update(name).digest('base64url')}`
}

function jobOf(data: Uint8Array): Job | undefined {
  try {
    return Job.safeParse(JSON.parse(Buffer.from(data).toString('utf8'))).data
  } catch {
    return undefined
  }
}

function rejectedOf(data: Uint8Array): z.output<typeof Rejected> {
  return Rejected.parse(JSON.parse(Buffer.from(data).toString('utf8')))
}
