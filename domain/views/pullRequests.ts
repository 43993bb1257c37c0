/** The pull requests of tasks: one document per task, with which the server follows the pull request at the code host. */
import { sortKey } from '../kernel/event.ts'
import type { PullRequestStanding } from '../task/commands.ts'
import type { PullRequestState } from '../task/events.ts'
import { ownDocument, type AnyRecorded, type View, type ViewDocument } from './view.ts'

export interface PullRequestDocument extends ViewDocument {
  readonly number: number
  /** The code host's ids of pull request and repository; `null` before the first report of the code host. */
  readonly nodeId: string | null
  readonly repositoryId: string | null
  /** The newest commit of the pull request's branch, as last published or reported. */
  readonly headCommit: string | null
  readonly state: PullRequestState
  /** The last known result of the reviews and checks, and the commit to which it applies; missing before the first result. */
  readonly standing?: PullRequestStanding & { readonly headCommit: string | null }
  /** Whether the pull request can still change. After a merge it cannot. */
  readonly isFollowed: boolean
  readonly at: string
  /** The position at which the pull request was opened, as a text by which documents are sorted. */
  readonly order: string
}

const types = [
  'PullRequestOpened',
  'PullRequestUpdated',
  'PullRequestObserved',
  'PullRequestUnreadable',
  'PullRequestStandingObserved',
  'TaskDeleted',
] as const

export const pullRequestsView: View<PullRequestDocument> = {
  collection: 'pullRequests',
  version: 2,
  streams: ['task'],
  types,
  indexes: [
    ['isFollowed', 'order'],
    ['repositoryId', 'number', 'order'],
    ['repositoryId', 'headCommit', 'order'],
  ],
  touches: ownDocument('task', types),
  evolve: (document, event, id) => {
    switch (event.type) {
      case 'PullRequestOpened':
      case 'PullRequestUpdated':
        return published(document, event, id)
      case 'PullRequestObserved':
        return document && observed(document, event)
      case 'PullRequestUnreadable':
        return document && { ...document, at: event.at, version: event.revision }
      case 'PullRequestStandingObserved':
        return (
          document && {
            ...document,
            standing: { ...event.data, headCommit: event.content?.headCommit ?? null },
            version: event.revision,
          }
        )
      case 'TaskDeleted':
        return undefined
      default:
        return document
    }
  },
}

type Event<Type extends AnyRecorded['type']> = Extract<AnyRecorded, { type: Type }>

function published(
  before: PullRequestDocument | undefined,
  { content, at, position, revision }: Event<'PullRequestOpened' | 'PullRequestUpdated'>,
  id: string,
): PullRequestDocument | undefined {
  const seen = { at, version: revision }
  if (content === null) return before && { ...before, ...seen }
  const { number, headCommit } = content
  if (before?.number === number) return { ...before, headCommit, ...seen }
  const opened = { id, number, nodeId: null, repositoryId: null, headCommit, position } as const
  return { ...opened, ...seen, state: 'open', isFollowed: true, order: sortKey(position) }
}

function observed(
  document: PullRequestDocument,
  { data: { state }, content, at, revision }: Event<'PullRequestObserved'>,
): PullRequestDocument {
  const { nodeId, repositoryId, headCommit } = content ?? document
  return {
    ...document,
    nodeId,
    repositoryId,
    headCommit,
    state,
    isFollowed: state !== 'merged',
    at,
    version: revision,
  }
}
