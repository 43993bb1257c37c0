/** The streams of the work queue in JetStream, and the operations on their messages. */
import { setTimeout as pause } from 'node:timers/promises'
import {
  AckPolicy,
  DiscardPolicy,
  nanos,
  RetentionPolicy,
  StorageType,
  type ConsumerInfo,
  type JetStreamClient,
  type JetStreamManager,
  type StreamConfig,
} from 'nats'
import { EngineUnavailable } from '../ports/faults.ts'
import { rejectedKeptMs } from '../ports/jobs.ts'
import { UnusableNats, type Nats, type Refusals } from '../bus/natsConnection.ts'

/**
 * `queue` keeps jobs until they are acknowledged, `standings` keeps the record of each job for 7 days, `rejected` keeps rejected jobs for 90 days,
 * and `marks` keeps marks without limit.
 */
export type StreamName = 'queue' | 'standings' | 'rejected' | 'marks'

export interface Kept {
  /** The number of the message in its stream, which identifies the message. */
  readonly sequence: number
  readonly data: Uint8Array
}

export interface Consumer {
  readonly subject: string
  readonly acknowledgedTo: number
}

/**
 * The operations of JetStream that the port needs. A request that is not answered within `timeoutMs` (by default 5,000 ms) throws
 * `EngineUnavailable`.
 */
export interface Streams {
  /**
   * Appends a message and returns its sequence number. With `after`, returns `conflict` unless this is the sequence number of the subject's last
   * message (0: the subject has no message). `once` is the id of the message: repeating it within 2 minutes adds nothing.
   */
  append(
    name: StreamName,
    subject: string,
    message: { data: string; after?: number; once?: string },
    timeoutMs?: number,
  ): Promise<number | 'conflict'>
  last(name: StreamName, subject: string, timeoutMs?: number): Promise<Kept | undefined>
  /** The first message with a matching subject, from `sequence` on; `undefined` when there is none. A `*` in the subject matches any part. */
  next(name: StreamName, subject: string, sequence: number): Promise<Kept | undefined>
  /** Removes a message. Does nothing when it does not exist. */
  remove(name: StreamName, sequence: number): Promise<void>
  count(subject: string): Promise<number>
  /** When the queue was created. If the queue is lost and created again, this changes, and earlier jobs no longer exist. */
  created(): Promise<string>
  /**
   * Creates a consumer of the queue with that name if it is missing, and makes it forget messages that are gone. Returns the subject for requesting
   * messages, and the number up to which it counts all messages as acknowledged.
   */
  consumer(name: string, subject: string): Promise<Consumer>
  ready(): Promise<void>
  close(): void
}

/** How long a worker may take to claim a delivery before NATS delivers the message to another worker. */
const claimTimeoutMs = 5_000
const standingKeptMs = 7 * 24 * 3_600_000
/** How often a call is tried. A missing stream is created before the second attempt. If it is missing again, somebody removes it on purpose. */
const callAttempts = 2
const retryPauseMs = 1_000
const readyMs = 2_000

// The error codes are from https://github.com/nats-io/nats-server/blob/main/server/errors.json.
const consumerNotFound = 10_014
const noMessageFound = 10_037
const jetStreamNotEnabledForAccount = 10_039
const sequenceNotFound = 10_043
const streamNotFound = 10_059
const wrongLastSequence = 10_071
const jetStreamNotEnabled = 10_076

interface JetStream {
  readonly nats: Nats
  readonly manager: JetStreamManager
  readonly client: JetStreamClient
  readonly onWaiting: (line: string) => void
  streamOf(name: StreamName): string
  subjectOf(name: StreamName, subject: string): string
  /** The check that the streams exist. `undefined` before the first call and after each outage, because the server may have lost its data. */
  prepared: Promise<void> | undefined
}

/**
 * Creates missing streams; existing streams keep the configuration that their operator has set. Waits for JetStream to answer, and reports the
 * waiting to `onWaiting`. Throws `UnusableNats` when the server or the account has no JetStream.
 */
