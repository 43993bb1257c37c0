/** A worker that requests jobs of a kind from NATS while it has free slots, and runs each under its lease. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { createInbox, nanos, type Msg } from 'nats'
import { EngineUnavailable, type ReportFault } from '../ports/faults.ts'
import type { Delivery, Job, Worker } from '../ports/jobs.ts'
import type { Nats } from '../bus/natsConnection.ts'
import { fairShare } from './fairShare.ts'
import { deliveryOf, leaseFor, type DeliveryParts, type HeldJob } from './natsDelivery.ts'
import { fresh } from './natsJobRecords.ts'

interface WorkerParts extends DeliveryParts {
  readonly nats: Nats
  readonly onFault: ReportFault
  /** Creates the consumer for the kind of job if it is missing, and returns the subject for requests. */
  consumer(): Promise<string>
  /** The job in a message; `undefined` when there is none. */
  jobOf(data: Uint8Array): Job | undefined
}

const retryPauseMs = 500
const maxConflicts = 20
const firstPauseMs = 200
const longestPauseMs = 30_000

interface RunningWorker extends WorkerParts {
  readonly parts: WorkerParts
  readonly kind: string
  readonly concurrency: number
  readonly leaseMs: number
  readonly handle: (delivery: Delivery) => Promise<void>
  readonly running: Set<Promise<void>>
  /**
   * The running deliveries that called `waits(true)`: they take no slot of a person and do not count towards `concurrency`. Not the ids of their jobs,
   * because a delivery that lost its lease may still run beside the next one of its job.
   */
  readonly waiting: Set<object>
  readonly share: ReturnType<typeof fairShare>
  readonly signal: AbortSignal
  freed: () => void
}

/** Takes jobs of the kind while fewer than `concurrency` run, not counting those that wait, until it is stopped. */
export function startWorker(
  parts: WorkerParts,
  { kind, concurrency, leaseMs }: { kind: string; concurrency: number; leaseMs: number },
  handle: (delivery: Delivery) => Promise<void>,
): Worker {
  const stopping = new AbortController()
  const worker: RunningWorker = {
    ...parts,
    parts,
    kind,
    concurrency,
    leaseMs,
    handle,
    running: new Set(),
    waiting: new Set(),
    share: fairShare(concurrency),
    signal: stopping.signal,
    freed: () => {},
  }
  const taking = takeJobs(worker)
  return {
    stop: async () => {
      stopping.abort()
      worker.freed()
      await taking
      await Promise.all(worker.running)
    },
  }
}

/** Claims the job for this worker. Returns `undefined` when the delivery to which `reply` belongs may not claim the job. */
async function claim(worker: RunningWorker, job: Job, reply: string): Promise<HeldJob | undefined> {
  const delivered = deliveredOf(reply)
  for (let conflicts = 0; conflicts < maxConflicts; conflicts += 1) {
    worker.requireOpen()
    const { record, revision } = (await worker.records.read(job.id)) ?? { record: fresh, revision: 0 }
    switch (record.state) {
      case 'done':
        await worker.finish(reply, '+ACK')
        return undefined
      case 'rejected':
        await worker.setAside(job, record.reason, reply)
        return undefined
      case 'queued':
      case 'leased':
        break
    }
    // A later delivery of this job is leased, so this delivery came late. A job that was given back may be claimed by any delivery, because a consumer
    // that was made again counts from 1.
    if (record.state === 'leased' && delivered <= record.delivered) return undefined
    const claimed = { attempt: record.attempt + 1, delivered, claim: randomUUID() }
    const written = await worker.records.write(job.id, { state: 'leased', ...claimed }, revision)
    if (written === 'conflict') continue
    const deadline = performance.now() + worker.leaseMs
    await worker.tell(reply, leaseFor(worker.leaseMs))
    return { job, claimed, revision: written, reply, deadline }
  }
  return undefined
}

async function run(worker: RunningWorker, { data, reply = '' }: Msg): Promise<void> {
  const job = worker.parts.jobOf(data)
  if (job === undefined) {
    worker.onFault(`What came as a job of kind ${worker.kind} is none and is thrown away`, undefined)
    return worker.finish(reply, '+TERM')
  }
  if (worker.signal.aborted) return worker.finish(reply, leaseFor(0))
  const { person } = job
  if (person !== undefined) {
    const verdict = worker.share.offered({ id: job.id, person }, behind(reply), performance.now())
    if (verdict.kind === 'put_back') return worker.finish(reply, leaseFor(verdict.delayMs))
  }
  const place = {}
  try {
    const claimed = await claim(worker, job, reply)
    const waits = (isWaiting: boolean) => setWaiting(worker, place, person, isWaiting)
    if (claimed !== undefined) await deliver(worker, deliveryOf(worker.parts, claimed, worker.leaseMs, waits))
  } catch (fault) {
    worker.onFault(`Job ${job.id} (${worker.kind}) comes again when its lease runs out`, fault)
  } finally {
    // A waiting job has already given its slot back.
    if (!worker.waiting.delete(place) && person !== undefined) worker.share.ended(person)
  }
}

