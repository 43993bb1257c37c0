/** Compares the contents that a bundle lacks with its signed manifest: nobody can remove one and claim that it was erased. */
import type { BundledContent, Envelope, Manifest, UnopenedRun } from './auditBundle.schema.ts'
import { withheldAs } from './auditBundle.ts'
import type { BundledEvent, BundleFault } from './bundleParts.ts'

/** While a bundle is written, collects the contents that were erased or could not be opened. Events come stream by stream, in order. */
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

/** Contents whose presence or state contradicts the manifest, and those that the server found changed. */
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
    // A withheld text may be disclosed later: its commitment, checked elsewhere, proves it.
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