export async function openStreams(options: {
  nats: Nats
  namespace: string
  onWaiting: (line: string) => void
}): Promise<Streams> {
  const { nats, namespace, onWaiting } = options
  const manager = await nats.connection.jetstreamManager({ checkAPI: false })
  const jetStream: JetStream = {
    nats,
    manager,
    client: nats.connection.jetstream(),
    onWaiting,
    streamOf: (name) => `${namespace}-jobs-${name}`,
    subjectOf: (name, subject) => `${namespace}.jobs.${name}.${subject}`,
    prepared: undefined,
  }
  const stopReturning = nats.onReturn(() => {
    jetStream.prepared = undefined
  })

  await waitForJetStream(jetStream)
  return {
    append: (name, subject, message, timeoutMs) => append(jetStream, name, subject, message, timeoutMs),
    last: (name, subject, timeoutMs) => last(jetStream, name, subject, timeoutMs),
    next: (name, subject, sequence) => next(jetStream, name, subject, sequence),
    remove: (name, sequence) => remove(jetStream, name, sequence),
    count: (subject) => count(jetStream, subject),
    created: async () =>
      (await ask(jetStream, () => manager.streams.info(jetStream.streamOf('queue')))).created,
    consumer: (name, subject) => consumer(jetStream, name, subject),
    ready: async () => {
      await ask(jetStream, () => manager.streams.info(jetStream.streamOf('queue')), { timeoutMs: readyMs })
    },
    close: stopReturning,
  }
}

/** Creates missing streams. Runs again after each outage, because the server may return without its data. */
function prepare(jetStream: JetStream): Promise<void> {
  jetStream.prepared ??= makeStreams(jetStream).catch((fault: unknown) => {
    jetStream.prepared = undefined
    throw fault
  })
  return jetStream.prepared
}

async function makeStreams(jetStream: JetStream): Promise<void> {
  const common = { storage: StorageType.File, discard: DiscardPolicy.New }
  const configs: readonly (Partial<StreamConfig> & { name: StreamName })[] = [
    { ...common, name: 'queue', retention: RetentionPolicy.Workqueue },
    { ...common, name: 'standings', max_msgs_per_subject: 1, max_age: nanos(standingKeptMs) },
    { ...common, name: 'rejected', max_msgs_per_subject: 1, max_age: nanos(rejectedKeptMs) },
    // A new mark of a subject replaces the older one, so a subject that has a mark always keeps one.
    { ...common, name: 'marks', max_msgs_per_subject: 1, discard: DiscardPolicy.Old },
  ]
  for (const { name, ...config } of configs) {
    const refusals = new Map([[streamNotFound, () => undefined]])
    const found = await jetStream.nats.ask(() => jetStream.manager.streams.info(jetStream.streamOf(name)), {
      refusals,
    })
    if (found !== undefined) continue
    const subjects = [jetStream.subjectOf(name, '>')]
    await jetStream.nats.ask(() =>
      jetStream.manager.streams.add({ ...config, name: jetStream.streamOf(name), subjects }),
    )
  }
}

/** Calls JetStream. When a stream is missing, creates it and retries once, which is safe because the failed call has done nothing. */
async function ask<T, R = never>(
  jetStream: JetStream,
  call: () => Promise<T>,
  expected: { refusals?: Refusals<R>; timeoutMs?: number | undefined } = {},
): Promise<T | R> {
  const refusals = new Map<number, () => R | typeof gone>([
    ...(expected.refusals ?? []),
    [streamNotFound, () => gone],
  ])
  for (let attempt = 1; attempt <= callAttempts; attempt += 1) {
    await prepare(jetStream)
    const answer = await jetStream.nats.ask<T, R | typeof gone>(call, { ...expected, refusals })
    if (answer !== gone) return answer
    jetStream.prepared = undefined
  }
  throw new EngineUnavailable(`A stream of NATS at ${jetStream.nats.address}`)
}

async function waitForJetStream(jetStream: JetStream): Promise<void> {
  for (let said = false; ; said = true) {
    try {
      return await prepare(jetStream)
    } catch (fault) {
      if (!(fault instanceof EngineUnavailable)) throw fault
      if (await isWithoutJetStream(jetStream)) {
        throw new UnusableNats(
          `NATS at ${jetStream.nats.address} is running without JetStream. Start it with -js.`,
        )
      }
      if (!said)
        jetStream.onWaiting(
          `JetStream of NATS at ${jetStream.nats.address} does not answer yet; waiting for it.`,
        )
      await pause(retryPauseMs)
    }
  }
}

async function isWithoutJetStream(jetStream: JetStream): Promise<boolean> {
  if (jetStream.nats.isConnected() && jetStream.nats.connection.info?.jetstream !== true) return true
  const refusals = new Map([
    [jetStreamNotEnabled, () => 'none'],
    [jetStreamNotEnabledForAccount, () => 'none'],
  ])
  const account = jetStream.nats.ask(() => jetStream.manager.getAccountInfo(), { refusals })
  return (await account.catch(() => undefined)) === 'none'
}

