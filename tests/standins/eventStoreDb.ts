/**
 * A stand-in for EventStoreDB at the wire: real gRPC on 127.0.0.1, so that the client library and everything behind it are the
 * real ones. It answers as the published source of EventStoreDB 24 says; no running server was held against it. What it keeps
 * outlives `kill` and `restart`. Like a server in use it also holds events of its own, in streams that begin with `$`.
 */
import { once, EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js'
import type {
  sendUnaryData,
  ServerReadableStream,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceError,
} from '@grpc/grpc-js'
import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { AppendReq, AppendResp, ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'

export interface EventStoreDbOptions {
  /** Servers before 22.6 do not say where an event lies in the whole log when its stream is read. */
  readonly isOlderThan22_6?: boolean
  /** Over TLS, with these files, only this user is let in. */
  readonly secured?: {
    readonly keyFile: string
    readonly certificateFile: string
    readonly user: string
    readonly password: string
  }
}

/** What becomes of the answer to an append that was stored. */
export type LostAnswer = 'silence' | 'a broken connection'

export interface EventStoreDbStandIn {
  readonly port: number
  /** The server goes away at once, with every connection, as by `kill -9`; what was stored stays. */
  kill(): void
  /** The server is there again, at the same port. */
  restart(): Promise<void>
  /** The next append is stored, and its answer lost. */
  loseNextAnswer(how: LostAnswer): void
  /** From now on no call is answered, and none refused. */
  fallSilent(): void
  /** Stores an event of another program. */
  storeForeign(stream: string, type: string): void
  /** Ends the subscriptions that are there, as a server does that is short of something. */
  dropSubscriptions(): void
  readonly subscriptions: number
  /** Events that were pushed to subscriptions. */
  readonly pushed: number
  /** Appends that were sent over the one call that the library shares between all of them. */
  readonly batchAppends: number
  /** Records in the log: a repeat that was stored twice would show. */
  readonly events: number
}

interface StoredRecord {
  readonly id: string
  readonly stream: string
  readonly revision: number
  readonly position: number
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
  readonly createdMs: number
}

type Proposed = Pick<StoredRecord, 'id' | 'type' | 'contentType' | 'data' | 'metadata'>

const noPosition = String(2n ** 64n - 1n)
const largestAppendBytes = 1_024 * 1_024
const ticksPerMs = 10_000
const empty = () => new shared.Empty()
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'utf8'))

