/** Makes the audit bundle of a task, from the stored log and a seal that covers it. */
import { Fault } from '#domain/kernel/errors.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { scopeOfStream, taskStream, terminalStream } from '#domain/kernel/streams.ts'
import type { BundledContent, Envelope } from '#domain/proof/auditBundle.schema.ts'
import { contentCategories, withheldAs, type ContentCategory } from '#domain/proof/auditBundle.ts'
import { hexOf } from '#domain/proof/bundleHashes.ts'
import { writeBundle, type BundledEvent } from '#domain/proof/writeBundle.ts'
import type { Engines } from '#platform/compose.ts'
import { contentContext, unreadableSentences } from '#platform/eventlog/eventLog.ts'
import { isErased } from '#platform/eventlog/sealedBlobs.ts'
import { isDamaged, type LogRecord } from '#platform/ports/eventStore.ts'
import { CannotOpen } from '#platform/ports/faults.ts'
import { cryptography } from '#platform/seals/cryptography.ts'
import { signingKeys } from '#platform/seals/signingKeys.ts'
import { earlierSeals } from './earlierSeals.ts'
import { provenHeads, type HeadSources, type Proven } from './provenHeads.ts'

export interface AuditSources extends HeadSources, Pick<Engines, 'vault' | 'blobs'> {}

export interface AuditRequest {
  readonly taskId: string
  /** Whether the task was deleted. If so, the bundle leaves out the task's content. */
  readonly isDeleted: boolean
  readonly withheld: readonly ContentCategory[]
  /** The sizes of the log for which the reader requested proofs. The bundle has proofs for the latest seals in any case. */
  readonly sizes: readonly number[]
}

const page = 250

/**
 * The lines of the bundle, each with its newline. Before the first line, throws `not_sealed` when no seal covers the task's history, and
 * `record_damaged` when a stored event of the task is damaged.
 */
export async function taskAudit(
  sources: AuditSources,
  { taskId, isDeleted, withheld: wanted, sizes }: AuditRequest,
): Promise<AsyncGenerator<string>> {
  const { vault, logIdentity, blobs } = sources
  // The content of a deleted task can still be decrypted until its key is destroyed, so it is withheld until then.
  const isToHide = isDeleted && !(await isErased(vault, scopeOfStream(taskStream(taskId))))
  const withheld = isToHide ? contentCategories : wanted
  const proven = await provenHeads(sources, [taskStream(taskId), terminalStream(taskId)])
  const keys = await signingKeys(vault, logIdentity)
  if (keys === undefined) throw new Fault('not_sealed')
  await requireIntact(sources, proven.heads)
  const seals = await earlierSeals(sources, proven.seal, sizes)
  return inLines(
    writeBundle(
      {
        ...logIdentity,
        taskId,
        keys: keys.vkeys,
        links: keys.links,
        checkpoint: proven.notes.checkpoint,
        headsCheckpoint: proven.notes.heads,
        withheld,
        events: events(sources, proven.heads, withheld),
        proofsOf: ({ stream, revision }) => {
          const head = proven.heads.get(stream)
          return head?.revision === revision ? head.proofs : {}
        },
        stateOf: (hash, stream) => blobs.stateOf(scopeOfStream(stream), { hash }),
        seals,
        sign: keys.sign,
      },
      cryptography,
    ),
  )
}

/** Throws if a stored event is damaged. This is checked first, because a bundle that has begun can only be aborted. */
async function requireIntact(sources: AuditSources, heads: Proven['heads']): Promise<void> {
  for await (const record of records(sources, heads))
    if (isDamaged(record)) {
      const { stream, revision, damage } = record
      throw new Fault(
        'record_damaged',
        `Event ${revision} of ${stream} ${unreadableSentences[damage]}. Ask the operator of this server to repair it.`,
      )
    }
}

async function* inLines(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`
}

/** The events of the task's two streams, up to their proven last events, with their content if it can be disclosed. */
async function* events(
  sources: AuditSources,
  heads: Proven['heads'],
  withheld: readonly ContentCategory[],
): AsyncGenerator<BundledEvent> {
  for await (const event of records(sources, heads)) {
    if (isDamaged(event)) throw new Fault('record_damaged')
    yield { event: envelopeOf(event), content: await contentOf(sources, event, withheld) }
  }
}

async function* records(
  { eventStore }: Pick<AuditSources, 'eventStore'>,
  heads: Proven['heads'],
): AsyncGenerator<LogRecord> {
  for (const [stream, { revision: last }] of heads) {
    for (let from = 0; from <= last;) {
      const limit = Math.min(page, last - from + 1)
      const found = await eventStore.readStream(stream, { from, direction: 'forwards', limit })
      yield* found.filter(({ revision }) => revision <= last)
      // If the log has lost events, the bundle has a gap, which readers can see.
      from = (found.at(-1)?.revision ?? last) + 1
    }
  }
}

function envelopeOf({ position: _position, content: _content, ...envelope }: StoredEvent): Envelope {
  return envelope
}

async function contentOf(
  { vault }: AuditSources,
  { stream, id, type, content, meta }: StoredEvent,
  withheld: readonly ContentCategory[],
): Promise<BundledContent> {
  if (meta.content === null) return { kind: 'none' }
  const category = withheldAs(type, withheld)
  if (category !== undefined) return { kind: 'withheld', category }
  const sealed = Buffer.from(content ?? '', 'base64')
  if (hexOf(cryptography.sha256(sealed)) !== meta.content.sealed) return { kind: 'changed' }
  const plain = await opened(vault, stream, id, sealed)
  if (plain === 'missing_key' || plain === 'erased') return { kind: plain }
  const text = cryptography.text(plain)
  const isRecorded = hexOf(cryptography.sha256(plain)) === meta.content.commitment
  return text !== undefined && isRecorded ? { kind: 'disclosed', text } : { kind: 'changed' }
}

/** The decrypted content; `erased` when its key was destroyed, and `missing_key` when its key is missing or another one. */
async function opened(
  vault: AuditSources['vault'],
  stream: string,
  id: string,
  sealed: Uint8Array,
): Promise<Uint8Array | 'missing_key' | 'erased'> {
  try {
    return (await vault.open(scopeOfStream(stream), contentContext(stream, id), sealed)) ?? 'erased'
  } catch (fault) {
    if (fault instanceof CannotOpen) return 'missing_key'
    throw fault
  }
}
