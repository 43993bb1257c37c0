/**
 * Deletes the branches that erased tasks pushed, before their keys and tokens are destroyed. A branch with a name of ours is deleted if it has a
 * commit or the files that the task recorded, and no open pull request. Otherwise it stays, and this is logged, as when the code host refuses or
 * cannot be reached in a few attempts.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { isOurBranch } from '#domain/kernel/names.ts'
import { retry } from '#platform/async/retry.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { RecordedOf } from '#domain/kernel/event.ts'
import { projectStream, taskStream } from '#domain/kernel/streams.ts'
import type { ProjectEvent } from '#domain/project/events.ts'
import type { TaskEvent } from '#domain/task/events.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import type { Logger } from '#platform/log.ts'
import { CodeHostFault, type CodeHost, type RepositoryName } from '#platform/ports/codeHost.ts'
import type { Jobs } from '#platform/ports/jobs.ts'

export interface BranchEngines {
  readonly log: Pick<EventLog, 'read' | 'readBackwards'>
  readonly access: Pick<HostAccess, 'tokenOf'>
  readonly codeHost: Pick<CodeHost, 'branch' | 'deleteBranch' | 'isInOpenPullRequest'>
  readonly jobs: Pick<Jobs, 'stateOf'>
  readonly logger: Logger
}

/** The branches that a task may have left at the code host, and how to recognise them. */
interface Pushed {
  readonly ownerId: string
  readonly projectId: string
  readonly branches: readonly string[]
  /** The ids of all requests to publish the task. The job of a request has the same id, and may still push. */
  readonly requestIds: readonly string[]
  /** Commits that were pushed, and trees that may have been pushed. A branch with neither has somebody else's work. */
  readonly commits: ReadonlySet<string>
  readonly trees: ReadonlySet<string>
}

/** How long one erasure waits, for all its tasks together. */
export interface Patience {
  /** The pauses between attempts while the code host is unavailable. */
  readonly pausesMs: readonly number[]
  /** How long to wait for runs to end. */
  readonly runEndTimeoutMs: number
}

// A push may take 120 s, and the runner needs a moment to notice its end.
const usualPatience: Patience = { pausesMs: [500, 2_000, 5_000], runEndTimeoutMs: 150_000 }
const pollIntervalMs = 100

/**
 * Deletes the branches of these deleted tasks, whose runs are being stopped. Never throws because of the code host, or of a task whose history cannot
 * be read.
 */
export async function deletePushedBranches(
  engines: BranchEngines,
  taskIds: Iterable<string>,
  { pausesMs, runEndTimeoutMs }: Patience = usualPatience,
): Promise<void> {
  const runsEndUntil = performance.now() + runEndTimeoutMs
  // All tasks share these pauses, since an account with hundreds of tasks must not wait for each of them.
  const pauses = pausesMs.values()
  let isAway = false
  for (const taskId of taskIds) {
    const pushed = await pushedOf(engines, taskId)
    if (!pushed) continue
    if (!(await haveEnded(engines, pushed.requestIds, runsEndUntil)))
      engines.logger.warn({ taskId }, 'a run of a deleted task does not end: what it still pushes is left')
    const repository = await repositoryOf(engines, pushed.projectId).catch((fault: unknown) => {
      if (!(fault instanceof UnreadableEvent)) throw fault
      engines.logger.warn({ err: fault, taskId }, 'what a task pushed is left: its project cannot be read')
      return undefined
    })
    // The repository's name is lost, for example because the project was erased first.
    if (!repository) continue
    for (const branch of pushed.branches) {
      const told = { taskId, projectId: pushed.projectId }
      if (isAway) {
        engines.logger.warn(told, 'the code host is not reachable: a pushed branch was left there')
        continue
      }
      try {
        const left = await retry(() => deleteBranch(engines, pushed, repository, branch), {
          isTransient: isPassing,
          pausesMs: pauses,
        })
        if (left !== undefined)
          engines.logger.info(told, `a pushed branch was left on the code host: ${left}`)
      } catch (fault) {
        if (!(fault instanceof CodeHostFault || fault instanceof Fault)) throw fault
        isAway = isPassing(fault)
        engines.logger.warn({ err: fault, ...told }, 'failed to delete a pushed branch on the code host')
      }
    }
  }
}