/** Starts the stand-in on a free port of 127.0.0.1, or on the one given. */
export async function startEventStoreDb(
  options: EventStoreDbOptions & { readonly port?: number } = {},
): Promise<EventStoreDbStandIn> {
  const log: StoredRecord[] = []
  const byStream = new Map<string, StoredRecord[]>()
  const bell = new EventEmitter().setMaxListeners(0)
  let lostAnswer: LostAnswer | null = null
  let isSilent = false
  let subscriptions = 0
  let batchAppends = 0
  let pushed = 0
  let port = options.port ?? 0
  let server: Server | null = null

  function store(stream: string, proposed: readonly Proposed[]): readonly StoredRecord[] {
    const of = byStream.get(stream) ?? []
    byStream.set(stream, of)
    const stored = proposed.map((event, index) => ({
      ...event,
      stream,
      revision: of.length + index,
      position: (log.length + index + 1) * 100,
      createdMs: Date.now(),
    }))
    of.push(...stored)
    log.push(...stored)
    return stored
  }

  function storeJson(stream: string, type: string): void {
    const id = `00000000-0000-4000-8000-${String(log.length).padStart(12, '0')}`
    const [data, metadata] = [bytesOf('{"of":"the server"}'), bytesOf('{}')]
    store(stream, [{ id, type, contentType: 'application/json', data, metadata }])
  }

  /** What EventStoreDB's `IndexWriter.CheckCommit` decides: the same ids at the same place are the same append. */
  function append(
    stream: string,
    expected: number,
    events: readonly Proposed[],
  ): { stored: StoredRecord | undefined } | { actual: number } {
    const of = byStream.get(stream) ?? []
    const actual = of.length - 1
    if (expected < actual && events.length > 0) {
      const there = of.slice(expected + 1, expected + 1 + events.length)
      if (events.every(({ id }, index) => there[index]?.id === id)) return { stored: there.at(-1) }
    }
    if (expected !== actual) return { actual }
    const stored = store(stream, events)
    // A server in use writes between the events of its users: figures of itself, links of its projections.
    if (log.length % 7 < events.length) storeJson('$stats-127.0.0.1:2113', '$statsCollected')
    storeJson('$ce-sample', '$>')
    bell.emit('appended')
    return { stored: stored.at(-1) }
  }

  function recorded(record: StoredRecord, isFromAll: boolean): ReadResp {
    const position = options.isOlderThan22_6 && !isFromAll ? noPosition : String(record.position)
    const event = new streams.ReadResp.ReadEvent.RecordedEvent()
      .setId(new shared.UUID().setString(record.id))
      .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(bytesOf(record.stream)))
      .setStreamRevision(String(record.revision))
      .setCommitPosition(position)
      .setPreparePosition(position)
      .setData(record.data)
      .setCustomMetadata(record.metadata)
    event
      .getMetadataMap()
      .set('type', record.type)
      .set('content-type', record.contentType)
      .set('created', String(record.createdMs * ticksPerMs))
    return new streams.ReadResp().setEvent(
      new streams.ReadResp.ReadEvent().setEvent(event).setCommitPosition(position),
    )
  }

  async function read(call: ServerWritableStream<ReadReq, ReadResp>): Promise<void> {
    const asked = call.request.getOptions()
    if (!asked) return refuse(call, status.INVALID_ARGUMENT, 'options')
    const of = asked.getStream()
    const all = asked.getAll()
    const isBackwards = asked.getReadDirection() === 1
    if (asked.hasSubscription()) return subscribe(call, asked)
    const most = Number(asked.getCount())
    let found: readonly StoredRecord[]
    if (of) {
      const name = Buffer.from(of.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString('utf8')
      const records = byStream.get(name)
      if (!records) {
        const identifier = new shared.StreamIdentifier().setStreamName(bytesOf(name))
        const notFound = new streams.ReadResp.StreamNotFound().setStreamIdentifier(identifier)
        call.write(new streams.ReadResp().setStreamNotFound(notFound))
        call.end()
        return
      }
      const from = of.hasEnd() ? records.length - 1 : of.hasStart() ? 0 : Number(of.getRevision())
      found = isBackwards
        ? records.slice(Math.max(0, from + 1 - most), from + 1).toReversed()
        : records.slice(from, from + most)
    } else {
      const from = all?.getPosition()
      const at = from ? Number(from.getCommitPosition()) : all?.hasEnd() ? Infinity : 0
      const first = log.findIndex(({ position }) => position >= at)
      const index = first < 0 ? log.length : first
      // A read begins at its position, a subscription after it.
      found = isBackwards
        ? log
            .slice(0, from ? index + 1 : index)
            .toReversed()
            .slice(0, most)
        : log.slice(index, index + most)
    }
    for (const record of found) {
      if (call.cancelled || call.destroyed) return
      if (!call.write(recorded(record, of === undefined))) await drained(call)
    }
    call.end()
  }

  async function subscribe(
    call: ServerWritableStream<ReadReq, ReadResp>,
    asked: ReadReq.Options,
  ): Promise<void> {
    const expression = asked.getFilter()?.getEventType()?.getRegex()
    const filter = expression === undefined ? null : new RegExp(expression)
    const from = asked.getAll()?.getPosition()
    const ended = new AbortController()
    const end = () => ended.abort()
    const drop = () => refuse(call, status.INTERNAL, 'the subscription was dropped')
    call.on('cancelled', end).on('close', end).on('error', end)
    bell.once('drop', drop)
    subscriptions += 1
    try {
      const confirmation = new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId('1')
      call.write(new streams.ReadResp().setConfirmation(confirmation))
      let after = from ? Number(from.getCommitPosition()) : -1
      let next = log.findIndex(({ position }) => position > after)
      if (next < 0) next = log.length
      let hasCaughtUp = false
      while (!ended.signal.aborted) {
        const record = log[next]
        if (!record) {
          if (!hasCaughtUp) call.write(new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp()))
          hasCaughtUp = true
          const checkpoint = new streams.ReadResp.Checkpoint()
            .setCommitPosition(String(after))
            .setPreparePosition(String(after))
          if (after >= 0) call.write(new streams.ReadResp().setCheckpoint(checkpoint))
          await once(bell, 'appended', { signal: ended.signal })
          continue
        }
        next += 1
        after = record.position
        if (filter && !filter.test(record.type)) continue
        pushed += 1
        if (!call.write(recorded(record, true))) await drained(call)
      }
    } catch (fault) {
      if (!ended.signal.aborted) throw fault
    } finally {
      bell.off('drop', drop)
      subscriptions -= 1
    }
  }

  function takeAppend(
    call: ServerReadableStream<AppendReq, AppendResp>,
    answer: sendUnaryData<AppendResp>,
  ): void {
    let stream = ''
    let expected = -1
    let bytes = 0
    const events: Proposed[] = []
    call.on('data', (request: AppendReq) => {
      const asked = request.getOptions()
      const proposed = request.getProposedMessage()
      if (asked) {
        stream = Buffer.from(asked.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString('utf8')
        expected = asked.hasNoStream() ? -1 : Number(asked.getRevision())
      }
      if (!proposed) return
      const type = proposed.getMetadataMap().get('type') ?? ''
      const contentType = proposed.getMetadataMap().get('content-type') ?? ''
      const [data, metadata] = [proposed.getData_asU8(), proposed.getCustomMetadata_asU8()]
      bytes += data.length + metadata.length + type.length * 2
      events.push({ id: proposed.getId()?.getString() ?? '', type, contentType, data, metadata })
    })
    call.on('end', () => {
      if (bytes > largestAppendBytes) {
        const trailers = { 'maximum-append-size': String(largestAppendBytes) }
        const sentence = `Maximum Append Size of ${largestAppendBytes} Exceeded.`
        return answer(
          refusal(status.INVALID_ARGUMENT, sentence, 'maximum-append-size-exceeded', trailers),
          null,
        )
      }
      const outcome = append(stream, expected, events)
      const lost = lostAnswer
      if ('stored' in outcome && lost !== null) {
        lostAnswer = null
        if (lost === 'a broken connection') answer(refusal(status.UNAVAILABLE, 'the connection broke'), null)
        return
      }
      return answer(null, 'stored' in outcome ? success(outcome.stored) : conflict(outcome.actual, expected))
    })
  }

  /** Lets a call through to its handler only when the server answers, and whoever calls may. */
  function atTheDoor<Call extends { metadata: Metadata; emit(event: 'error', fault: unknown): boolean }>(
    call: Call,
    enter: () => void,
  ): void {
    if (isSilent) return
    const { secured } = options
    const given = String(call.metadata.get('authorization')[0] ?? '')
    const wanted = secured
      ? `Basic ${Buffer.from(`${secured.user}:${secured.password}`).toString('base64')}`
      : given
    if (given === wanted) return enter()
    call.emit('error', refusal(status.PERMISSION_DENIED, 'Access Denied', 'access-denied'))
  }

  async function listen(): Promise<void> {
    const started = new Server()
    started.addService(StreamsService, {
      read: (call: ServerWritableStream<ReadReq, ReadResp>) =>
        atTheDoor(call, () => {
          read(call).catch((fault: unknown) => refuse(call, status.UNKNOWN, String(fault)))
        }),
      append: (call: ServerReadableStream<AppendReq, AppendResp>, answer: sendUnaryData<AppendResp>) =>
        atTheDoor(call, () => takeAppend(call, answer)),
      batchAppend: (call: { emit(event: 'error', fault: unknown): boolean }) => {
        batchAppends += 1
        refuse(call, status.UNIMPLEMENTED, 'the stand-in takes single appends only')
      },
      delete: notHere,
      tombstone: notHere,
    })
    started.addService(ServerFeaturesService, {
      getSupportedMethods: (_: unknown, answer: sendUnaryData<unknown>) => answer(null, supported()),
    })
    started.addService(GossipService, {
      read: (_: unknown, answer: sendUnaryData<unknown>) => answer(null, soleMember(port)),
    })
    port = await new Promise<number>((resolve, reject) => {
      started.bindAsync(`127.0.0.1:${port}`, credentialsOf(options), (fault, bound) =>
        fault ? reject(fault) : resolve(bound),
      )
    })
    server = started
  }

  storeJson('$users', '$UserCreated')
  storeJson('$settings', '$settings')
  await listen()
  return {
    get port() {
      return port
    },
    kill() {
      server?.forceShutdown()
      server = null
    },
    restart: listen,
    loseNextAnswer(how) {
      lostAnswer = how
    },
    fallSilent() {
      isSilent = true
    },
    storeForeign(stream, type) {
      storeJson(stream, type)
      bell.emit('appended')
    },
    dropSubscriptions() {
      bell.emit('drop')
    },
    get subscriptions() {
      return subscriptions
    },
    get pushed() {
      return pushed
    },
    get batchAppends() {
      return batchAppends
    },
    get events() {
      return log.filter(({ stream }) => !stream.startsWith('$')).length
    },
  }
}

