/**
 * Checks a stored log against its format, `docs/log-format.md`: each stream's chain, what a task's two streams say of each other, and
 * what was sealed against its commitment, and the whole of it against its seals. Without a seal, a change whose every hash was
 * computed anew goes unseen.
 */
import { z } from 'zod'
import { eventKinds } from '#domain/events.ts'
import { EventMeta } from '#domain/kernel/event.schema.ts'
import type { Position, StoredEvent } from '#domain/kernel/event.ts'
import {
  logStream,
  parseStream,
  projectStream,
  scopeOfStream,
  taskStream,
  terminalStream,
  userStream,
} from '#domain/kernel/streams.ts'
import { LogRestored } from '#domain/log.ts'
import { TerminalHead } from '#domain/task/events.ts'
import { chainFaultOf, sha256, type ChainFault, type Digests } from '#platform/eventlog/chain.ts'
import { contentContext } from '#platform/eventlog/eventLog.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import { CannotOpen } from '#platform/ports/faults.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { sealChecks, type SealEvidence, type SealFinding, type SealReport } from './seals.ts'

/** What may be wrong with an event, or with a stream. */
export type Wrong =
  | ChainFault
  | 'envelope'
  | 'unknown_kind'
  | 'facts'
  | 'content_unreadable'
  | 'commitment'
  | 'follows'
  | 'anchor'
  | 'stream_missing'
  | 'log_identity'
  | SealFinding['wrong']

const sentences: Readonly<Record<Wrong, string>> = {
  revision: 'does not come after the one before it: an event was removed, repeated or moved',
  prev: 'does not name the hash of the event before it: that one was changed or replaced',
  hash: 'is not what its hash was taken over: it was changed',
  sealed_content: 'does not have the sealed content that was recorded',
  envelope: 'does not have the form of an event',
  unknown_kind: 'is of a kind or version that this Flightdeck does not know',
  facts: 'does not have the facts of its kind',
  content_unreadable: 'has content that does not open: it was changed, or its key is missing',
  commitment: 'has content that is not the one it was committed to',
  follows: 'does not stand where it says in the order of its task: an event was removed or moved',
  anchor: 'names an event of the terminal that is not there: the terminal was cut, or changed',
  stream_missing: 'names a stream that is not there: it was removed',
  log_identity: 'is not the one beginning that a log has',
  sealed_changed: 'is not what was sealed: it was changed',
  sealed_added: 'was not there when the log was sealed: it was added',
  sealed_moved: 'does not stand where it stood when the log was sealed: it was moved',
  sealed_removed: 'was there when the log was sealed: it was removed',
  seal_cut: 'is over more events than the log has: its end was cut',
  seal_broken: 'does not fit the log: what it is over was changed',
  seal_unsigned: 'was not signed by a key of this log, or by one that an older key of it vouches for',
  seal_missing: 'was written outside, and is not in the log any more: it was removed',
}

export interface Finding {
  readonly stream: string
  /** `null` where the whole stream is meant. */
  readonly revision: number | null
  readonly wrong: Wrong
  readonly sentence: string
}

export interface Verified {
  readonly events: number
  readonly streams: number
  /** Events whose content cannot be shown any more, since its key was destroyed. */
  readonly erased: number
  readonly findings: readonly Finding[]
  /** Findings beyond those that are listed. */
  readonly more: number
  /** What the seals say; `null` when they were not looked at. */
  readonly sealing: Omit<SealReport, 'findings'> | null
}

/** Computes digests of events, in their order; a pool of threads, or this one. */
export type Digest = (events: readonly StoredEvent[]) => Promise<readonly Digests[]>

const page = 2_000
const listedAtMost = 1_000

/** Checks the whole log as it is now; what is appended meanwhile may be checked or not. `onProgress` is told after each page. */
export async function verifyLog(
  {
    eventStore,
    vault,
  }: { eventStore: Pick<EventStore, 'readAll' | 'readStream'>; vault: Pick<Vault, 'open'> },
  digest: Digest,
  onProgress: (events: number, position: Position) => void = () => undefined,
  evidence?: SealEvidence,
): Promise<Verified> {
  const checks = logChecks({ eventStore, vault })
  const seals = evidence && (await sealChecks(eventStore, evidence))
  const read = (after: Position | null) => eventStore.readAll(after, page)
  let events = await read(null)
  for (;;) {
    const last = events.at(-1)
    if (!last) break
    // The next page is read while this one is hashed.
    const [digests, next] = await Promise.all([digest(events), read(last.position)])
    for (const [index, event] of events.entries()) {
      const known = digests[index]
      if (!known) throw new Error('A digest is missing.')
      await checks.check(event, known)
      seals?.add(event)
    }
    onProgress(checks.count(), last.position)
    events = next
  }
  return checks.end(await seals?.end())
}

interface Head {
  readonly revision: number
  readonly meta: EventMeta
}

const Envelope = z.strictObject({
  id: z.uuid(),
  stream: z.string().min(1),
  revision: z.int().nonnegative(),
  position: z.string(),
  type: z.string().min(1),
  version: z.int().positive(),
  at: z.iso.datetime(),
  data: z.record(z.string(), z.unknown()),
  content: z.base64().nullable(),
  meta: EventMeta,
})
const Anchor = z.object({ terminal: TerminalHead.nullable() })
const Owners = z.object({ ownerId: z.string(), projectId: z.string().optional() })

interface LogChecks {
  readonly eventStore: Pick<EventStore, 'readStream'>
  readonly vault: Pick<Vault, 'open'>
  /** The last event of each stream. */
  readonly heads: Map<string, Head>
  readonly findings: Finding[]
  /** Findings beyond those listed. */
  more: number
  count: number
  erased: number
  epoch: number
}

