/** Finds out where the work of a task is outside of its workspace: merged at the code host, or saved so that it can be restored. */
import { join } from 'node:path'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import type { WorkPlace } from '#domain/task/codeHost/cleanUpEvents.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { unlessDamaged } from '#platform/eventlog/sealedBlobs.ts'
import type { RecordingDeps, WorkspaceDeps } from '../deps.ts'
import type { RepositoryAccess } from '../execution/repositoryAccess.ts'
import { hasWorkAside } from '../workspace/changes/workAside.ts'
import { isFullyPushed, workspaceAt } from '../workspace/eviction.ts'
import {
  authorizationConfig,
  commitOf,
  endedWell,
  fetchRefs,
  gitText,
  lastWords,
  type Git,
} from '../workspace/git/git.ts'
import { mayBeShallow } from '../workspace/git/mirror.ts'
import { isShallowRepository, removeHalfPacks } from '../workspace/git/repositoryLayout.ts'
import { prerequisitesOf, saveWork } from '../workspace/saved/bundle.ts'
import { isEvicted, type Workspace } from '../workspace/workspace.ts'

export type WorkDeps = Pick<WorkspaceDeps, 'root' | 'git' | 'treeGitFor'> & {
  readonly blobs: Pick<RecordingDeps['blobs'], 'get'>
  /** Returns how git reaches the task's repository with the access of the task's owner; `undefined` when the project was deleted. */
  readonly reach: (of: Repository) => Promise<HostPlace | undefined>
}

export interface Repository {
  readonly owner: string
  readonly projectId: string
}
type HostPlace = Pick<RepositoryAccess['access'], 'url' | 'authorization'>

export const repositoryOf = ({ ownerId: owner, projectId }: LiveTask): Repository => ({ owner, projectId })

/** How long to wait for the code host. The caller of this runner waits longer, so that time is left for its answer. */
const hostTimeoutMs = 5_000

/**
 * Where all of the task's work is: `here` if some of it may be only in the workspace, `unknown` if the workspace is gone and nothing tells. A pushed
 * branch that is not merged is no place for it, since the same clean-up deletes the branch; ignored files do not count, since they can be made again.
 * Throws `HostDidNotAnswer`.
 */
export async function workLocationOf(deps: WorkDeps, state: LiveTask): Promise<WorkPlace | 'here'> {
  const { git, root } = deps
  const { taskId, saved, pullRequest, cleanUp } = state
  const merged = pullRequest?.observed?.state === 'merged' ? pullRequest.observed.headCommit : null
  const workspace = await workspaceAt(deps, taskId)
  if (!workspace) {
    // If an earlier removal was interrupted, the result that was recorded before it began still holds.
    if (cleanUp.work !== null) return cleanUp.work
    // A workspace is evicted only after all of its work was pushed. So the work is merged if the last pushed commit is.
    const isMerged = merged !== null && merged === pullRequest?.headCommit
    return isMerged && (await isEvicted(root, taskId)) ? 'merged' : 'unknown'
  }
  if (await hasWorkAside(git, workspace)) return 'here'
  if (
    merged !== null &&
    (await isFullyPushed(deps, workspace)) &&
    (await isMergedBy(deps, state, { workspace, mergedHead: merged }))
  )
    return 'merged'
  if (saved === null) return 'here'
  const now = await saveWork({ git, treeGit: deps.treeGitFor(workspace), workspace, last: saved.work })
  if (now.kind !== 'unchanged' || now.leftOut.length > 0) return 'here'
  return (await canBeRestored(deps, state, workspace)) ? 'saved' : 'here'
}

/**
 * Whether a runner with nothing but a new clone could restore the saved work. For that, the snapshot must exist, and the base branch at the code host
 * must contain all commits that the work began with.
 */
