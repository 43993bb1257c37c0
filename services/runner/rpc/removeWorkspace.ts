/** Removes the workspace of a task whose pull request is over. */
import { lstat } from 'node:fs/promises'
import { taskStream } from '#domain/kernel/streams.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import type { Answered, Asked } from '#platform/ports/rpc.ts'
import type { RecordingDeps, WorkspaceDeps } from '../deps.ts'
import { treeGitFor } from '../execution/restore.ts'
import type { Prewarm } from '../prewarm/prewarm.ts'
import { isFullyPushed, workspaceAt } from '../workspace/eviction.ts'
import { isTaskFolderName } from '../workspace/names.ts'
import { saveWork } from '../workspace/saved/bundle.ts'
import { removeWorkspace, taskFolder, type Workspace } from '../workspace/workspace.ts'

export type RemovalDeps = Pick<WorkspaceDeps, 'root' | 'path' | 'git' | 'sandbox' | 'locks'> &
  Pick<RecordingDeps, 'commands' | 'runnerId'> & {
    readonly prewarm: { readonly agents: Pick<Prewarm['agents'], 'drop'> }
  }

type Removal = Answered<'removeWorkspace'>

/** Leaves the question to others unless this is the runner that is asked. */
export async function removeOwnWorkspace(
  deps: RemovalDeps,
  { taskId, runnerId }: Asked<'removeWorkspace'>,
): Promise<Removal | undefined> {
  const { root, path, locks, commands, prewarm } = deps
  if (runnerId !== deps.runnerId || !isTaskFolderName(taskId)) return undefined
  const removed = await locks.holdIfFree(taskId, async (): Promise<Removal> => {
    // Read under the lock: a run that begins from now on waits for it, and makes its workspace anew.
    const { state } = await commands.load(decider, taskStream(taskId))
    if (state.kind !== 'task' || 'execution' in state.phase || state.pullRequestRequest !== null)
      return left('in_use')
    const folder = await lstat(taskFolder(root, taskId)).catch(() => undefined)
    if (!folder) return left('none')
    await prewarm.agents.drop(taskId)
    const workspace = await workspaceAt(deps, taskId)
    const work = workspace && (await whereItsWorkIs(deps, workspace, state))
    if (work === 'here') return left('not_saved')
    await removeWorkspace(root, taskId, path)
    return { outcome: 'removed', startsAnew: work === 'merged' }
  })
  return removed ?? left('in_use')
}

const left = (outcome: Exclude<Removal['outcome'], 'removed'>): Removal => ({ outcome, startsAnew: false })

/**
 * Where all of its work is: merged, in what was saved last, or only here. A branch that was pushed and not merged is no place for it: it goes in
 * the same clean-up. Ignored files can be made again.
 */
async function whereItsWorkIs(
  deps: RemovalDeps,
  workspace: Workspace,
  { saved, pullRequest }: LiveTask,
): Promise<'merged' | 'saved' | 'here'> {
  const { git } = deps
  const isMerged = pullRequest?.observed?.state === 'merged'
  if (isMerged && (await isFullyPushed({ git, treeGitFor: (of) => treeGitFor(deps, of) }, workspace)))
    return 'merged'
  if (saved === null) return 'here'
  const treeGit = treeGitFor(deps, workspace)
  const now = await saveWork({ git, treeGit, workspace, last: saved.work })
  return now.kind === 'unchanged' ? 'saved' : 'here'
}
