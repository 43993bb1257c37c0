/** The moments that the replay's time slider marks. */
import type { TimelineSection } from './timeline.ts'

export interface Marker {
  readonly kind: 'turn' | 'failure' | 'commit' | 'pull_request'
  /** The revision, in the task's stream, of the event at this moment. */
  readonly revision: number
  readonly label: string
}

/** The markers for the beginnings of turns and commands, for failures, commits and pull requests, in the order of the sections. */
export function markersOf(sections: readonly TimelineSection[]): readonly Marker[] {
  return sections.flatMap((section): readonly Marker[] => {
    const { number, kind, revision, rows } = section
    const begin: Marker = {
      kind: 'turn',
      revision,
      label: `${kind === 'turn' ? 'Turn' : 'Command'} ${number}`,
    }
    const marked = rows.flatMap((row): readonly Marker[] => {
      const label = row.sentence
      if (row.outcome === 'failed') return [{ kind: 'failure', revision: row.until, label }]
      if (row.kind === 'commit') return [{ kind: 'commit', revision: row.revision, label }]
      const isOpened = row.kind === 'pull_request' && row.outcome === 'completed'
      return isOpened ? [{ kind: 'pull_request', revision: row.revision, label }] : []
    })
    return [begin, ...marked]
  })
}
