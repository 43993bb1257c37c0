/** Cleans up a runner's folder: after a runner that was killed, and after tasks and projects that were deleted. */
import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { taskStream } from '#domain/kernel/streams.ts'
import { task as decider } from '#domain/task/task.ts'
import { projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import { eachAlone } from '#platform/async/eachAlone.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { Logger } from '#platform/log.ts'
import type { Bus } from '#platform/ports/bus.ts'
import { NotFolded } from '#platform/ports/faults.ts'
import type { Documents } from '#platform/reads/documents.ts'
import { agents } from '../agents/registry.ts'
import type { WorkspaceEviction } from './eviction.ts'
import type { WorkspaceLocks } from './locks.ts'
import { removeHalfPacks } from './git/repositoryLayout.ts'
import { isMirrorOf, isTaskFolderName } from './names.ts'
import { removeWorkspace } from './workspace.ts'
import type { WorkspaceLimit } from './workspaceLimit.ts'

export interface DeletedRemoval {
  /** Checks again, after the check that is under way. */
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
  /** Workspaces are below it. */
  readonly root: string
  /** PATH. */
  readonly path: string
  /** Ends the agent that waits in a task's workspace. */
  readonly endAgent: (taskId: string) => Promise<void>
  /** A task that runs is stopped and ends first; its end asks for another look. */
  readonly isRunning: (taskId: string) => boolean
  readonly isBusy: () => boolean
  /** While anything runs, a mirror must have been idle for this long; milliseconds. */
  readonly idleMs: number
}

const checkIntervalMs = 60_000
const retryMs = 1_000
const page = 1_000
const deletions = new Set(['TaskDeleted', 'ProjectDeleted'])

/** Removes what deleted tasks and projects left: as soon as they are deleted, and every minute by the log, for deletions that this runner missed. */
export function startDeletedRemoval(options: DeletedRemovalOptions): DeletedRemoval {
  const stopping = new AbortController()
  const { signal } = stopping
  let removing: Promise<void> | undefined
  let isRequestedAgain = false
  let again: NodeJS.Timeout | undefined

  async function removeUntilDone(): Promise<void> {
    isRequestedAgain = false
    await removeDeleted(options).catch((fault: unknown) => {
      // At start-up the read models may not be there yet.
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
    // By the log: while read models are rebuilt, every task looks deleted in them.
    const { state } = await commands.load(decider, taskStream(taskId))
    if (state.kind === 'deleted') await removeTask(options, taskId)
  }
  await eachAlone(await tasksIn(root), removeIfDeleted, {
    logger,
    what: 'failed to look whether a task was deleted',
    name: (taskId) => ({ stream: taskStream(taskId) }),
  })
  for (const taskId of limit.held()) await locks.holdIfFree(taskId, () => limit.liftIfGone(taskId))
  const projects = await allProjects(options)
  await eviction.removeMirrors({
    // While read models are rebuilt, a mirror may be removed that is still needed: it is only cloned again, unless a run is using it.
    idleMs: isBusy() ? idleMs : 0,
    isOfUse: (path) =>
      projects.some(({ githubOwner: owner, githubRepoName: name, githubRepoId: id }) =>
        isMirrorOf(path, { owner, name, id }),
      ),
  })
}

/** What cannot be removed is logged, and left until the next look. */
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

/** Where agents' CLIs keep their locks in a home. */
const locksAt = new Set(
  Object.values(agents).flatMap(({ sessionFolders }) =>
    sessionFolders.map((path) => path.split('/', 1).join('')),
  ),
)
const deepest = 4

/**
 * Removes what a runner that was killed left in the workspaces below `root`: incomplete files of ours, and locks of agents that are gone. Nothing
 * may run in any of them. No link that an agent made is followed.
 */
export async function removeLeftovers(root: string): Promise<void> {
  const tasks = join(root, 'tasks')
  for (const name of await namesIn(tasks)) {
    const gitDir = join(tasks, name, 'git')
    const ofGit = (await namesIn(gitDir)).filter((one) => one.startsWith('scratch-') || one.endsWith('.lock'))
    for (const one of ofGit) await rm(join(gitDir, one), { recursive: true, force: true })
    const objects = join(gitDir, 'objects')
    if ((await namesIn(join(objects, 'pack'))).length > 0) await removeHalfPacks(objects)
    const home = join(tasks, name, 'home')
    for (const one of (await namesIn(home)).filter((one) => one.endsWith('.lock')))
      await rm(join(home, one), { recursive: true, force: true })
    for (const folder of locksAt) await removeLocks(join(home, folder), deepest)
  }
}

async function removeLocks(folder: string, depth: number): Promise<void> {
  for (const name of await namesIn(folder)) {
    const path = join(folder, name)
    if (name.endsWith('.lock')) await rm(path, { recursive: true, force: true })
    else if (depth > 1) await removeLocks(path, depth - 1)
  }
}

/** The names in a plain folder; none for anything else. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const found = await lstat(folder).catch(() => undefined)
  return found?.isDirectory() === true ? readdir(folder) : []
}
