/** A worker: asks NATS for as many jobs of a kind as it has room for, and runs each under its lease. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Msg } from 'nats'
import { EngineUnavailable, type ReportFault } from '../ports/faults.ts'
import type { Delivery, Job, Worker } from '../ports/jobs.ts'
import type { Nats } from '../bus/natsConnection.ts'
import { fairShare } from './fairShare.ts'
import { deliveryOf, leaseFor, type DeliveryParts, type Held } from './natsDelivery.ts'
import { pull } from './natsPull.ts'
import { fresh } from './natsJobRecords.ts'

export interface WorkerParts extends DeliveryParts {
  readonly nats: Nats
  readonly onFault: ReportFault
  /** Makes sure of the consumer of the kind; the subject where it is asked. */
  consumer(): Promise<string>
  /** The job that a message holds; `undefined` when it holds none. */
  jobOf(data: Uint8Array): Job | undefined
}

const askAgainMs = 500
const mostConflicts = 20
const firstPauseMs = 200
const longestPauseMs = 30_000

export function startWorker(
  parts: WorkerParts,
  { kind, concurrency, leaseMs }: { kind: string; concurrency: number; leaseMs: number },
  handle: (delivery: Delivery) => Promise<void>,
): Worker {
  const { nats, places, tell, finish, setAside, requireOpen, onFault } = parts
  const running = new Set<Promise<void>>()
  const share = fairShare(concurrency)
  const stopping = new AbortController()
  const { signal } = stopping
  let freed: () => void = () => {}

  /** Makes the job this worker's own; `undefined` when it is not to be done by who got this message. */
  async function claim(job: Job, reply: string): Promise<Held | undefined> {
    const delivered = deliveredOf(reply)
    for (let conflicts = 0; conflicts < mostConflicts; conflicts += 1) {
      requireOpen()
      const { standing, revision } = (await places.read(job.id)) ?? { standing: fresh, revision: 0 }
      switch (standing.state) {
        case 'done':
          await finish(reply, '+ACK')
          return undefined
        case 'rejected':
          await setAside(job, standing.reason, reply)
          return undefined
        case 'queued':
        case 'leased':
          break
      }
      // A later delivery was claimed already: this one was held up on its way.
      if (delivered <= standing.delivered) return undefined
      const claimed = { attempt: standing.attempt + 1, delivered, claim: randomUUID() }
      const written = await places.write(job.id, { state: 'leased', ...claimed }, revision)
      if (written === 'conflict') continue
      const deadline = performance.now() + leaseMs
      await tell(reply, leaseFor(leaseMs))
      return { job, claimed, revision: written, reply, deadline }
    }
    return undefined
  }

  async function run({ data, reply = '' }: Msg): Promise<void> {
    const job = parts.jobOf(data)
    if (job === undefined) {
      onFault(`What came as a job of kind ${kind} is none and is thrown away`, undefined)
      return finish(reply, '+TERM')
    }
    if (signal.aborted) return finish(reply, leaseFor(0))
    const { person } = job
    if (person !== undefined) {
      const verdict = share.offered({ id: job.id, person }, behind(reply), performance.now())
      if (verdict.kind === 'put_back') return finish(reply, leaseFor(verdict.delayMs))
    }
    try {
      const claimed = await claim(job, reply)
      if (claimed !== undefined) await deliver(deliveryOf(parts, claimed, leaseMs))
    } catch (fault) {
      onFault(`Job ${job.id} (${kind}) comes again when its lease runs out`, fault)
    } finally {
      if (person !== undefined) share.ended(person)
    }
  }

  async function deliver(delivery: Delivery): Promise<void> {
    try {
      await handle(delivery)
    } catch (fault) {
      const { job, attempt } = delivery
      onFault(`Job ${job.id} (${kind}) failed at attempt ${attempt} and is given back`, fault)
      await delivery.nak(Math.min(firstPauseMs * 2 ** (attempt - 1), longestPauseMs))
    }
  }

  function onMessage(message: Msg): void {
    const ran = run(message)
      .catch((fault: unknown) => onFault(`A job of kind ${kind} could not be taken`, fault))
      .finally(() => {
        running.delete(ran)
        freed()
      })
    running.add(ran)
  }

  async function take(): Promise<void> {
    let subject: string | undefined
    while (!signal.aborted) {
      if (running.size >= concurrency) {
        await new Promise<void>((resolve) => (freed = resolve))
        share.asksAgain(performance.now())
        continue
      }
      try {
        subject ??= await parts.consumer()
        const ended = await pull({ nats, subject, signal, onMessage })
        if (ended !== 'broken') continue
      } catch (fault) {
        // That NATS is away was said by the connection.
        if (!(fault instanceof EngineUnavailable))
          onFault(`Jobs of kind ${kind} could not be asked for`, fault)
      }
      // The consumer may be gone, with the server's data or by an operator's hand.
      subject = undefined
      await pause(askAgainMs, undefined, { signal }).catch(() => {})
    }
  }

  const taking = take()
  return {
    stop: async () => {
      stopping.abort()
      freed()
      await taking
      await Promise.all(running)
    },
  }
}

/** How often NATS has delivered the message. */
function deliveredOf(reply: string): number {
  return Number(countsOf(reply)[0])
}

/** How many messages of the consumer NATS has given to nobody yet. */
function behind(reply: string): number {
  return Number(countsOf(reply)[4])
}

/** Of `$JS.ACK.<stream>.<consumer>.<delivered>.<sequence>.<delivery>.<time>.<pending>`, with more around them in a domain. */
function countsOf(reply: string): readonly string[] {
  const parts = reply.split('.')
  return parts.slice(parts.length > 9 ? 6 : 4)
}