async function canBeRestored(
  deps: WorkDeps,
  state: LiveTask,
  { privateGitDir: gitDir, mirrorDir, baseBranch }: Workspace,
): Promise<boolean> {
  const { git, blobs } = deps
  const { saved, taskId } = state
  const bundle = saved && (await unlessDamaged(blobs.get(scopeOfStream(taskStream(taskId)), saved.bundle)))
  const began = bundle && prerequisitesOf(bundle)
  if (!began) return false
  // If the history is shallow, a later clone may lack the commits that the work began with, because the base branch moves on.
  if ((await isShallowRepository(gitDir)) || (await mayBeShallow(git, mirrorDir))) return false
  const host = await hostOf(deps, state)
  if (!host) return false
  const base = await headAtHost(git, host, baseBranch)
  if (base === undefined) return false
  const hadBase = (await commitOf(git, gitDir, base)) !== null
  if (!hadBase && !(await fetchWithin(git, gitDir, host, base))) return false
  const input = [...began, `^${base}`].map((line) => `${line}\n`).join('')
  return (await gitText(git, { gitDir, args: ['rev-list', '--max-count=1', '--stdin'], input })) === ''
}

/** Thrown when the code host could not be asked: it is unavailable or slow, it refuses, or the owner has no access. */
export class HostDidNotAnswer extends Error {
  override readonly name = 'HostDidNotAnswer'
}

async function hostOf({ reach }: WorkDeps, state: LiveTask): Promise<HostPlace | undefined> {
  try {
    return await reach(repositoryOf(state))
  } catch (fault) {
    throw new HostDidNotAnswer('the repository could not be reached', { cause: fault })
  }
}

/** The commit that the host now has at a branch; `undefined` when the branch does not exist. Throws `HostDidNotAnswer`. */
async function headAtHost(
  git: Git,
  { url, authorization }: HostPlace,
  branch: string,
): Promise<string | undefined> {
  const call = {
    args: ['ls-remote', '--', url, `refs/heads/${branch}`],
    secretConfig: authorizationConfig(url, authorization),
    timeoutMs: hostTimeoutMs,
  }
  const listed = await git(call)
  if (!endedWell(listed)) throw new HostDidNotAnswer(lastWords(listed))
  const lines = listed.stdout.toString('utf8').split('\n')
  return lines.find((line) => line.endsWith(`\trefs/heads/${branch}`))?.slice(0, 40)
}

/** Fetches a commit into a private git directory; false when the host does not have it. Leaves no incomplete pack. Throws `HostDidNotAnswer`. */
async function fetchWithin(git: Git, gitDir: string, host: HostPlace, commit: string): Promise<boolean> {
  const fetched = await fetchRefs(git, { gitDir, ...host, timeoutMs: hostTimeoutMs }, [commit])
  if (endedWell(fetched)) return true
  await removeHalfPacks(join(gitDir, 'objects'))
  if (/not our ref|unadvertised object/.test(fetched.stderr.toString('utf8'))) return false
  throw new HostDidNotAnswer(lastWords(fetched))
}

/** Whether the `HEAD` of the workspace has no commits beyond the merged head and the base. */
async function isMergedBy(
  deps: WorkDeps,
  state: LiveTask,
  { workspace, mergedHead }: { readonly workspace: Workspace; readonly mergedHead: string },
): Promise<boolean> {
  const { git } = deps
  const { privateGitDir: gitDir, baseBranch } = workspace
  if ((await commitOf(git, gitDir, mergedHead)) === null) {
    // Others may have pushed before the merge, mostly on top of our work; whether they did is known only once `mergedHead` is fetched.
    const host = await hostOf(deps, state)
    if (!host || !(await fetchWithin(git, gitDir, host, mergedHead))) return false
  }
  const base = await commitOf(git, gitDir, `refs/remotes/origin/${baseBranch}`)
  const bounds = [mergedHead, ...(base === null ? [] : [base])].map((commit) => `^${commit}`)
  return (await gitText(git, { gitDir, args: ['rev-list', '--max-count=1', 'HEAD', ...bounds, '--'] })) === ''
}
