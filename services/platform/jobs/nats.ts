/**
 * The work queue for several processes. JetStream delivers jobs, and the record of each job says which worker owns it. A job's message stays in the
 * queue until its record says that it is done or rejected, so that whoever receives the message next completes an interrupted step.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { Position } from '#domain/kernel/event.schema.ts'
import { jsonOf } from '../json.ts'
import { EngineUnavailable, type ReportFault } from '../ports/faults.ts'
import type { Delivery, Jobs, Worker } from '../ports/jobs.ts'
import type { Nats } from '../bus/natsConnection.ts'
import { maxReasonLength, type DeliveryParts } from './natsDelivery.ts'
import { fresh, openJobRecords, type Read, type JobRecord, type JobRecords } from './natsJobRecords.ts'
import { openStreams, type Streams } from './natsStreams.ts'
import { startWorker } from './natsWorker.ts'

const Job = z.object({
  id: z.string(),
  kind: z.string(),
  person: z.string().exactOptional(),
  payload: z.record(z.string(), z.string()),
})
type Job = z.output<typeof Job>
const Rejected = z.object({ job: Job, reason: z.string() })
/** A mark counts only for the queue that existed when it was set: if the queue is lost, so are the jobs before the mark. */
const Mark = z.object({ position: Position, queue: z.string() })

// A job grows by at most this many bytes when it is rejected: it gets a reason, in JSON, and headers. Even then, it must fit into a message.
const maxAddedBytes = maxReasonLength * 6 + 4_096

interface Queue {
  readonly nats: Nats
  readonly streams: Streams
  readonly records: JobRecords
  readonly onFault: ReportFault
  readonly workers: Set<Worker>
  isClosed: boolean
}

/**
 * The queue on a connection that may be shared; closing the queue leaves the connection open. Waits for JetStream to answer; throws `UnusableNats`
 * when the server has none. `put` throws `RangeError` for a job that is larger than the server's maximum message. `namespace` separates products on
 * one server: letters, digits and `-`.
 */
export async function openNatsJobs(options: {
  nats: Nats
  namespace?: string
  onFault: ReportFault
  onWaiting: (line: string) => void
}): Promise<Jobs> {
  const { nats, namespace = 'flightdeck', onFault, onWaiting } = options
  const streams = await openStreams({ nats, namespace, onWaiting })
  const queue: Queue = {
    nats,
    streams,
    records: openJobRecords(streams, partOf),
    onFault,
    workers: new Set(),
    isClosed: false,
  }
  return {
    put: (job) => putJob(queue, job),

    work: (kind, options, handle) => startWorkerOf(queue, kind, options, handle),

    stateOf: async (id) => {
      requireOpen(queue)
      return (await queue.records.read(id))?.record.state
    },
    mark: async (name, position) => {
      requireOpen(queue)
      const mark = { position, queue: await streams.created() }
      await streams.append('marks', partOf(name), { data: JSON.stringify(mark) })
    },
    marked: (name) => markedPosition(queue, name),

    pending: async (kind) => {
      requireOpen(queue)
      return streams.count(`${partOf(kind)}.*`)
    },

    rejected: (kind, limit) => rejectedJobs(queue, kind, limit),

    requeue: (id) => requeueJob(queue, id),

    ready: async () => {
      requireOpen(queue)
      await streams.ready()
    },

    close: async () => {
      queue.isClosed = true
      streams.close()
      // Stopping is not awaited, because a handler may run for hours. Its later calls fail.
      for (const worker of queue.workers) void worker.stop()
      queue.workers.clear()
    },
  }
}

function requireOpen(queue: Queue): void {
  if (queue.isClosed)
    throw new EngineUnavailable(`NATS at ${queue.nats.address}`, new Error('The queue was closed'))
}

async function tell(queue: Queue, reply: string, word: string, timeoutMs?: number): Promise<void> {
  requireOpen(queue)
  await queue.nats.ask((timeout) => queue.nats.connection.request(reply, word, { timeout }), { timeoutMs })
}

async function finish(queue: Queue, reply: string, word: string): Promise<void> {
  try {
    await tell(queue, reply, word)
  } catch (fault) {
    if (!(fault instanceof EngineUnavailable)) throw fault
  }
}

/** Adds the job's message to the queue if it is missing. If JetStream has already got a message with the id `once`, it adds nothing. */
async function enqueue(queue: Queue, job: Job, once: string): Promise<void> {
  await queue.streams.append('queue', subjectOf(job), { data: JSON.stringify(job), after: 0, once })
}

function requireSize(queue: Queue, job: Job): void {
  if (Buffer.byteLength(JSON.stringify(job)) + maxAddedBytes <= queue.nats.maxBytes()) return
  throw new RangeError(`Job ${job.id} is larger than a message of NATS may be.`)
}

async function putJob(queue: Queue, job: Job): Promise<void> {
  requireOpen(queue)
  requireSize(queue, job)
  const read = await queue.records.read(job.id)
  if (read !== undefined) return restoreMessage(queue, job, read)
  if ((await queue.streams.last('rejected', subjectOf(job))) !== undefined) return
  await queue.records.write(job.id, fresh, 0)
  await enqueue(queue, job, job.id)
}

/**
 * Puts a job whose message is lost back into the queue. The message is lost if the process that put the job ended before it added the message, or if
 * the stream was removed. A worker that holds the job loses its lease.
 */
