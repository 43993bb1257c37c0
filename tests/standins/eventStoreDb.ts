/**
 * A stand-in for EventStoreDB at the wire: real gRPC on 127.0.0.1, so that the client library and everything behind it are the real ones. It answers
 * according to the published source of EventStoreDB 24, and was not compared with a running server. Its data outlives `kill` and `restart`. Like a
 * server in use it also contains events of its own, in streams that begin with `$`.
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
  /** Servers before 22.6 do not report the position of an event in the whole log when its stream is read. */
  readonly isOlderThan22_6?: boolean
  /** Servers before 23.10 do not report that a subscription has caught up. */
  readonly isOlderThan23_10?: boolean
  /** Uses TLS with these files, and accepts only this user. */
  readonly secured?: {
    readonly keyFile: string
    readonly certificateFile: string
    readonly user: string
    readonly password: string
  }
}

/** What happens to the answer to an append that was stored. */
export type LostAnswer = 'silence' | 'a broken connection'

export interface EventStoreDbStandIn {
  readonly port: number
  /** Stops the server at once, with every connection, as `kill -9` would; stored data stays. */
  kill(): void
  /** Starts the server again, on the same port. */
  restart(): Promise<void>
  /** A copy of the server's files. */
  copy(): EventStoreDbCopy
  /** Restores the server's files from a copy: the server then has what the copy has, and nothing else. It must have been killed before. */
  putBack(copy: EventStoreDbCopy): void
  /** Stores the next append, and loses the answer to it. */
  loseNextAnswer(how: LostAnswer): void
  /** Refuses the next append with RESOURCE_EXHAUSTED and this sentence, and stores nothing of it. */
  exhaust(sentence: string): void
  /** From now on no call is answered, and none is refused, until `answerAgain`. */
  fallSilent(): void
  answerAgain(): void
  /** Resolves when the next call comes that is not answered. */
  unanswered(): Promise<void>
  /** Stores so many more appends, and falls silent before it answers the last of them. Resolves then. */
  silentAfter(appends: number): Promise<void>
  /** Stores an event of another program. */
  storeForeign(stream: string, type: string): void
  /** Ends all current subscriptions, as a server does that lacks some resource. */
  dropSubscriptions(): void
  readonly subscriptions: number
  /** Stores a bound in the stream's metadata: events before it are no longer shown in the stream. */
  truncate(stream: string, before: number): void
  /** Deletes the stream, either for good (`tombstone`) or so that it can begin again. */
  delete(stream: string, how: 'tombstone' | 'soft'): void
  /** Removes what was truncated or deleted from the whole log too. */
  scavenge(): void
  /** Starts a follower, which the gossip lists together with the leader. */
  follow(): Promise<FollowerStandIn>
  /** The number of calls that the leader has served, by name. */
  readonly served: ReadonlyMap<string, number>
  /** The number of events that were sent to subscriptions. */
  readonly pushed: number
  /** The number of events of the whole log that were requested, counting for each read the most that it would have accepted. */
  readonly asked: number
  /** The number of appends through the single call that the library uses for all of them. */
  readonly batchAppends: number
  /** The number of records in the log, which reveals a repeat that was stored twice. */
  readonly events: number
}

/** Every record of the log at one moment. */
export type EventStoreDbCopy = readonly StoredRecord[]

/** A follower, which has everything that the leader has until it is held back. */
export interface FollowerStandIn {
  readonly served: ReadonlyMap<string, number>
  /** From now on the follower receives nothing more. */
  holdBack(): void
}

