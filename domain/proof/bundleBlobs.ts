/** The blobs that events refer to: large data stored beside the log, such as diffs, images and sessions. */
import type { Envelope, ListedBlob } from './auditBundle.schema.ts'
import type { BundledEvent, BundleFault } from './bundleParts.ts'

/** The hashes of an event's blobs: each object in its facts, at any depth, that has exactly the members `hash` and `size`. */
export function blobsIn({ data }: Pick<Envelope, 'data'>): readonly string[] {
  const found: string[] = []
  // Not recursive, since untrusted input may be nested to any depth.
  const open: unknown[] = [data]
  while (open.length > 0) {
    const each = open.pop()
    if (typeof each !== 'object' || each === null) continue
    const hash = hashOf(each)
    if (hash !== undefined) found.push(hash)
    for (const member of Object.values(each)) open.push(member)
  }
  return found
}

function hashOf(named: object): string | undefined {
  if (!('hash' in named) || !('size' in named) || Object.keys(named).length !== 2) return undefined
  return typeof named.hash === 'string' && /^[0-9a-f]{64}$/.test(named.hash) ? named.hash : undefined
}

/** Differences between the events' blobs and the manifest's list, and blobs that the server found changed. */
export function blobFaults(
  streams: ReadonlyMap<string, readonly BundledEvent[]>,
  listed: readonly ListedBlob[],
): readonly BundleFault[] {
  const faults: BundleFault[] = []
  const states = new Map(listed.map(({ hash, state }) => [hash, state]))
  const named = new Map<string, string>()
  for (const { event } of [...streams.values()].flat())
    for (const hash of blobsIn(event)) named.set(hash, `${event.stream}@${event.revision}`)
  for (const [hash, where] of named) {
    if (!states.has(hash))
      faults.push({ kind: 'removed', where, why: `The manifest does not say what became of blob ${hash}.` })
    if (states.get(hash) === 'changed')
      faults.push({ kind: 'changed', where, why: `The server found that the blob ${hash} was changed.` })
  }
  for (const hash of states.keys())
    if (!named.has(hash))
      faults.push({ kind: 'added', where: 'manifest', why: `No event names the blob ${hash}.` })
  if (states.size !== listed.length)
    faults.push({ kind: 'added', where: 'manifest', why: 'The manifest lists a blob twice.' })
  return faults
}