function logChecks(engines: Pick<LogChecks, 'eventStore' | 'vault'>) {
  const checks: LogChecks = {
    ...engines,
    heads: new Map(),
    findings: [],
    more: 0,
    count: 0,
    erased: 0,
    epoch: 1,
  }
  return {
    check: (event: StoredEvent, digests: Digests) => check(checks, event, digests),
    count: () => checks.count,
    end(sealed: SealReport | undefined): Verified {
      if (checks.count > 0 && !checks.heads.has(logStream)) note(checks, logStream, null, 'stream_missing')
      for (const { stream, revision, wrong } of sealed?.findings ?? []) note(checks, stream, revision, wrong)
      const { count: events, heads, erased, findings, more } = checks
      const sealing = sealed ? { seals: sealed.seals, sealed: sealed.sealed, outside: sealed.outside } : null
      return { events, streams: heads.size, erased, findings, more, sealing }
    },
  }
}

function note(checks: LogChecks, stream: string, revision: number | null, wrong: Wrong): void {
  const what = revision === null ? stream : `${stream} @ ${revision}`
  if (checks.findings.length >= listedAtMost) checks.more += 1
  else checks.findings.push({ stream, revision, wrong, sentence: `${what} ${sentences[wrong]}.` })
}

async function check(checks: LogChecks, event: StoredEvent, digests: Digests): Promise<void> {
  checks.count += 1
  const { stream, revision } = event
  const wrong = await firstWrong(checks, event, digests)
  if (wrong !== undefined) note(checks, stream, revision, wrong)
  checks.heads.set(stream, { revision, meta: event.meta })
}

async function firstWrong(
  checks: LogChecks,
  event: StoredEvent,
  digests: Digests,
): Promise<Wrong | undefined> {
  if (!Envelope.safeParse(event).success) return 'envelope'
  return (
    chainFaultOf(event, checks.heads.get(event.stream) ?? null, digests) ??
    factsWrong(checks, event) ??
    (await contentWrong(checks, event)) ??
    orderWrong(checks, event) ??
    (await anchorWrong(checks, event)) ??
    referenceWrong(checks, event)
  )
}

function factsWrong(checks: LogChecks, { type, version, data, stream }: StoredEvent): Wrong | undefined {
  const kind = eventKinds.get(type)
  if (!kind || version > kind.version) return 'unknown_kind'
  if (version === kind.version && !kind.data.safeParse(data).success) return 'facts'
  // It comes before all else, and nowhere again; each restore counts one more.
  const isBeginning = checks.count === 1 && stream === logStream
  if (isBeginning !== (type === 'LogBegun') || (checks.count === 1 && !isBeginning)) return 'log_identity'
  if (type === 'LogRestored' && LogRestored.data.parse(data).epoch !== (checks.epoch += 1))
    return 'log_identity'
  return undefined
}

async function contentWrong(
  checks: LogChecks,
  { stream, id, content, meta }: StoredEvent,
): Promise<Wrong | undefined> {
  if (content === null || meta.content === null) return undefined
  try {
    const plain = await checks.vault.open(
      scopeOfStream(stream),
      contentContext(stream, id),
      Buffer.from(content, 'base64'),
    )
    if (plain === undefined) checks.erased += 1
    else if (sha256(plain) !== meta.content.commitment) return 'commitment'
    return undefined
  } catch (fault) {
    if (fault instanceof CannotOpen) return 'content_unreadable'
    throw fault
  }
}

/** A terminal's events follow events of their task, in order; nothing else follows. */
function orderWrong(checks: LogChecks, { stream, meta }: StoredEvent): Wrong | undefined {
  const name = parseStream(stream)
  if (name.kind !== 'terminal') return meta.follows === null ? undefined : 'follows'
  if (meta.follows === null) return 'follows'
  const task = checks.heads.get(taskStream(name.id))
  if (!task) return 'stream_missing'
  const before = checks.heads.get(stream)?.meta.follows ?? 0
  return meta.follows >= before && meta.follows <= task.revision ? undefined : 'follows'
}

/** The end of a turn names the last event of the terminal. */
async function anchorWrong(checks: LogChecks, { stream, data }: StoredEvent): Promise<Wrong | undefined> {
  const name = parseStream(stream)
  const anchor = name.kind === 'task' ? Anchor.safeParse(data).data?.terminal : undefined
  if (name.kind !== 'task' || !anchor) return undefined
  const terminal = terminalStream(name.id)
  const head = checks.heads.get(terminal)
  if (!head || head.revision < anchor.revision) return 'anchor'
  if (head.revision === anchor.revision) return head.meta.hash === anchor.hash ? undefined : 'anchor'
  const { revision: from } = anchor
  const [named] = await checks.eventStore.readStream(terminal, { from, direction: 'forwards', limit: 1 })
  return named?.meta.hash === anchor.hash ? undefined : 'anchor'
}

/** What is somebody's comes after them and, where it names one, after its project. */
function referenceWrong(checks: LogChecks, { type, data }: StoredEvent): Wrong | undefined {
  const owners = type === 'TaskCreated' || type === 'ProjectCreated' ? Owners.safeParse(data).data : undefined
  const named = [
    ...(owners ? [userStream(owners.ownerId)] : []),
    ...(owners?.projectId !== undefined && type === 'TaskCreated' ? [projectStream(owners.projectId)] : []),
  ]
  return named.every((stream) => checks.heads.has(stream)) ? undefined : 'stream_missing'
}
