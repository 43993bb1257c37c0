/** A workspace that is ready as it is: one with a warm agent, or one that was prepared before its task. */
import { setTimeout as delay } from 'node:timers/promises'
import type { TaskDocument } from '#domain/views/tasks.ts'
import { workingBranchName } from '../workspace/names.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Stopping } from './control.ts'
import type { Failed } from './failure.ts'
import type { PreparingDeps, ReadyWorkspace } from './prepareWorkspace.ts'
import { reachRepository, refreshReached, type RepositoryAccess } from './repositoryAccess.ts'

/** The mirror is refreshed beside the turn, which is stopped when the person can no longer reach the repository. */
export async function useWarm(
  deps: PreparingDeps,
  { document, stop }: { readonly document: TaskDocument; readonly stop: Stopping },
  warm: Workspace,
): Promise<ReadyWorkspace | Failed> {
  const reached = await reachRepository(deps, document)
  if (reached.kind === 'failed') return reached
  const settle = refreshBeside(deps, reached, stop)
  const { title, id, workingBranch } = document
  const workspace =
    document.workspace === 'ready'
      ? warm
      : // It was made before the task had a title.
        await deps.workspaces.renameBranch(warm, workingBranch ?? workingBranchName(title, id))
  const isNew = false
  return { ...reached, kind: 'ready', workspace, isNew, isOnPushedBranch: false, settle }
}

/** How long the fetch beside a turn waits, so that starting git does not delay the agent's first words. */
const fetchAfterMs = 250

/** Refreshes the mirror in the background. Calling the result ends that, and waits for its end. */
function refreshBeside(deps: PreparingDeps, reached: RepositoryAccess, stop: Stopping): () => Promise<void> {
  const isOver = new AbortController()
  const refresh = async () => {
    const signal = AbortSignal.any([isOver.signal, stop.signal])
    await delay(fetchAfterMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    const refreshed = await refreshReached(deps, reached, { signal })
    if (refreshed.kind === 'failed' && !isOver.signal.aborted) stop.stop('no_access', refreshed.reason)
  }
  const refreshing = refresh().catch((fault: unknown) =>
    deps.logger.warn({ err: fault }, 'failed to refresh the mirror'),
  )
  return () => {
    isOver.abort()
    return refreshing
  }
}
