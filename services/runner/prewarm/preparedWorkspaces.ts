/**
 * Makes workspaces before their tasks exist. When a person has chosen a project and started a description, a workspace is made and, if possible, an
 * agent is started in it, under the id that the task will have. If no task takes the workspace within a minute of the last request, it is removed.
 */
import { isDeepStrictEqual } from 'node:util'
import type { TaskDocument } from '#domain/views/tasks.ts'
import { projectsView } from '#domain/views/projects.ts'
import { usersView } from '#domain/views/users.ts'
import type { RpcRequest } from '#platform/ports/rpc.ts'
import type { AgentDeps, WorkspaceDeps } from '../deps.ts'
import { fillAhead } from '../environment/environment.ts'
import { isEmpty, workspaceFor } from '../execution/prepareWorkspace.ts'
import { refreshMirror } from '../execution/repositoryAccess.ts'
import { ownInstructionsOf } from '../execution/runInput.ts'
import { sandboxEnvsOf } from '../execution/sandboxEnv.ts'
import {
  agentSetup,
  homeFilesFor,
  refusalIn,
  freeMode,
  openSandboxFor,
  startAgent,
  startFingerprint,
  startsPrograms,
  type EquippedRequest,
} from '../execution/turn/agentSetup.ts'
import { gitUntil } from '../workspace/git/git.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { markAhead, removeAhead, removeAllAhead, unmarkAhead } from './preparedMarker.ts'
import type { WarmAgents } from './warmAgents.ts'

export type PreparationRequest = RpcRequest<'prepare'>

export interface PreparedWorkspaces {
  /** Begins to prepare a workspace for the task, or keeps an earlier preparation for another minute. Returns `false` when it does neither. */
  prepare(request: PreparationRequest): Promise<boolean>
  /**
   * The workspace that was prepared for this task; `undefined` when there is none. A workspace that was made for another project, branch or person is
   * removed, and not returned.
   */
  adopt(task: TaskDocument): Promise<Workspace | undefined>
  /**
   * Ends a preparation early. A workspace that is still being made is removed; one that is made is kept, but no longer filled from an environment.
   */
  stop(taskId: string): void
  /** Removes all workspaces that no task has taken. */
  close(): Promise<void>
}

type Deps = WorkspaceDeps & AgentDeps & { readonly agents: WarmAgents }

interface Preparation {
  readonly request: PreparationRequest
  readonly timer: NodeJS.Timeout
  readonly stop: AbortController
  /** Resolves to `undefined` when the workspace could not be made. */
  readonly workspace: Promise<Workspace | undefined>
  /** Until the making has begun, `workspace` may wait for whoever holds the lock of a task, and nobody who holds one may wait for it. */
  hasBegun: boolean
  /** Whether it was dropped or adopted. */
  isOver: boolean
}

const unusedMs = 60_000
/**
 * The longest time that a prepared agent waits. Usually it ends earlier, together with its workspace. But repeated requests may keep the workspace
 * for very long, so the agent needs a limit of its own.
 */
const agentMs = 60 * 60_000
/** How many people may have a prepared workspace at the same time. */
const maxAtOnce = 4

/** Makes the collection of prepared workspaces, and removes those that an earlier process has left. */
export async function openPreparedWorkspaces(deps: Deps): Promise<PreparedWorkspaces> {
  const preparations = new Map<string, Preparation>()
  await removeAllAhead(deps)

  function end(preparation: Preparation): void {
    const { taskId } = preparation.request
    preparation.isOver = true
    clearTimeout(preparation.timer)
    if (preparations.get(taskId) === preparation) preparations.delete(taskId)
  }
  async function drop(preparation: Preparation): Promise<void> {
    if (preparation.isOver) return
    const { taskId } = preparation.request
    end(preparation)
    preparation.stop.abort()
    // A workspace that could not be made was already removed, and the folder may belong to another preparation by now.
    if (!preparation.hasBegun || !(await preparation.workspace)) return
    await deps.agents.drop(taskId)
    await removeAhead(deps, taskId)
  }
  const dropLocked = (preparation: Preparation) => {
    preparation.stop.abort()
    return deps.locks.hold(preparation.request.taskId, () => drop(preparation))
  }
  const dropUnused = (preparation: Preparation) =>
    void dropLocked(preparation).catch((fault: unknown) =>
      deps.logger.warn({ err: fault }, 'failed to remove a workspace'),
    )

  async function begin(request: PreparationRequest): Promise<boolean> {
    const { taskId, ownerId } = request
    const existing = preparations.get(taskId)
    if (existing && isDeepStrictEqual(existing.request, request)) {
      existing.timer.refresh()
      return true
    }
    // The id was requested by another person, whose preparation must not be changed.
    if (existing && existing.request.ownerId !== ownerId) return false
    if (!existing && (await deps.workspaces.has(taskId))) return false
    // A person has only one preparation: when they change their mind, their earlier preparations are removed.
    const others = [...preparations.values()].filter((other) => other.request.ownerId === ownerId)
    if (preparations.size - others.length >= maxAtOnce) return false
    const dropped = Promise.all(others.map(dropLocked))
    const stop = new AbortController()
    const workspace = dropped
      .then(() => {
        preparation.hasBegun = true
        return deps.locks.holdIfFree(taskId, () => makeOrRemove(deps, request, stop.signal))
      })
      .catch((fault: unknown) => {
        deps.logger.info({ err: fault, taskId }, 'failed to prepare a workspace before its task')
        return undefined
      })
    const timer = setTimeout(() => dropUnused(preparation), unusedMs)
    const preparation: Preparation = { request, stop, workspace, timer, hasBegun: false, isOver: false }
    preparations.set(taskId, preparation)
    return true
  }

  // Preparations begin one at a time: if two began at once under the same id, neither would find the other.
  let last: Promise<unknown> = Promise.resolve()
  return {
    prepare(request) {
      const begun = last.then(() => begin(request))
      last = begun.catch(() => undefined)
      return begun
    },
    async adopt(task) {
      const found = preparations.get(task.id)
      if (!found) return undefined
      const { ownerId, projectId, branch } = found.request
      const matches = ownerId === task.owner && projectId === task.projectId && branch === task.branch
      const workspace = matches && found.hasBegun ? await found.workspace : undefined
      if (!workspace) {
        await drop(found)
        return undefined
      }
      end(found)
      await unmarkAhead(deps.root, task.id)
      return workspace
    },
    stop: (taskId) => preparations.get(taskId)?.stop.abort(),
    async close() {
      await Promise.all([...preparations.values()].map(dropLocked))
    },
  }
}

