/** Which contents a bundle lacks, and why, as its signed manifest says: nobody can hide one and call it erased. */
import type { BundledContent, Envelope, Manifest, UnopenedRun } from './auditBundle.schema.ts'
import { withheldAs } from './auditBundle.ts'
import type { BundledEvent, BundleFault } from './bundleParts.ts'

/** Collects the contents that were erased or could not be opened while a bundle is written. Events come stream by stream, in order. */
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

/** Contents that are there, or are missing, otherwise than the manifest says, and those that the server found changed. */
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
    // Whoever has a withheld text may show it later: its commitment, which is looked at elsewhere, proves it.
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