function setWaiting(
  worker: RunningWorker,
  place: object,
  person: string | undefined,
  isWaiting: boolean,
): void {
  if (worker.waiting.has(place) === isWaiting) return
  if (isWaiting) worker.waiting.add(place)
  else worker.waiting.delete(place)
  if (person !== undefined) {
    if (isWaiting) worker.share.ended(person)
    else worker.share.goesOn(person)
  }
  worker.freed()
}

async function deliver(worker: RunningWorker, delivery: Delivery): Promise<void> {
  try {
    await worker.handle(delivery)
  } catch (fault) {
    const { job, attempt } = delivery
    worker.onFault(`Job ${job.id} (${worker.kind}) failed at attempt ${attempt} and is given back`, fault)
    await delivery.nak(Math.min(firstPauseMs * 2 ** (attempt - 1), longestPauseMs))
  }
}

function onMessage(worker: RunningWorker, message: Msg): void {
  const ran = run(worker, message)
    .catch((fault: unknown) => worker.onFault(`A job of kind ${worker.kind} could not be taken`, fault))
    .finally(() => {
      worker.running.delete(ran)
      worker.freed()
    })
  worker.running.add(ran)
}

async function takeJobs(worker: RunningWorker): Promise<void> {
  let subject: string | undefined
  while (!worker.signal.aborted) {
    if (worker.running.size - worker.waiting.size >= worker.concurrency) {
      await new Promise<void>((resolve) => (worker.freed = resolve))
      worker.share.asksAgain(performance.now())
      continue
    }
    try {
      subject ??= await worker.parts.consumer()
      const ended = await pull({
        nats: worker.nats,
        subject,
        signal: worker.signal,
        onMessage: (message) => onMessage(worker, message),
      })
      // A consumer that brings nothing is looked at again, because a server that was killed may have left it unable to.
      if (ended === 'expired') subject = undefined
      if (ended !== 'broken') continue
    } catch (fault) {
      // The connection already reports outages.
      if (!(fault instanceof EngineUnavailable))
        worker.onFault(`Jobs of kind ${worker.kind} could not be asked for`, fault)
    }
    // The consumer may have been lost with the server's data, or removed by an operator. So the next round makes it again if it is missing.
    subject = undefined
    await pause(retryPauseMs, undefined, { signal: worker.signal }).catch(() => {})
  }
}

function deliveredOf(reply: string): number {
  return Number(countsOf(reply)[0])
}

function behind(reply: string): number {
  return Number(countsOf(reply)[4])
}

/**
 * The parts from `<delivered>` on of a reply subject `$JS.ACK.<stream>.<consumer>.<delivered>.<sequence>.<delivery>.<time>.<pending>`. With a
 * JetStream domain, the subject has additional parts.
 */
function countsOf(reply: string): readonly string[] {
  const parts = reply.split('.')
  return parts.slice(parts.length > 9 ? 6 : 4)
}

/** How a request ended: a message arrived, the time is over, the worker was stopped, or the consumer or connection is broken. */
type PullEnd = 'filled' | 'expired' | 'stopped' | 'broken'

const expiresMs = 30_000
const heartbeatIntervalMs = 2_000
// Status codes with which JetStream answers a request for a message: https://docs.nats.io/reference/reference-protocols/nats_api_reference
const idleHeartbeat = 100
const requestTimeout = 408

/**
 * Requests a message at `subject` and passes it to `onMessage`. A message that NATS sends after `signal` was aborted is ignored; since it is not
 * claimed, another worker gets it.
 */
export function pull(options: {
  nats: Nats
  subject: string
  signal: AbortSignal
  onMessage: (message: Msg) => void
}): Promise<PullEnd> {
  const { nats, subject, signal, onMessage } = options
  const { connection } = nats
  return new Promise((resolve) => {
    const inbox = createInbox()
    const subscription = connection.subscribe(inbox, {
      callback: (refused, message) => {
        if (refused) return end('broken')
        silence.refresh()
        if (message.subject === inbox) return heardStatus(message.headers?.code)
        onMessage(message)
        end('filled')
      },
    })
    // A NATS server that was restarted no longer knows this request.
    const stopReturning = nats.onReturn(() => end('broken'))
    const silence = setTimeout(() => end('broken'), heartbeatIntervalMs * 3)
    const stop = () => end('stopped')
    signal.addEventListener('abort', stop)

    function heardStatus(code: number | undefined): void {
      if (code === idleHeartbeat) return
      end(code === requestTimeout ? 'expired' : 'broken')
    }

    function end(how: PullEnd): void {
      clearTimeout(silence)
      stopReturning()
      signal.removeEventListener('abort', stop)
      subscription.unsubscribe()
      resolve(how)
    }

    const request = { batch: 1, expires: nanos(expiresMs), idle_heartbeat: nanos(heartbeatIntervalMs) }
    connection.publish(subject, JSON.stringify(request), { reply: inbox })
  })
}