function credentialsOf({ secured }: EventStoreDbOptions): ServerCredentials {
  if (!secured) return ServerCredentials.createInsecure()
  const [key, certificate] = [readFileSync(secured.keyFile), readFileSync(secured.certificateFile)]
  return ServerCredentials.createSsl(null, [{ private_key: key, cert_chain: certificate }])
}

/** Resolves when there is room again, and when nobody reads any more. */
async function drained(call: ServerWritableStream<ReadReq, ReadResp>): Promise<void> {
  const over = new AbortController()
  const { signal } = over
  const signs = ['drain', 'close', 'cancelled'].map((sign) => once(call, sign, { signal }))
  await Promise.race(signs).catch(() => {})
  over.abort()
  await Promise.allSettled(signs)
}

function refusal(
  code: status,
  details: string,
  exception?: string,
  trailers: Readonly<Record<string, string>> = {},
): Partial<ServiceError> {
  const metadata = new Metadata()
  if (exception !== undefined) metadata.set('exception', exception)
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, value)
  return { code, details, metadata }
}

function refuse(
  call: { emit(event: 'error', fault: unknown): boolean },
  code: status,
  details: string,
): void {
  call.emit('error', refusal(code, details))
}

function notHere(_: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>): void {
  answer(refusal(status.UNIMPLEMENTED, 'the stand-in deletes nothing'), null)
}