/** Makes a workspace. If that fails, nothing of it is left. */
async function makeOrRemove(
  deps: Deps,
  request: PreparationRequest,
  signal: AbortSignal,
): Promise<Workspace | undefined> {
  const { taskId } = request
  if (signal.aborted || (await deps.workspaces.has(taskId))) return undefined
  let workspace: Workspace | undefined
  try {
    workspace = await make(deps, request, signal)
    return workspace
  } finally {
    if (!workspace) {
      await deps.agents.drop(taskId)
      await removeAhead(deps, taskId)
    }
  }
}

async function make(
  deps: Deps,
  request: PreparationRequest,
  signal: AbortSignal,
): Promise<Workspace | undefined> {
  const { taskId, ownerId, projectId, branch, agent, model } = request
  const [project, user] = await Promise.all([
    deps.documents.get(projectsView, projectId),
    deps.documents.get(usersView, ownerId),
  ])
  if (project?.owner !== ownerId || !user) return undefined
  const refreshed = await refreshMirror(deps, { owner: ownerId, projectId }, { signal })
  if (refreshed.kind === 'failed' || signal.aborted) return undefined
  const git = gitUntil(deps.git, signal)
  const task = { id: taskId, projectId, branch, title: '', workingBranch: null }
  // An empty repository gets its first branch when a task starts. A person who only considers a task is no reason to create the branch.
  if (await isEmpty({ git }, refreshed.mirror, task)) return undefined
  await markAhead(deps.root, taskId)
  const prepared = await workspaceFor({ ...deps, git }, refreshed, { task, user })
  if (prepared.kind === 'failed' || signal.aborted) return undefined
  const { workspace } = prepared
  const repositoryUrl = refreshed.access.url
  const envs = await sandboxEnvsOf(deps, { projectId, agent, workspace, repositoryUrl })
  const filling = fillAhead(deps, { projectId, workspace, envs }, signal)
  const own = await ownInstructionsOf(deps, ownerId)
  const by = { ownerId, projectId }
  const { forAgent: sandboxEnv, allowedHooks } = envs
  const equipped = { ...freeMode, ...by, workspace, agent, model, sandboxEnv, own, allowedHooks }
  await startWarmAgent(deps, equipped, signal)
  await filling
  return workspace
}

type StartingDeps = Parameters<typeof agentSetup>[0] &
  Parameters<typeof openSandboxFor>[0] &
  Pick<AgentDeps, 'abilities'> & { readonly agents: Pick<WarmAgents, 'hasRoom' | 'keep'> }

/**
 * Starts an agent that waits for the first message of its task, unless the agent cannot be started, cannot wait, or would start programs of the
 * workspace, or memory is short, or the signal aborts before.
 */
export async function startWarmAgent(
  deps: StartingDeps,
  request: EquippedRequest,
  signal: AbortSignal,
): Promise<void> {
  // Such programs must not run before the task exists, and git of this machine then still renames the branch in the agent's own `.git`.
  if (startsPrograms(request)) return
  if (signal.aborted || !(await deps.agents.hasRoom())) return
  const setup = await agentSetup(deps, request)
  if (setup.kind === 'failed' || setup.agent.turns !== 'many') return
  const { workspace } = request
  if (refusalIn(setup, workspace)) return
  const home = await homeFilesFor(deps, setup, request)
  // A cancelled run waits for the lock that is held here.
  if (signal.aborted) return
  const process = await startAgent(openSandboxFor(deps, request, setup, null), setup, home, workspace)
  await deps.agents.keep(workspace, process, { setup: startFingerprint(setup, home), session: null }, agentMs)
}
