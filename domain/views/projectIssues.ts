/** Projects whose issues become tasks, so that they are found among all. */
import { sortKey } from '../kernel/event.ts'
import { parseStream } from '../kernel/streams.ts'
import type { View, ViewDocument } from './view.ts'

export interface ProjectIssuesDocument extends ViewDocument {
  readonly on: boolean
  readonly order: string
}

const types = ['ProjectIssueRuleChanged', 'ProjectDeleted'] as const

export const projectIssuesView: View<ProjectIssuesDocument> = {
  collection: 'projectIssues',
  version: 1,
  streams: ['project'],
  types,
  indexes: [['on', 'order']],
  touches: ({ type, stream: name }) => {
    const stream = parseStream(name)
    return stream.kind === 'project' && types.some((one) => one === type) ? [stream.id] : []
  },
  evolve: (document, event, id) => {
    if (event.type === 'ProjectDeleted') return undefined
    if (event.type !== 'ProjectIssueRuleChanged') return document
    const { position, revision: version } = event
    const before = document ?? { id, position, order: sortKey(position) }
    return { ...before, on: event.data.on, version }
  },
}
