/** Removes the workspace of a task whose pull request is over. */
import { unlessDamaged } from '#platform/eventlog/sealedBlobs.ts'
import { randomUUID } from 'node:crypto'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { WorkPlace } from '#domain/task/codeHost/cleanUpEvents.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import type { Answered, Asked } from '#platform/ports/rpc.ts'
import type { RecordingDeps, WorkspaceDeps } from '../deps.ts'
import type { RepositoryAccess } from '../execution/repositoryAccess.ts'
import { treeGitFor } from '../execution/restore.ts'
import type { Prewarm } from '../prewarm/prewarm.ts'
import { hasWorkAside } from '../workspace/changes/agentRefs.ts'
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
import { mayBeCut } from '../workspace/git/mirror.ts'
import { isCut, removeHalfPacks } from '../workspace/git/repositoryLayout.ts'
import { unlessMissing } from '../workspace/missing.ts'
import { isTaskFolderName } from '../workspace/names.ts'
import { prerequisitesOf, saveWork } from '../workspace/saved/bundle.ts'
import { isEvicted, removeWorkspace, taskFolder, type Workspace } from '../workspace/workspace.ts'

export type RemovalDeps = Pick<WorkspaceDeps, 'root' | 'path' | 'git' | 'sandbox' | 'locks'> &
  Pick<RecordingDeps, 'commands' | 'runnerId' | 'logger'> & {
    readonly blobs: Pick<RecordingDeps['blobs'], 'get'>
    /** How git reaches the task's repository as its owner; `undefined` where it does not. */
    readonly reach: (of: Repository) => Promise<HostPlace | undefined>
    /** Begins to bring the mirror of the task's repository up to date, and does not wait for it. Never throws. */
    readonly refreshMirror: (of: Repository) => void
    readonly prewarm: { readonly agents: Pick<Prewarm['agents'], 'drop'> }
  }

interface Repository {
  readonly owner: string
  readonly projectId: string
}
type HostPlace = Pick<RepositoryAccess['access'], 'url' | 'authorization'>
type Removal = Answered<'removeWorkspace'>

/** Leaves the question to others unless this is the runner that is asked. */
export async function removeOwnWorkspace(
  deps: RemovalDeps,
  { taskId, runnerId }: Asked<'removeWorkspace'>,
): Promise<Removal | undefined> {
  const { root, path, locks, commands, prewarm } = deps
  if (runnerId !== deps.runnerId || !isTaskFolderName(taskId)) return undefined
  const removed = await locks.holdIfFree(taskId, async (): Promise<Removal> => {
    // Read under the lock: a run that begins from now on waits for it, and recreates its workspace.
    const { state } = await commands.load(decider, taskStream(taskId))
    if (state.kind !== 'task' || 'execution' in state.phase || state.pullRequestRequest !== null)
      return { outcome: 'in_use' }
    const folder = await lstat(taskFolder(root, taskId)).catch(unlessMissing)
    if (!folder) return { outcome: 'none' }
    await prewarm.agents.drop(taskId)
    const work = await whereItsWorkIs(deps, state).catch((fault: unknown) => {
      deps.logger.warn({ err: fault, taskId }, 'failed to look at the work of a workspace that is to go')
      return fault instanceof HostNotAsked ? ('unreachable' as const) : ('here' as const)
    })
    if (work === 'here') return { outcome: 'not_saved' }
    if (work === 'unreachable') {
      // The fetch may take longer than anybody waits for a clean-up. It goes on, so that the next attempt finds what it needs.
      deps.refreshMirror(repositoryOf(state))
      return { outcome: work }
    }
    // Recorded before anything is removed, so that neither a crash nor a caller that no longer waits loses it.
    if (!(await mayBegin(deps, taskId, work))) return { outcome: 'in_use' }
    await removeWorkspace(root, taskId, path)
    return { outcome: 'removed' }
  })
  return removed ?? { outcome: 'in_use' }
}

/** Records where the work is; false where the task goes on meanwhile, or its pull request is open again. */
async function mayBegin(
  { commands }: Pick<RemovalDeps, 'commands'>,
  taskId: string,
  work: WorkPlace,
): Promise<boolean> {
  const cause = { actor: { kind: 'system', service: 'runner' }, commandId: randomUUID() } as const
  try {
    await commands.execute(decider, taskStream(taskId), { type: 'BeginCleanUp', work }, cause)
    return true
  } catch (fault) {
    if (fault instanceof Fault && (fault.code === 'task_running' || fault.code === 'pull_request_open'))
      return false
    throw fault
  }
}

const repositoryOf = ({ ownerId: owner, projectId }: LiveTask): Repository => ({ owner, projectId })
/** A part of the time that the caller waits. */
const hostWithinMs = 5_000

/**
 * Where all of its work is, or `here` if some of it is nowhere else. A branch that was pushed and not merged does not count: it goes in the same
 * clean-up. Ignored files can be made again.
 */
