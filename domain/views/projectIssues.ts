/** Which projects have issues that must be read: those whose rule is on, and those with accepted issues that have no outcome yet. */
import { sortKey } from '../kernel/event.ts'
import { ownDocument, type View, type ViewDocument } from './view.ts'

export interface ProjectIssuesDocument extends ViewDocument {
  readonly on: boolean
  /** The ids of the tasks for accepted issues that have no outcome yet. The tasks may not exist yet. */
  readonly waiting: readonly string[]
  /** Whether there are issues to read or outcomes to settle. */
  readonly isRead: boolean
  readonly order: string
}

const types = [
  'ProjectIssueRuleChanged',
  'ProjectIssueTaken',
  'ProjectIssueSettled',
  'ProjectDeleted',
] as const

export const projectIssuesView: View<ProjectIssuesDocument> = {
  collection: 'projectIssues',
  version: 2,
  streams: ['project'],
  types,
  indexes: [['isRead', 'order']],
  touches: ownDocument('project', types),
  evolve: (document, event, id) => {
    const { position, revision: version } = event
    const before = document ?? { id, position, order: sortKey(position), on: false, waiting: [] }
    const after = ({ on, waiting }: Pick<ProjectIssuesDocument, 'on' | 'waiting'>) => ({
      ...before,
      on,
      waiting,
      isRead: on || waiting.length > 0,
      version,
    })
    switch (event.type) {
      case 'ProjectIssueRuleChanged':
        return after({ ...before, on: event.data.on })
      case 'ProjectIssueTaken':
        return after({ ...before, waiting: [...before.waiting, event.data.taskId] })
      case 'ProjectIssueSettled':
        return after({ ...before, waiting: before.waiting.filter((one) => one !== event.data.taskId) })
      case 'ProjectDeleted':
        return undefined
      default:
        return document
    }
  },
}