/** A node of the cluster, and the part of the log that it has. */
interface Node {
  readonly isLeader: boolean
  readonly served: Map<string, number>
  port: number
  server: Server | null
  /** The last position that the node has. */
  upTo: number
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

/** Starts the stand-in on the given port of 127.0.0.1, or else on a free one. */
export async function startEventStoreDb(
  options: EventStoreDbOptions & { readonly port?: number } = {},
): Promise<EventStoreDbStandIn> {
  const log: StoredRecord[] = []
  const byStream = new Map<string, StoredRecord[]>()
  const bell = new EventEmitter().setMaxListeners(0)
  const bounds = new Map<string, number>()
  const tombstones = new Set<string>()
  const scavenged = new Set<StoredRecord>()
  const leader: Node = { isLeader: true, served: new Map(), port: 0, server: null, upTo: Infinity }
  const nodes = [leader]
  let lostAnswer: LostAnswer | null = null
  let isSilent = false
  let subscriptions = 0
  let batchAppends = 0
  let pushed = 0
  let asked = 0
  let exhausted: string | null = null
  let appendsLeft = Infinity
  leader.port = options.port ?? 0

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

  function storeJson(stream: string, type: string, json: object = { of: 'the server' }): void {
    const id = `00000000-0000-4000-8000-${String(log.length).padStart(12, '0')}`
    const [data, metadata] = [bytesOf(JSON.stringify(json)), bytesOf('{}')]
    store(stream, [{ id, type, contentType: 'application/json', data, metadata }])
  }

  /** Does what EventStoreDB's `IndexWriter.CheckCommit` decides: the same ids at the same place are the same append. */
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
    // A server in use writes events of its own between those of its users: statistics, and links of its projections.
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

  const isLeft = ({ stream, revision }: StoredRecord) =>
    !tombstones.has(stream) && revision >= (bounds.get(stream) ?? 0)

  async function read(call: ServerWritableStream<ReadReq, ReadResp>, node: Node): Promise<void> {
    const options = call.request.getOptions()
    if (!options) return refuse(call, status.INVALID_ARGUMENT, 'options')
    const of = options.getStream()
    const all = options.getAll()
    const isBackwards = options.getReadDirection() === 1
    if (options.hasSubscription()) return subscribe(call, options, node)
    const most = Number(options.getCount())
    if (!of) asked += most
    let found: readonly StoredRecord[]
    if (of) {
      const name = Buffer.from(of.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString('utf8')
      if (tombstones.has(name)) {
        const trailers = { 'stream-name': name }
        const sentence = `Event stream '${name}' is deleted.`
        call.emit('error', refusal(status.FAILED_PRECONDITION, sentence, 'stream-deleted', trailers))
        return
      }
      const records = byStream.get(name)?.filter(({ position }) => position <= node.upTo)
      if (!records?.some(isLeft)) {
        const identifier = new shared.StreamIdentifier().setStreamName(bytesOf(name))
        const notFound = new streams.ReadResp.StreamNotFound().setStreamIdentifier(identifier)
        call.write(new streams.ReadResp().setStreamNotFound(notFound))
        call.end()
        return
      }
      const from = of.hasEnd() ? records.length - 1 : of.hasStart() ? 0 : Number(of.getRevision())
      found = isBackwards
        ? records.slice(Math.max(0, from + 1 - most), from + 1).toReversed()
        : records.slice(Math.max(from, bounds.get(name) ?? 0)).slice(0, most)
      found = found.filter(isLeft)
    } else {
      const from = all?.getPosition()
      const at = from ? Number(from.getCommitPosition()) : all?.hasEnd() ? Infinity : 0
      const isThere = (record: StoredRecord) => record.position <= node.upTo && !scavenged.has(record)
      const first = indexAt(log, at)
      // A read begins at its position, and a subscription after it.
      found = isBackwards
        ? taken(log, { from: from ? Math.min(first, log.length - 1) : first - 1, step: -1, most, isThere })
        : taken(log, { from: first, step: 1, most, isThere })
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
    node: Node,
  ): Promise<void> {
    const { isPassed, window } = filterOf(asked)
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
      let looked = 0
      while (!ended.signal.aborted) {
        const record = log[next]
        if (!record || record.position > node.upTo) {
          if (!hasCaughtUp && !options.isOlderThan23_10)
            call.write(new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp()))
          hasCaughtUp = true
          await once(bell, 'appended', { signal: ended.signal })
          continue
        }
        next += 1
        after = record.position
        if (scavenged.has(record)) continue
        if (!isPassed(record)) {
          looked += 1
          if (looked % window === 0) call.write(checkpointAt(after))
          continue
        }
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
      if (exhausted !== null) {
        const sentence = exhausted
        exhausted = null
        return answer(refusal(status.RESOURCE_EXHAUSTED, sentence), null)
      }
      if (bytes > largestAppendBytes) {
        const trailers = { 'maximum-append-size': String(largestAppendBytes) }
        const sentence = `Maximum Append Size of ${largestAppendBytes} Exceeded.`
        return answer(
          refusal(status.INVALID_ARGUMENT, sentence, 'maximum-append-size-exceeded', trailers),
          null,
        )
      }
      const outcome = append(stream, expected, events)
      appendsLeft -= 1
      if (appendsLeft === 0) {
        isSilent = true
        bell.emit('silent')
        return
      }
      const lost = lostAnswer
      if ('stored' in outcome && lost !== null) {
        lostAnswer = null
        if (lost === 'a broken connection') answer(refusal(status.UNAVAILABLE, 'the connection broke'), null)
        return
      }
      return answer(null, 'stored' in outcome ? success(outcome.stored) : conflict(outcome.actual, expected))
    })
  }

  /** Passes a call to its handler only while the server answers, and only if the caller is allowed. */
  function atTheDoor<Call extends { metadata: Metadata; emit(event: 'error', fault: unknown): boolean }>(
    call: Call,
    { node, name }: { readonly node: Node; readonly name: string },
    enter: () => void,
  ): void {
    if (isSilent) {
      bell.emit('unanswered')
      return
    }
    if (!node.isLeader && call.metadata.get('requires-leader')[0] === 'true') {
      const trailers = { 'leader-endpoint-host': '127.0.0.1', 'leader-endpoint-port': String(leader.port) }
      call.emit('error', refusal(status.NOT_FOUND, 'Leader info available', 'not-leader', trailers))
      return
    }
    node.served.set(name, (node.served.get(name) ?? 0) + 1)
    const { secured } = options
    const given = String(call.metadata.get('authorization')[0] ?? '')
    const wanted = secured
      ? `Basic ${Buffer.from(`${secured.user}:${secured.password}`).toString('base64')}`
      : given
    if (given === wanted) return enter()
    call.emit('error', refusal(status.PERMISSION_DENIED, 'Access Denied', 'access-denied'))
  }

  async function listen(node: Node): Promise<void> {
    const started = new Server()
    started.addService(StreamsService, {
      read: (call: ServerWritableStream<ReadReq, ReadResp>) =>
        atTheDoor(call, { node, name: callOf(call.request) }, () => {
          read(call, node).catch((fault: unknown) => refuse(call, status.UNKNOWN, String(fault)))
        }),
      append: (call: ServerReadableStream<AppendReq, AppendResp>, answer: sendUnaryData<AppendResp>) =>
        atTheDoor(call, { node, name: 'append' }, () => takeAppend(call, answer)),
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
      read: (_: unknown, answer: sendUnaryData<unknown>) => answer(null, members(nodes)),
    })
    node.port = await new Promise<number>((resolve, reject) => {
      started.bindAsync(`127.0.0.1:${node.port}`, credentialsOf(options), (fault, bound) =>
        fault ? reject(fault) : resolve(bound),
      )
    })
    node.server = started
  }

  storeJson('$users', '$UserCreated')
  storeJson('$settings', '$settings')
  function truncate(stream: string, before: number): void {
    bounds.set(stream, before)
    storeJson(`$$${stream}`, '$metadata', { $tb: before })
  }

  await listen(leader)
  return {
    get port() {
      return leader.port
    },
    kill() {
      for (const node of nodes) {
        node.server?.forceShutdown()
        node.server = null
      }
    },
    async restart() {
      for (const node of nodes) await listen(node)
    },
    copy: () => [...log],
    putBack(copy) {
      log.splice(0, log.length, ...copy)
      byStream.clear()
      for (const record of copy) byStream.set(record.stream, [...(byStream.get(record.stream) ?? []), record])
      bounds.clear()
      tombstones.clear()
      scavenged.clear()
    },
    async follow() {
      const node: Node = { isLeader: false, served: new Map(), port: 0, server: null, upTo: Infinity }
      await listen(node)
      nodes.push(node)
      return {
        served: node.served,
        holdBack() {
          node.upTo = log.at(-1)?.position ?? 0
        },
      }
    },
    served: leader.served,
    truncate,
    delete(stream, how) {
      if (how === 'tombstone') tombstones.add(stream)
      else truncate(stream, Number.MAX_SAFE_INTEGER)
    },
    scavenge() {
      for (const record of log) if (!isLeft(record)) scavenged.add(record)
    },
    loseNextAnswer(how) {
      lostAnswer = how
    },
    exhaust(sentence) {
      exhausted = sentence
    },
    fallSilent() {
      isSilent = true
    },
    answerAgain() {
      isSilent = false
    },
    async unanswered() {
      await once(bell, 'unanswered')
    },
    async silentAfter(appends) {
      appendsLeft = appends
      await once(bell, 'silent')
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
    get asked() {
      return asked
    },
    get batchAppends() {
      return batchAppends
    },
    get events() {
      return log.filter(({ stream }) => !stream.startsWith('$')).length
    },
  }
}

/** The index of the first record that is not before `position`; the log's length if there is none. */
function indexAt(log: readonly StoredRecord[], position: number): number {
  let [low, high] = [0, log.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((log[middle]?.position ?? Infinity) < position) low = middle + 1
    else high = middle
  }
  return low
}

interface Taking {
  readonly from: number
  readonly step: 1 | -1
  readonly most: number
  readonly isThere: (record: StoredRecord) => boolean
}

/** Takes the records one after the other: a read must not cost more in a longer log. */
function taken(log: readonly StoredRecord[], { from, step, most, isThere }: Taking): StoredRecord[] {
  const records: StoredRecord[] = []
  for (let index = from; records.length < most; index += step) {
    const record = log[index]
    if (record === undefined) return records
    if (isThere(record)) records.push(record)
  }
  return records
}

function credentialsOf({ secured }: EventStoreDbOptions): ServerCredentials {
  if (!secured) return ServerCredentials.createInsecure()
  const [key, certificate] = [readFileSync(secured.keyFile), readFileSync(secured.certificateFile)]
  return ServerCredentials.createSsl(null, [{ private_key: key, cert_chain: certificate }])
}

/** Resolves when there is room again, or when nobody reads any more. */
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

/** In lower case, as servers write them: the library treats other spellings as missing. */
function supported() {
  const methods = ['read', 'append', 'batchappend'].map((name) =>
    new features.SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name),
  )
  return new features.SupportedMethods().setEventStoreServerVersion('24.10.0').setMethodsList(methods)
}

function members(nodes: readonly Node[]) {
  const { LEADER, FOLLOWER } = gossip.MemberInfo.VNodeState
  const list = nodes.map(({ isLeader, port }, index) =>
    new gossip.MemberInfo()
      .setInstanceId(new shared.UUID().setString(`00000000-0000-4000-8000-00000000000${index}`))
      .setState(isLeader ? LEADER : FOLLOWER)
      .setIsAlive(true)
      .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(port)),
  )
  return new gossip.ClusterInfo().setMembersList(list)
}