async function whereItsWorkIs(deps: RemovalDeps, state: LiveTask): Promise<WorkPlace | 'here'> {
  const { git, root } = deps
  const { taskId, saved, pullRequest, cleanUp } = state
  const merged = pullRequest?.observed?.state === 'merged' ? pullRequest.observed.headCommit : null
  const workspace = await workspaceAt(deps, taskId)
  if (!workspace) {
    // If a removal was interrupted, what was found before it began still holds.
    if (cleanUp.work !== null) return cleanUp.work
    // All work was pushed when it was evicted.
    const isMerged = merged !== null && merged === pullRequest?.headCommit
    return isMerged && (await isEvicted(root, taskId)) ? 'merged' : 'unknown'
  }
  if (await hasWorkAside(git, workspace)) return 'here'
  const treeGit = treeGitFor(deps, workspace)
  if (
    merged !== null &&
    (await isFullyPushed({ git, treeGitFor: () => treeGit }, workspace)) &&
    (await isMergedBy(deps, state, { workspace, mergedHead: merged }))
  )
    return 'merged'
  if (saved === null) return 'here'
  const now = await saveWork({ git, treeGit, workspace, last: saved.work })
  if (now.kind !== 'unchanged' || now.leftOut.length > 0) return 'here'
  return (await canBeRestored(deps, state, workspace)) ? 'saved' : 'here'
}

/**
 * Whether a runner that has only a new clone could restore what was saved: it is there, and the base at the code host, on which a workspace is made
 * again, leads to all commits that it began with.
 */
async function canBeRestored(
  deps: Pick<RemovalDeps, 'git' | 'blobs' | 'reach'>,
  state: LiveTask,
  { privateGitDir: gitDir, mirrorDir, baseBranch }: Workspace,
): Promise<boolean> {
  const { git, blobs } = deps
  const { saved, taskId } = state
  const bundle = saved && (await unlessDamaged(blobs.get(scopeOfStream(taskStream(taskId)), saved.bundle)))
  const began = bundle && prerequisitesOf(bundle)
  if (!began) return false
  // With a history that is cut, a later clone would no longer have those commits, as the base moves on.
  if ((await isCut(gitDir)) || (await mayBeCut(git, mirrorDir))) return false
  const host = await hostOf(deps, state)
  if (!host) return false
  const base = await headAtHost(git, host, baseBranch)
  if (base === undefined) return false
  const hadBase = (await commitOf(git, gitDir, base)) !== null
  if (!hadBase && !(await fetchWithin(git, gitDir, host, base))) return false
  const input = [...began, `^${base}`].map((line) => `${line}\n`).join('')
  return (await gitText(git, { gitDir, args: ['rev-list', '--max-count=1', '--stdin'], input })) === ''
}

/** The code host could not be asked: it is away, slow, or refuses. */
class HostNotAsked extends Error {
  override readonly name = 'HostNotAsked'
}

async function hostOf(
  { reach }: Pick<RemovalDeps, 'reach'>,
  state: LiveTask,
): Promise<HostPlace | undefined> {
  try {
    return await reach(repositoryOf(state))
  } catch (fault) {
    throw new HostNotAsked('the repository could not be reached', { cause: fault })
  }
}

/** The commit of a branch as the host has it now; `undefined` where it has no such branch. */
async function headAtHost(
  git: Git,
  { url, authorization }: HostPlace,
  branch: string,
): Promise<string | undefined> {
  const call = {
    args: ['ls-remote', '--', url, `refs/heads/${branch}`],
    secretConfig: authorizationConfig(url, authorization),
    timeoutMs: hostWithinMs,
  }
  const listed = await git(call)
  if (!endedWell(listed)) throw new HostNotAsked(lastWords(listed))
  const lines = listed.stdout.toString('utf8').split('\n')
  return lines.find((line) => line.endsWith(`\trefs/heads/${branch}`))?.slice(0, 40)
}

/** Fetches a commit into a private git directory; false where the host does not have it. No incomplete pack is left. */
async function fetchWithin(git: Git, gitDir: string, host: HostPlace, commit: string): Promise<boolean> {
  const fetched = await fetchRefs(git, { gitDir, ...host, timeoutMs: hostWithinMs }, [commit])
  if (endedWell(fetched)) return true
  await removeHalfPacks(join(gitDir, 'objects'))
  if (/not our ref|unadvertised object/.test(fetched.stderr.toString('utf8'))) return false
  throw new HostNotAsked(lastWords(fetched))
}

/** Whether the workspace has no commit on top of the head that was merged, or of the base. */
async function isMergedBy(
  deps: Pick<RemovalDeps, 'git' | 'reach'>,
  state: LiveTask,
  { workspace, mergedHead }: { readonly workspace: Workspace; readonly mergedHead: string },
): Promise<boolean> {
  const { git } = deps
  const { privateGitDir: gitDir, baseBranch } = workspace
  if ((await commitOf(git, gitDir, mergedHead)) === null) {
    // Others pushed before the merge, mostly on top of ours; only the commit itself tells whether they did.
    const host = await hostOf(deps, state)
    if (!host || !(await fetchWithin(git, gitDir, host, mergedHead))) return false
  }
  const base = await commitOf(git, gitDir, `refs/remotes/origin/${baseBranch}`)
  const bounds = [mergedHead, ...(base === null ? [] : [base])].map((commit) => `^${commit}`)
  return (await gitText(git, { gitDir, args: ['rev-list', '--max-count=1', 'HEAD', ...bounds, '--'] })) === ''
}