function success(last: StoredRecord | undefined): AppendResp {
  const answer = new streams.AppendResp.Success()
  if (last) {
    const position = new streams.AppendResp.Position()
      .setCommitPosition(String(last.position))
      .setPreparePosition(String(last.position))
    answer.setCurrentRevision(String(last.revision)).setPosition(position)
  } else {
    answer.setNoStream(empty()).setNoPosition(empty())
  }
  return new streams.AppendResp().setSuccess(answer)
}

function conflict(actual: number, expected: number): AppendResp {
  const answer = new streams.AppendResp.WrongExpectedVersion()
  if (actual < 0) answer.setCurrentNoStream(empty())
  else answer.setCurrentRevision(String(actual))
  if (expected < 0) answer.setExpectedNoStream(empty())
  else answer.setExpectedRevision(String(expected))
  return new streams.AppendResp().setWrongExpectedVersion(answer)
}

/** In lower case, as a server says them: the library takes other spellings for missing. */
function supported() {
  const methods = ['read', 'append', 'batchappend'].map((name) =>
    new features.SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name),
  )
  return new features.SupportedMethods().setEventStoreServerVersion('24.10.0').setMethodsList(methods)
}

function soleMember(port: number) {
  const member = new gossip.MemberInfo()
    .setInstanceId(new shared.UUID().setString('00000000-0000-4000-8000-00000000000a'))
    .setState(gossip.MemberInfo.VNodeState.LEADER)
    .setIsAlive(true)
    .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(port))
  return new gossip.ClusterInfo().setMembersList([member])
}