function callOf(request: ReadReq): string {
  const options = request.getOptions()
  if (options?.hasSubscription()) return 'subscribe'
  return options?.hasStream() ? 'readStream' : 'readAll'
}

function checkpointAt(position: number): ReadResp {
  const checkpoint = new streams.ReadResp.Checkpoint()
    .setCommitPosition(String(position))
    .setPreparePosition(String(position))
  return new streams.ReadResp().setCheckpoint(checkpoint)
}

/** Which events a subscription receives, and after how many other events it is told how far the server has read. */
function filterOf(asked: ReadReq.Options): { isPassed(record: StoredRecord): boolean; window: number } {
  const filter = asked.getFilter()
  const ofStream = filter?.getStreamIdentifier()
  const expression = ofStream ?? filter?.getEventType()
  const prefixes = expression?.getPrefixList() ?? []
  const regex = new RegExp(expression?.getRegex() || '^')
  return {
    isPassed({ stream, type }) {
      const name = ofStream ? stream : type
      return prefixes.length > 0 ? prefixes.some((prefix) => name.startsWith(prefix)) : regex.test(name)
    },
    window: (filter?.getMax() || readBatch) * (filter?.getCheckpointintervalmultiplier() || 1),
  }
}
/** How many records a server reads at a time for a subscription. */
const readBatch = 32
