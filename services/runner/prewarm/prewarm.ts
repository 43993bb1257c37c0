/**
 * What can be done before a task is there: once a project is chosen and a description begun, its workspace is made and its agent started,
 * under the id that the task will have. What no task takes up within a minute goes again.
 */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { projectsView } from '#domain/views/projects.ts'
import { usersView } from '#domain/views/users.ts'
import type { Asked, Rpc } from '#platform/ports/rpc.ts'
import type { Prewarm, WorkspaceDeps, RunnerDeps } from '../deps.ts'
import { gitUntil } from '../workspace/git/git.ts'
import { hasWorkspace, removeWorkspace, type Workspace } from '../workspace/workspace.ts'
import { isEmpty, refreshMirror, workspaceFor } from '../execution/prepareWorkspace.ts'
import { prewarmAgent } from '../execution/turn.ts'
import { sandboxEnvsOf } from '../execution/sandboxEnvs.ts'

type Wanted = Asked<'prepare'>

interface Made {
  readonly wanted: Wanted
  readonly timer: NodeJS.Timeout
  readonly stop: AbortController
  /** `undefined` when it could not be made. */
  readonly workspace: Promise<Workspace | undefined>
}

const unusedMs = 60_000
/** The agent goes with its workspace, which is kept for longer each time that it is asked for again. */
const agentMs = 60 * 60_000
/** What is made for persons at once; more do without. */
const atOnce = 4

/** Begins to answer. Where several runners share the queue none does: the task might come to another. */
export async function openPrewarm(deps: WorkspaceDeps, rpc: Rpc): Promise<Prewarm> {
  const made = new Map<string, Made>()
  await removeLeft(deps)

  async function drop(taskId: string): Promise<void> {
    const found = made.get(taskId)
    if (!found) return
    made.delete(taskId)
    clearTimeout(found.timer)
    found.stop.abort()
    // What could not be made is gone already, and may be somebody else's by now.
    if (!(await found.workspace)) return
    await deps.warm.drop(taskId)
    await remove(deps, taskId)
  }
  const dropHeld = (taskId: string) => {
    made.get(taskId)?.stop.abort()
    return deps.locks.hold(taskId, () => drop(taskId))
  }
  const dropLater = (taskId: string) =>
    void dropHeld(taskId).catch((fault: unknown) =>
      deps.logger.warn({ err: fault }, 'failed to remove a workspace'),
    )

  async function begin(wanted: Wanted): Promise<boolean> {
    const { taskId, ownerId } = wanted
    const there = made.get(taskId)
    if (there && isDeepStrictEqual(there.wanted, wanted)) {
      there.timer.refresh()
      return true
    }
    // Another person's id: what is made for them is not theirs to change.
    if (there && there.wanted.ownerId !== ownerId) return false
    if (!there && (await hasWorkspace(deps.root, taskId))) return false
    // Who changes their mind has one made at a time.
    const others = [...made].filter(([, other]) => other.wanted.ownerId === ownerId)
    if (made.size - others.length >= atOnce) return false
    const dropped = Promise.all(others.map(([id]) => dropHeld(id)))
    const stop = new AbortController()
    const workspace = dropped
      .then(() => deps.locks.holdIfFree(taskId, () => makeWhole(deps, wanted, stop.signal)))
      .catch((fault: unknown) => {
        deps.logger.info({ err: fault, taskId }, 'failed to prepare ahead of a task')
        return undefined
      })
    made.set(taskId, { wanted, stop, workspace, timer: setTimeout(dropLater, unusedMs, taskId) })
    return true
  }

  // One after another: two for one id would both find nothing there.
  let turn: Promise<unknown> = Promise.resolve()
  const serialized = (wanted: Wanted): Promise<boolean> => {
    const begun = turn.then(() => begin(wanted))
    turn = begun.catch(() => undefined)
    return begun
  }
  const stopAnswering = deps.isAlone
    ? rpc.answer('prepare', async (wanted) => ({ kind: (await serialized(wanted)) ? 'begun' : 'left' }))
    : () => undefined
  return {
    async adopt(task) {
      const found = made.get(task.id)
      if (!found) return undefined
      const { ownerId, projectId, branch } = found.wanted
      const isForIt = ownerId === task.owner && projectId === task.projectId && branch === task.branch
      const workspace = isForIt ? await found.workspace : undefined
      if (!workspace || !made.has(task.id)) {
        await drop(task.id)
        return undefined
      }
      made.delete(task.id)
      clearTimeout(found.timer)
      await rm(markerOf(deps.root, task.id), { force: true })
      return workspace
    },
    async close() {
      stopAnswering()
      await Promise.all([...made.keys()].map(dropHeld))
    },
  }
}

/** Nothing is left of what could not be made. */
async function makeWhole(
  deps: WorkspaceDeps,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Workspace | undefined> {
  const { taskId } = wanted
  if (await hasWorkspace(deps.root, taskId)) return undefined
  let workspace: Workspace | undefined
  try {
    workspace = await make(deps, wanted, signal)
    return workspace
  } finally {
    if (!workspace) {
      await deps.warm.drop(taskId)
      await remove(deps, taskId)
    }
  }
}

async function make(
  deps: WorkspaceDeps,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Workspace | undefined> {
  const { taskId, ownerId, projectId, branch, agent, model } = wanted
  const [project, user] = await Promise.all([
    deps.documents.get(projectsView, projectId),
    deps.documents.get(usersView, ownerId),
  ])
  if (project?.owner !== ownerId || !user) return undefined
  const refreshed = await refreshMirror(deps, { owner: ownerId, projectId }, { signal })
  if (refreshed.kind === 'failed' || signal.aborted) return undefined
  const git = gitUntil(deps.git, signal)
  const task = { id: taskId, projectId, branch, title: '', workingBranch: null }
  // Its first branch is made when coding starts, and not for who only thinks of it.
  if (await isEmpty({ git }, refreshed.mirror, task)) return undefined
  await mkdir(join(deps.root, 'tasks'), { recursive: true })
  await writeFile(markerOf(deps.root, taskId), '')
  const prepared = await workspaceFor({ ...deps, git }, refreshed, { task, user })
  if (prepared.kind === 'failed' || signal.aborted) return undefined
  const { workspace } = prepared
  const repositoryUrl = refreshed.access.url
  const { forAgent } = await sandboxEnvsOf(deps, { projectId, agent, workspace, repositoryUrl })
  await prewarmAgent(deps, { workspace, agent, model, sandboxEnv: forAgent }, agentMs)
  return workspace
}

/** A file beside the workspace: who finds it after a start takes both away, as nobody knows any more for whom it was made. */
function markerOf(root: string, taskId: string): string {
  return join(root, 'tasks', `${taskId}.ahead`)
}

async function remove({ root, path }: Pick<RunnerDeps, 'root' | 'path'>, taskId: string): Promise<void> {
  await removeWorkspace(root, taskId, path)
  await rm(markerOf(root, taskId), { force: true })
}

async function removeLeft(deps: Pick<RunnerDeps, 'root' | 'path'>): Promise<void> {
  const found = await readdir(join(deps.root, 'tasks')).catch(() => [])
  for (const name of found) if (name.endsWith('.ahead')) await remove(deps, name.slice(0, -'.ahead'.length))
}
