/** Which pull requests are to be read: those that a hint names, those of people who are looking, and all that may still change. */
import { taskStream } from '#domain/kernel/streams.ts'
import { projectsView } from '#domain/views/projects.ts'
import { pullRequestsView, type PullRequestDocument } from '#domain/views/pullRequests.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import type { Engines } from '#platform/compose.ts'
import type { PullRequestKey } from '#platform/ports/codeHost.ts'
import { newest, oldest, pagesOf } from '#platform/reads/pages.ts'
import type { TokenFor } from '../access.ts'
import type { ReadRequest } from './readQueue.ts'

export interface RequestDeps extends Pick<Engines, 'documents' | 'clock'> {
  readonly tokenFor: TokenFor
}

const page = 200
/** The newest tasks of a person who is looking: as many as lists show. */
const newestTasks = 50
/** How many tasks of one pull request are found: several people may have one each. */
const tasksOfOne = 20
/** How long a closed pull request is followed, in milliseconds: it may be reopened; after that time only webhooks notice. */
const closedFollowedMs = 14 * 24 * 3_600_000

/** The requests for a pull request that a hint names. */
export async function hinted(
  deps: RequestDeps,
  repositoryId: string,
  number: number,
): Promise<readonly ReadRequest[]> {
  const found = await oldest(deps.documents, pullRequestsView, { repositoryId, number }, tasksOfOne)
  return requestsOf(deps, found)
}

/** The requests for followed pull requests whose head is this commit, since a check names no pull request. */
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

/** The request for the pull request of one task, even before the read models have it. */
export async function ofTask(deps: RequestDeps, taskId: string): Promise<readonly ReadRequest[]> {
  const found = await deps.documents.now(pullRequestsView, taskStream(taskId), taskId)
  return found ? requestsOf(deps, [found]) : []
}

/** The requests for pull requests of a person's newest tasks, and of the tasks that somebody has open. */
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

/** All that may still change, a page at a time. */
export async function* allFollowed(deps: RequestDeps): AsyncGenerator<readonly ReadRequest[]> {
  const followed = pagesOf(deps.documents, pullRequestsView, { where: { isFollowed: true }, limit: page })
  for await (const found of followed) {
    const closedBefore = deps.clock.now().getTime() - closedFollowedMs
    yield await requestsOf(
      deps,
      found.filter(({ state, at }) => state === 'open' || Date.parse(at) > closedBefore),
    )
  }
}

async function requestsOf(
  { documents, tokenFor }: RequestDeps,
  found: readonly PullRequestDocument[],
): Promise<readonly ReadRequest[]> {
  if (found.length === 0) return []
  const tasks = await tasksOf(documents, found)
  // A pull request that was never read is found by its name; after that by its id, whatever happens to the name.
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

/** A task that was only just created may not be in the read models. */
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