async function append(
  jetStream: JetStream,
  name: StreamName,
  subject: string,
  { data, after, once }: { data: string; after?: number; once?: string },
  timeoutMs: number | undefined,
): Promise<number | 'conflict'> {
  const answer = await ask(
    jetStream,
    () =>
      jetStream.client.publish(jetStream.subjectOf(name, subject), data, {
        expect: {
          streamName: jetStream.streamOf(name),
          ...(after === undefined ? {} : { lastSubjectSequence: after }),
        },
        ...(once === undefined ? {} : { msgID: once }),
      }),
    { refusals: new Map([[wrongLastSequence, () => 'conflict' as const]]), timeoutMs },
  )
  return answer === 'conflict' ? answer : answer.seq
}

async function last(
  jetStream: JetStream,
  name: StreamName,
  subject: string,
  timeoutMs: number | undefined,
): Promise<Kept | undefined> {
  return keptOf(
    await ask(
      jetStream,
      () =>
        jetStream.manager.streams.getMessage(jetStream.streamOf(name), {
          last_by_subj: jetStream.subjectOf(name, subject),
        }),
      { refusals: new Map([[noMessageFound, () => undefined]]), timeoutMs },
    ),
  )
}

async function next(
  jetStream: JetStream,
  name: StreamName,
  subject: string,
  sequence: number,
): Promise<Kept | undefined> {
  // The server accepts `seq` together with `next_by_subj`, although the driver's types allow that only for direct reads.
  const request = { seq: sequence, next_by_subj: jetStream.subjectOf(name, subject) }
  const refusals = new Map([[noMessageFound, () => undefined]])
  return keptOf(
    await ask(jetStream, () => jetStream.manager.streams.getMessage(jetStream.streamOf(name), request), {
      refusals,
    }),
  )
}

async function remove(jetStream: JetStream, name: StreamName, sequence: number): Promise<void> {
  await ask(jetStream, () => jetStream.manager.streams.deleteMessage(jetStream.streamOf(name), sequence), {
    refusals: new Map([[sequenceNotFound, () => false]]),
  })
}

async function count(jetStream: JetStream, subject: string): Promise<number> {
  const filter = { subjects_filter: jetStream.subjectOf('queue', subject) }
  const { state } = await ask(jetStream, () =>
    jetStream.manager.streams.info(jetStream.streamOf('queue'), filter),
  )
  return Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0)
}

async function consumer(jetStream: JetStream, name: string, subject: string): Promise<Consumer> {
  const stream = jetStream.streamOf('queue')
  const found = await ask(jetStream, () => jetStream.manager.consumers.info(stream, name), {
    refusals: new Map([[consumerNotFound, () => undefined]]),
  })
  if (found === undefined) {
    await ask(jetStream, () =>
      jetStream.manager.consumers.add(stream, {
        durable_name: name,
        filter_subject: jetStream.subjectOf('queue', subject),
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(claimTimeoutMs),
        max_deliver: -1,
        max_ack_pending: -1,
      }),
    )
  } else if (found.num_ack_pending > 0) await acknowledgeGone(jetStream, name, found)
  return {
    subject: `$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`,
    acknowledgedTo: found?.ack_floor.stream_seq ?? 0,
  }
}

/**
 * Acknowledges the messages that the consumer delivered and that are gone. A server that was killed may have written the removal of a message and not
 * its acknowledgement. It then tries for ever to deliver the message again, and meanwhile delivers no other.
 */
async function acknowledgeGone(
  jetStream: JetStream,
  name: string,
  { ack_floor: floor, delivered }: Pick<ConsumerInfo, 'ack_floor' | 'delivered'>,
): Promise<void> {
  const stream = jetStream.streamOf('queue')
  const { state } = await ask(jetStream, () =>
    jetStream.manager.streams.info(stream, { deleted_details: true }),
  )
  for (const sequence of state.deleted ?? []) {
    if (sequence > floor.stream_seq && sequence <= delivered.stream_seq)
      jetStream.nats.connection.publish(`$JS.ACK.${stream}.${name}.1.${sequence}.0.0.0`, '+ACK')
  }
}

const gone = Symbol('gone')

function keptOf(message: { seq: number; data: Uint8Array } | undefined): Kept | undefined {
  return message === undefined ? undefined : { sequence: message.seq, data: message.data }
}
