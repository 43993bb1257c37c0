/** Checks the events of a bundle, but not its proofs: the events' hashes, the links between events, and the agreement of the task's two streams. */
import type { BundledContent, BundleHeader, Envelope } from './auditBundle.schema.ts'
import { envelopeHash, hexOf, type Cryptography } from './bundleHashes.ts'
import type { BundledEvent, BundleFault } from './bundleParts.ts'

/** The faults within one stream: wrong hashes, wrong content, and events that are missing, moved or added. */
export function chainFaults(
  stream: string,
  events: readonly BundledEvent[],
  cryptography: Cryptography,
): readonly BundleFault[] {
  const faults: BundleFault[] = []
  const present = new Set(events.map(({ event }) => event.revision))
  let next = 0
  let before: Envelope | undefined
  for (const { event, content } of events) {
    const { revision, meta } = event
    const where = `${stream}@${revision}`
    if (hashOf(event, cryptography) !== meta.hash)
      faults.push({ kind: 'changed', where, why: 'The event does not have the hash that was recorded.' })
    const why = contentFault(event, content, cryptography)
    if (why !== undefined) faults.push({ kind: 'changed', where, why })
    if (revision > next) {
      const kind = present.has(next) ? 'moved' : 'removed'
      faults.push({ kind, where: `${stream}@${next}`, why: `Event ${revision} stands in its place.` })
    } else if (revision < next) {
      faults.push({ kind: 'added', where, why: 'There is another event of this revision before it.' })
    } else if (meta.prev !== (before?.meta.hash ?? '')) {
      const at = before === undefined ? where : `${stream}@${before.revision}`
      faults.push({ kind: 'changed', where: at, why: 'The event after it follows another one.' })
    }
    if (revision >= next) {
      next = revision + 1
      before = event
    }
  }
  return faults
}

/** The hash of an event; `undefined` when the event's data is nested too deeply or has a number that is not finite, such as `1e999`. */
function hashOf(event: Envelope, cryptography: Cryptography): string | undefined {
  try {
    return envelopeHash(cryptography, event)
  } catch {
    return undefined
  }
}

function contentFault(
  event: Envelope,
  content: BundledContent,
  { sha256, utf8 }: Cryptography,
): string | undefined {
  const recorded = event.meta.content
  if (content.kind === 'none')
    return recorded === null ? undefined : 'It had content, which is not accounted for.'
  if (recorded === null) return 'It had no content.'
  if (content.kind !== 'disclosed') return undefined
  return hexOf(sha256(utf8(content.text))) === recorded.commitment
    ? undefined
    : 'Its content is not what was recorded.'
}

/** Finds inconsistencies between the two streams of a task. */
export function orderFaults(
  { taskId }: BundleHeader,
  streams: ReadonlyMap<string, readonly BundledEvent[]>,
): readonly BundleFault[] {
  const faults: BundleFault[] = []
  const task = streams.get(`task-${taskId}`) ?? []
  const terminal = streams.get(`terminal-${taskId}`) ?? []
  const hashes = new Map(terminal.map(({ event }) => [event.revision, event.meta.hash]))
  let latest = 0
  for (const { event } of terminal) {
    const { follows } = event.meta
    const where = `${event.stream}@${event.revision}`
    if (follows === null || follows < latest || follows >= task.length)
      faults.push({ kind: 'moved', where, why: 'It does not follow the event of the task that it names.' })
    latest = Math.max(latest, follows ?? 0)
  }
  for (const { event } of task) {
    const anchor = terminalAnchor(event.data)
    if (anchor === undefined) continue
    const named = hashes.get(anchor.revision)
    if (named === anchor.hash) continue
    const why = `It is not the event that ${event.stream}@${event.revision} names.`
    faults.push({
      kind: named === undefined ? 'removed' : 'changed',
      where: `terminal-${taskId}@${anchor.revision}`,
      why,
    })
  }
  return faults
}

function terminalAnchor(data: unknown): { revision: number; hash: string } | undefined {
  if (typeof data !== 'object' || data === null || !('terminal' in data)) return undefined
  const { terminal } = data
  if (typeof terminal !== 'object' || terminal === null) return undefined
  if (!('revision' in terminal) || !('hash' in terminal)) return undefined
  const { revision, hash } = terminal
  return typeof revision === 'number' && typeof hash === 'string' ? { revision, hash } : undefined
}
