/** Finds the pull requests to read: those that a hint names, those that people with open clients may look at, and all that may still change. */
import { taskStream } from '#domain/kernel/streams.ts'
import { projectsView } from '#domain/views/projects.ts'
import { pullRequestsView, type PullRequestDocument } from '#domain/views/pullRequests.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import type { Engines } from '#platform/compose.ts'
import type { PullRequestKey } from '#platform/ports/codeHost.ts'
import type { Find } from '#platform/ports/readStore.ts'
import { newest, oldest, pagesOf } from '#platform/reads/documentPages.ts'
import type { TokenFor } from '../access.ts'
import type { ReadRequest } from './readQueue.ts'

export interface RequestDeps extends Pick<Engines, 'documents' | 'clock'> {
  readonly tokenFor: TokenFor
}

const page = 200
/** For a person who has the client open, the pull requests of this many newest tasks are read: as many as lists show. */
const newestTasks = 50
/** The most tasks with the same pull request that are read: several people may each have one. */
const tasksOfOne = 20
/** How long after its last change a closed pull request is polled, in case it is reopened. Later, only webhooks and open clients cause readings. */
const closedFollowedMs = 14 * 24 * 3_600_000

/** The requests for a pull request that a hint names: one for each task that has this pull request. */
export async function hinted(
  deps: RequestDeps,
  repositoryId: string,
  number: number,
): Promise<readonly ReadRequest[]> {
  const found = await oldest(deps.documents, pullRequestsView, { repositoryId, number }, tasksOfOne)
  return requestsOf(deps, found)
}

/** Requests for the followed pull requests whose head is this commit. A check may name only the commit. */
export async function ofCommit(
  deps: RequestDeps,
  repositoryId: string,
  headCommit: string,
): Promise<readonly ReadRequest[]> {
  const found = await newest(deps.documents, pullRequestsView, { repositoryId, headCommit }, tasksOfOne)
  return requestsOf(
    deps,
    found.filter(({ isFollowed }) => isFollowed),
  )
}

/** The pull request of one task, even if the read models do not have it yet. */
export async function ofTask(deps: RequestDeps, taskId: string): Promise<readonly ReadRequest[]> {
  const found = await deps.documents.now(pullRequestsView, taskStream(taskId), taskId)
  return found ? requestsOf(deps, [found]) : []
}

/** The pull requests of a person's newest tasks, and of the tasks that people have open. */
export async function lookedAt(
  deps: RequestDeps,
  { owner, taskIds }: { readonly owner: string | null; readonly taskIds: readonly string[] },
): Promise<readonly ReadRequest[]> {
  const latest = owner === null ? [] : await newest(deps.documents, tasksView, { owner }, newestTasks)
  const ids = new Set([...latest.filter(({ prNumber }) => prNumber !== null).map(({ id }) => id), ...taskIds])
  const found = await deps.documents.getMany(pullRequestsView, [...ids])
  return requestsOf(
    deps,
    [...found.values()].filter(({ isFollowed }) => isFollowed),
  )
}

/**
 * Queues all pull requests that may still change, one page at a time, until `queue` returns `false`. Begins after the place `from`. Returns the place
 * from which to go on; `undefined` when all were queued.
 */
export async function queueFollowed(
  deps: RequestDeps,
  from: Find['after'],
  queue: (found: readonly ReadRequest[]) => boolean,
): Promise<Find['after']> {
  let after = from
  const where = { isFollowed: true }
  for await (const found of pagesOf(deps.documents, pullRequestsView, { where, limit: page, after: from })) {
    const closedBefore = deps.clock.now().getTime() - closedFollowedMs
    const open = found.filter(({ state, at }) => state === 'open' || Date.parse(at) > closedBefore)
    if (!queue(await requestsOf(deps, open))) return after
    const last = found.at(-1)
    after = last && { value: last.order, id: last.id }
  }
  return undefined
}

async function requestsOf(
  { documents, tokenFor }: RequestDeps,
  found: readonly PullRequestDocument[],
): Promise<readonly ReadRequest[]> {
  if (found.length === 0) return []
  const tasks = await tasksOf(documents, found)
  // The projects name the repositories. A pull request is read by repository and number until its `nodeId` is known, and then by `nodeId`, which
  // outlives a rename.
  const projects = await documents.getMany(projectsView, [
    ...new Set([...tasks.values()].map(({ projectId }) => projectId)),
  ])
  const requests = found.map(async (pull): Promise<readonly ReadRequest[]> => {
    const task = tasks.get(pull.id)
    const project = task && projects.get(task.projectId)
    if (!task) return []
    const name = project && { owner: project.githubOwner, name: project.githubRepoName }
    const key: PullRequestKey | undefined =
      pull.nodeId !== null ? { nodeId: pull.nodeId } : name && { repository: name, number: pull.number }
    if (key === undefined) return []
    const access = await tokenFor({
      ownerId: task.owner,
      repositoryId: pull.repositoryId ?? (project?.githubRepoId || null),
      repositoryOwner: project?.githubOwner ?? null,
    })
    const repository = pull.repositoryId ?? task.projectId
    return [{ taskId: pull.id, number: pull.number, key, access, repository }]
  })
  return (await Promise.all(requests)).flat()
}

/** The documents of the pull requests' tasks, by task id. Tasks that the read models do not have yet are read from the log. */
async function tasksOf(
  documents: RequestDeps['documents'],
  found: readonly PullRequestDocument[],
): Promise<ReadonlyMap<string, TaskDocument>> {
  const known = new Map(
    await documents.getMany(
      tasksView,
      found.map(({ id }) => id),
    ),
  )
  for (const { id } of found) {
    const task = known.get(id) ?? (await documents.now(tasksView, taskStream(id), id))
    if (task) known.set(id, task)
  }
  return known
}
