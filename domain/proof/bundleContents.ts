/**
 * Compares the content of events, and their blobs, with the signed manifest, so that nobody can remove content or a blob and claim that it was
 * erased.
 */
import type { BundledContent, Envelope, Manifest, UnopenedRun, ListedBlob } from './auditBundle.schema.ts'
import { withheldAs } from './auditBundle.ts'
import type { BundledEvent, BundleFault } from './bundleParts.ts'

/** Collects, while a bundle is written, the events whose content could not be opened. Expects the events stream by stream, in order. */
export function unopenedRuns(): {
  readonly add: (event: Envelope, content: BundledContent) => void
  readonly runs: () => UnopenedRun[]
} {
  const runs: UnopenedRun[] = []
  let open: UnopenedRun | undefined
  return {
    add({ stream, revision }, { kind }) {
      if (kind === 'none' || kind === 'withheld') return
      if (kind === 'disclosed') open = undefined
      else if (open?.stream === stream && open.kind === kind) open.last = revision
      else runs.push((open = { stream, first: revision, last: revision, kind }))
    },
    runs: () => runs,
  }
}

/** A fault for each event whose content contradicts the manifest or was changed in the log. */
export function contentFaults(
  streams: ReadonlyMap<string, readonly BundledEvent[]>,
  { withheld, unopened }: Manifest['predicate'],
): readonly BundleFault[] {
  return [...streams.values()].flat().flatMap(({ event, content }) => {
    const why = event.meta.content === null ? undefined : whyNot(event, content, withheld, unopened)
    return why === undefined
      ? []
      : [{ kind: 'changed' as const, where: `${event.stream}@${event.revision}`, why }]
  })
}

const states = {
  erased: 'was erased',
  missing_key: 'has no key on the server',
  changed: 'was changed in the log',
} as const satisfies Record<UnopenedRun['kind'], string>

function whyNot(
  { type, stream, revision }: Envelope,
  content: BundledContent,
  withheld: Manifest['predicate']['withheld'],
  unopened: readonly UnopenedRun[],
): string | undefined {
  const category = withheldAs(type, withheld)
  if (category !== undefined) {
    // A withheld text may be disclosed later. Another check compares the disclosed text with its commitment.
    const isAsSaid =
      content.kind === 'disclosed' || (content.kind === 'withheld' && content.category === category)
    return isAsSaid ? undefined : `The manifest says that its content is withheld with the ${category}.`
  }
  const run = unopened.find(
    (each) => each.stream === stream && each.first <= revision && revision <= each.last,
  )
  if (content.kind !== (run?.kind ?? 'disclosed'))
    return run === undefined
      ? 'Its content was left out: the manifest says that it is in the bundle.'
      : `The manifest says that its content ${states[run.kind]}.`
  return run?.kind === 'changed' ? 'The server found that its content was changed in the log.' : undefined
}

/** The hashes of the blobs to which an event refers. A reference is an object anywhere in `data` with exactly the members `hash` and `size`. */
export function blobsIn({ data }: Pick<Envelope, 'data'>): readonly string[] {
  const found: string[] = []
  // The search is not recursive, since untrusted input may be nested to any depth.
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

/** A fault for each blob that is missing from the events or from the manifest's list, is listed twice, or was found changed by the server. */
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
