/** Tasks that were made of issues: which issue, and whether it leads to the task by now. */
import { sortKey } from '../kernel/event.ts'
import { parseTask } from './chat.ts'
import type { View, ViewDocument } from './view.ts'

export interface IssueLinkDocument extends ViewDocument {
  readonly comment: 'due' | 'written' | 'failed'
  /** `null` here and below where the content was erased. */
  readonly repositoryId: string | null
  readonly number: number | null
  readonly order: string
}

const types = ['TaskCreatedFromIssue', 'IssueCommented', 'IssueCommentFailed', 'TaskDeleted'] as const

export const issueLinksView: View<IssueLinkDocument> = {
  collection: 'issueLinks',
  version: 1,
  streams: ['task'],
  types,
  indexes: [['comment', 'order']],
  touches: ({ type, stream }) => (types.some((one) => one === type) ? [parseTask(stream)] : []),
  evolve: (document, event, id) => {
    if (event.type === 'TaskDeleted') return undefined
    if (event.type === 'TaskCreatedFromIssue') {
      const { content, position, revision: version } = event
      const { repositoryId = null, number = null } = content ?? {}
      return { id, comment: 'due', repositoryId, number, order: sortKey(position), position, version }
    }
    if (document === undefined) return undefined
    const comment = event.type === 'IssueCommented' ? 'written' : 'failed'
    return { ...document, comment, version: event.revision }
  },
}
