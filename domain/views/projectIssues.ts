/** Projects whose issues become tasks, or that have unsettled issues from when they did: an index that finds these among all projects. */
import { sortKey } from '../kernel/event.ts'
import { ownDocument, type View, type ViewDocument } from './view.ts'

export interface ProjectIssuesDocument extends ViewDocument {
  readonly on: boolean
  /** The ids of tasks for issues that were accepted and are not settled, whether or not the tasks were created yet. */
  readonly waiting: readonly string[]
  /** Whether there is something to read or to settle in the project. */
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