async function restoreMessage(queue: Queue, job: Job, { record, revision }: Read): Promise<void> {
  if (record.state === 'done' || record.state === 'rejected') return
  if ((await queue.streams.last('queue', subjectOf(job))) !== undefined) return
  // `delivered` is 0, because NATS counts the deliveries of the new message from 1.
  const queued: JobRecord = { state: 'queued', attempt: record.attempt, delivered: 0, claim: '' }
  const written = await queue.records.write(job.id, queued, revision)
  // A conflict means that the job was claimed or ended at the same moment, so it needs no new message.
  if (written !== 'conflict') await enqueue(queue, job, `${job.id} ${written}`)
}

/**
 * Removes the messages up to a number that the kind's consumer counts as acknowledged, and puts back the jobs that have not ended. A server that was
 * killed may have written the acknowledgement of a message and neither its removal nor the end of its job; it never delivers the message again.
 */
async function restoreAcknowledged(queue: Queue, kind: string, acknowledgedTo: number): Promise<void> {
  for (let from = 1; ;) {
    const kept = await queue.streams.next('queue', `${partOf(kind)}.*`, from)
    if (kept === undefined || kept.sequence > acknowledgedTo) return
    const job = jobOf(kept.data)
    const read = job && (await queue.records.read(job.id))
    await queue.streams.remove('queue', kept.sequence)
    if (job && read) await restoreMessage(queue, job, read)
    from = kept.sequence + 1
  }
}

function startWorkerOf(
  queue: Queue,
  kind: string,
  { concurrency, leaseMs }: { concurrency: number; leaseMs: number },
  handle: (delivery: Delivery) => Promise<void>,
): Worker {
  const consumer = async () => {
    const { subject, acknowledgedTo } = await queue.streams.consumer(partOf(kind), `${partOf(kind)}.*`)
    await restoreAcknowledged(queue, kind, acknowledgedTo)
    return subject
  }
  const worker = startWorker(
    { ...deliveryParts(queue), nats: queue.nats, onFault: queue.onFault, consumer, jobOf },
    { kind, concurrency, leaseMs },
    handle,
  )
  queue.workers.add(worker)
  return {
    stop: () => {
      queue.workers.delete(worker)
      return worker.stop()
    },
  }
}

async function markedPosition(queue: Queue, name: string): Promise<Position | null> {
  requireOpen(queue)
  const kept = await queue.streams.last('marks', partOf(name))
  const mark = kept && Mark.safeParse(jsonOf(kept.data)).data
  return mark !== undefined && mark.queue === (await queue.streams.created()) ? mark.position : null
}

async function rejectedJobs(
  queue: Queue,
  kind: string,
  limit: number,
): Promise<readonly z.output<typeof Rejected>[]> {
  requireOpen(queue)
  const newest: z.output<typeof Rejected>[] = []
  if (limit <= 0) return newest
  for (let from = 1; ;) {
    const kept = await queue.streams.next('rejected', `${partOf(kind)}.*`, from)
    if (kept === undefined) return newest.toReversed()
    newest.push(rejectedOf(kept.data))
    if (newest.length > limit) newest.shift()
    from = kept.sequence + 1
  }
}

async function requeueJob(queue: Queue, id: string): Promise<boolean> {
  requireOpen(queue)
  const kept = await queue.streams.next('rejected', `*.${partOf(id)}`, 1)
  if (kept === undefined) return false
  const { job } = rejectedOf(kept.data)
  const read = await queue.records.read(id)
  const state = read?.record.state ?? 'rejected'
  if (state === 'rejected' && (await queue.records.write(id, fresh, read?.revision ?? 0)) === 'conflict')
    return false
  // An earlier requeue may have been interrupted after it wrote the record or after it added the message. If it added the message, a worker may have
  // the job already.
  const isBack = state === 'leased' || state === 'done'
  if (!isBack) await enqueue(queue, job, `${id} ${kept.sequence}`)
  await queue.streams.remove('rejected', kept.sequence)
  return !isBack
}

function deliveryParts(queue: Queue): DeliveryParts {
  return {
    records: queue.records,
    tell: (reply, word, timeoutMs) => tell(queue, reply, word, timeoutMs),
    finish: (reply, word) => finish(queue, reply, word),
    requireOpen: () => requireOpen(queue),
    setAside: async (job, reason, reply) => {
      await queue.streams.append('rejected', subjectOf(job), { data: JSON.stringify({ job, reason }) })
      await finish(queue, reply, '+ACK')
    },
  }
}

function subjectOf({ kind, id }: Job): string {
  return `${partOf(kind)}.${partOf(id)}`
}

/**
 * Converts a name to a part of a subject. A name of at most 100 letters, digits and `-` stays as it is. Any other name becomes a hash, because a part
 * may not contain dots, blanks or wildcards.
 */
function partOf(name: string): string {
  if (/^[A-Za-z0-9-]{1,100}$/.test(name)) return name
  return `_${createHash('sha256').update(name).digest('base64url')}`
}

function jobOf(data: Uint8Array): Job | undefined {
  return Job.safeParse(jsonOf(data)).data
}

function rejectedOf(data: Uint8Array): z.output<typeof Rejected> {
  return Rejected.parse(jsonOf(data))
}
