/** Removes everything that deleted tasks and projects have left in a runner's folder. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { projectStream, taskStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import { task as decider } from '#domain/task/task.ts'
import { projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import { eachAlone } from '#platform/async/eachAlone.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { Logger } from '#platform/log.ts'
import type { Bus } from '#platform/ports/bus.ts'
import { NotFolded } from '#platform/ports/faults.ts'
import type { Documents } from '#platform/reads/documents.ts'
import { allLayers, layersOf, removeLayer } from '../environment/layers.ts'
import type { Rebuilds } from '../environment/rebuild.ts'
import type { WorkspaceEviction } from './eviction.ts'
import type { WorkspaceLocks } from './locks.ts'
import { isMirrorOf, isTaskFolderName } from './names.ts'
import { removeWorkspace } from './workspace.ts'
import type { WorkspaceLimit } from './workspaceLimit.ts'

export interface DeletedRemoval {
  /** Requests another check, which begins after the running one. */
  soon(): void
  stop(): Promise<void>
}

export interface DeletedRemovalOptions {
  readonly commands: Pick<Commands, 'load'>
  readonly documents: Documents
  readonly bus: Bus
  readonly logger: Logger
  readonly locks: WorkspaceLocks
  readonly eviction: Pick<WorkspaceEviction, 'removeMirrors' | 'counted'>
  readonly limit: Pick<WorkspaceLimit, 'held' | 'liftIfGone'>
  /** The folder that contains all workspaces. */
  readonly root: string
  /** The `PATH` in which the programs that remove folders are found. */
  readonly path: string
  /** Ends the warm agent and the shell of a task. */
  readonly endAgent: (taskId: string) => Promise<void>
  /** Rebuilds of environments, which are ended when their projects are deleted. */
  readonly rebuilds: Pick<Rebuilds, 'projects' | 'projectDeleted'>
  /** Whether the task is running. A running task is stopped first, and its end requests another check. */
  readonly isRunning: (taskId: string) => boolean
  readonly isBusy: () => boolean
  /** How long a mirror must have been idle, in milliseconds, to be removed while anything runs. */
  readonly idleMs: number
}

const checkIntervalMs = 60_000
const retryMs = 1_000
const page = 1_000
const deletions = new Set(['TaskDeleted', 'ProjectDeleted'])

/**
 * Removes everything that deleted tasks and projects have left, as soon as they are deleted. Every minute, also removes everything of tasks and
 * projects that are deleted according to the log, in case this runner missed a deletion.
 */
export function startDeletedRemoval(options: DeletedRemovalOptions): DeletedRemoval {
  const stopping = new AbortController()
  const { signal } = stopping
  let removing: Promise<void> | undefined
  let isRequestedAgain = false
  let again: NodeJS.Timeout | undefined

  async function removeUntilDone(): Promise<void> {
    isRequestedAgain = false
    await removeDeleted(options).catch((fault: unknown) => {
      // At the start, read models may not be available yet.
      if (fault instanceof NotFolded) again = setTimeout(soon, retryMs)
      else options.logger.warn({ err: fault }, 'failed to clean up after deletions')
    })
    if (isRequestedAgain && !signal.aborted) await removeUntilDone()
  }
  const soon = (): void => {
    isRequestedAgain = true
    if (!signal.aborted) removing ??= removeUntilDone().finally(() => (removing = undefined))
  }
  const unsubscribe = options.bus.subscribe('appended', ({ type }) => {
    if (deletions.has(type)) soon()
  })
  const timer = setInterval(soon, checkIntervalMs)
  soon()
  return {
    soon,
    async stop() {
      stopping.abort()
      unsubscribe()
      clearInterval(timer)
      await removing
      clearTimeout(again)
    },
  }
}

async function removeDeleted(options: DeletedRemovalOptions): Promise<void> {
  const { root, commands, eviction, locks, limit, isRunning, isBusy, idleMs, logger } = options
  const removeIfDeleted = async (taskId: string) => {
    if (isRunning(taskId)) return
    // Deletions are read from the log, because every task looks deleted in read models that are being rebuilt.
    const { state } = await commands.load(decider, taskStream(taskId))
    if (state.kind === 'deleted') await removeTask(options, taskId)
  }
  await eachAlone(await tasksIn(root), removeIfDeleted, {
    logger,
    what: 'failed to look whether a task was deleted',
    name: (taskId) => ({ stream: taskStream(taskId) }),
  })
  const kept = (await allLayers(root)).map((layer) => layer.projectId)
  for (const projectId of new Set([...kept, ...options.rebuilds.projects()]))
    await removeEnvironmentsIfDeleted(options, projectId)
  for (const taskId of limit.held()) await locks.holdIfFree(taskId, () => limit.liftIfGone(taskId))
  const projects = await allProjects(options)
  await eviction.removeMirrors({
    idleMs: isBusy() ? idleMs : 0,
    // While read models are being rebuilt, `projects` may lack a project. Its mirror is then removed, and cloned again later.
    isOfUse: (path) =>
      projects.some(({ githubOwner: owner, githubRepoName: name, githubRepoId: id }) =>
        isMirrorOf(path, { owner, name, id }),
      ),
  })
}

/** Removes the environments of a deleted project. Whether the project was deleted is read from the log, as for tasks. */
async function removeEnvironmentsIfDeleted(
  { commands, rebuilds, root, path, logger }: DeletedRemovalOptions,
  projectId: string,
): Promise<void> {
  try {
    const { state } = await commands.load(projectDecider, projectStream(projectId))
    if (state.kind !== 'deleted') return
    await rebuilds.projectDeleted(projectId)
    for (const { dir } of await layersOf(root, projectId)) await removeLayer(dir, path)
  } catch (fault) {
    logger.warn({ err: fault, projectId }, 'failed to remove the environments of a deleted project')
  }
}

/** Removes everything of a deleted task. A failure is logged, and the next check tries again. */
async function removeTask(
  { locks, endAgent, eviction, root, path, logger }: DeletedRemovalOptions,
  taskId: string,
): Promise<void> {
  try {
    await locks.hold(taskId, async () => {
      await endAgent(taskId)
      await removeWorkspace(root, taskId, path)
      eviction.counted(taskId, 0)
    })
  } catch (fault) {
    logger.warn({ err: fault, taskId }, 'failed to remove the workspace of a deleted task')
  }
}

async function tasksIn(root: string): Promise<readonly string[]> {
  return (await readdir(join(root, 'tasks')).catch(() => [])).filter(isTaskFolderName)
}

async function allProjects({ documents }: DeletedRemovalOptions): Promise<readonly ProjectDocument[]> {
  const all: ProjectDocument[] = []
  for (;;) {
    const last = all.at(-1)
    const found = await documents.find(projectsView, {
      where: {},
      sort: { field: 'order', direction: 'ascending' },
      limit: page,
      ...(last && { after: { value: last.order, id: last.id } }),
    })
    all.push(...found)
    if (found.length < page) return all
  }
}