/**
 * Waits until nothing runs for these requests any more; a run that begins later sees the deletion and pushes nothing. Returns `false` when something
 * still runs at `until` (monotonic ms), for example because a runner was lost without a replacement.
 */
async function haveEnded(
  { jobs }: Pick<BranchEngines, 'jobs'>,
  requestIds: readonly string[],
  until: number,
): Promise<boolean> {
  for (const id of requestIds) {
    while ((await jobs.stateOf(id)) === 'leased') {
      if (performance.now() > until) return false
      await pause(pollIntervalMs)
    }
  }
  return true
}

/** Deletes a branch, or returns why it must stay. */
async function deleteBranch(
  { access, codeHost }: BranchEngines,
  { ownerId, commits, trees }: Pushed,
  repository: RepositoryName,
  branch: string,
): Promise<string | undefined> {
  const token = await access.tokenOf(ownerId)
  const found = await codeHost.branch(token, repository, branch)
  if (!found) return undefined
  if (!commits.has(found.commit) && !trees.has(found.tree)) return 'it holds what others pushed'
  if (await codeHost.isInOpenPullRequest(token, repository, branch)) return 'a pull request is open'
  await codeHost.deleteBranch(token, repository, branch)
  return undefined
}

const isPassing = (fault: unknown): boolean => fault instanceof CodeHostFault && fault.isPassing

const page = 1_000

/** Reads from the log which branches a task pushed. Returns `undefined` if it pushed nothing, cannot be read, or if its key was destroyed. */
async function pushedOf(engines: BranchEngines, taskId: string): Promise<Pushed | undefined> {
  try {
    const [created] = await engines.log.read(taskStream(taskId), 0, 1)
    return created?.content ? await pushedBy(engines, taskId) : undefined
  } catch (fault) {
    if (!(fault instanceof UnreadableEvent)) throw fault
    engines.logger.warn({ err: fault, taskId }, 'what a task pushed cannot be read, and is left')
    return undefined
  }
}

async function pushedBy({ log }: Pick<BranchEngines, 'log'>, taskId: string): Promise<Pushed | undefined> {
  let ids: Pick<Pushed, 'ownerId' | 'projectId'> | undefined
  const requestIds: string[] = []
  const branches = new Set<string>()
  const bases = new Set<string>()
  const commits = new Set<string>()
  const trees = new Set<string>()
  const note = (event: RecordedOf<TaskEvent>): void => {
    switch (event.type) {
      case 'TaskCreated':
        ids = event.data
        break
      case 'WorkspacePrepared':
        if (!event.content) break
        branches.add(event.content.workingBranch)
        bases.add(event.content.baseBranch)
        break
      case 'WorkspaceChanged':
        if (event.content?.tree) trees.add(event.content.tree)
        break
      case 'PullRequestRequested':
        requestIds.push(event.data.requestId)
        if (event.content?.tree) trees.add(event.content.tree)
        break
      case 'PullRequestOpened':
      case 'PullRequestUpdated':
        if (event.content) commits.add(event.content.headCommit)
        break
      default:
    }
  }
  for (let from = 0; ; from += page) {
    const events = await log.read(taskStream(taskId), from, page)
    for (const event of events as readonly RecordedOf<TaskEvent>[]) note(event)
    if (events.length < page) break
  }
  if (!ids || requestIds.length === 0) return undefined
  // In an empty repository, the first branch is the base branch itself, which stays.
  const ours = [...branches].filter((name) => isOurBranch(name) && !bases.has(name))
  return { ownerId: ids.ownerId, projectId: ids.projectId, branches: ours, requestIds, commits, trees }
}

/** The last known name of the project's repository. */
async function repositoryOf(
  { log }: Pick<BranchEngines, 'log'>,
  projectId: string,
): Promise<RepositoryName | undefined> {
  for (let from: number | 'end' = 'end'; ;) {
    const events: readonly AnyRecorded[] = await log.readBackwards(projectStream(projectId), from, page)
    for (const event of events as readonly RecordedOf<ProjectEvent>[]) {
      if (event.type !== 'ProjectCreated' && event.type !== 'ProjectSynced') continue
      return event.content
        ? { owner: event.content.githubOwner, name: event.content.githubRepoName }
        : undefined
    }
    const last = events.at(-1)
    if (!last || last.revision === 0) return undefined
    from = last.revision - 1
  }
}
