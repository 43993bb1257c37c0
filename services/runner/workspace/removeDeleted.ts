/**
 * Clears away what deleted tasks and projects left in a runner's folder: when they are deleted, and each minute by the log, for what was
 * deleted while this runner was away or could not be told.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { taskStream } from '#domain/kernel/ids.ts'
import { task as decider } from '#domain/task/task.ts'
import { projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import type { RunnerDeps } from '../deps.ts'
import { isMirrorOf, isTaskFolderName } from './names.ts'
import { removeWorkspace } from './workspace.ts'

export interface Clearing {
  /** Looks again, once it is done with what it does. */
  soon(): void
  stop(): Promise<void>
}

const everyMs = 60_000
const page = 1_000
const deletions = new Set(['TaskDeleted', 'ProjectDeleted'])

interface Runs {
  /** What runs is stopped and ends first; who ends it asks for another look. */
  readonly isRunning: (taskId: string) => boolean
  readonly isBusy: () => boolean
  /** While anything runs, a mirror must have been idle for so long. */
  readonly idleMs: number
}

export function startClearing(deps: RunnerDeps, runs: Runs): Clearing {
  const stopping = new AbortController()
  const { signal } = stopping
  let clearing: Promise<void> | undefined
  let isAskedAgain = false

  async function clearAll(): Promise<void> {
    isAskedAgain = false
    await clear(deps, runs).catch((fault: unknown) =>
      deps.logger.warn({ err: fault }, 'failed to clean up after deletions'),
    )
    if (isAskedAgain && !signal.aborted) await clearAll()
  }
  const soon = (): void => {
    isAskedAgain = true
    if (!signal.aborted) clearing ??= clearAll().finally(() => (clearing = undefined))
  }
  const unfollow = deps.bus.subscribe('appended', ({ type }) => {
    if (deletions.has(type)) soon()
  })
  const timer = setInterval(soon, everyMs)
  soon()
  return {
    soon,
    async stop() {
      stopping.abort()
      unfollow()
      clearInterval(timer)
      await clearing
    },
  }
}

async function clear(deps: RunnerDeps, { isRunning, isBusy, idleMs }: Runs): Promise<void> {
  for (const taskId of await tasksIn(deps.root)) {
    if (isRunning(taskId)) continue
    // By the log: while read models are made anew, every task looks deleted in them.
    const { state } = await deps.commands.load(decider, taskStream(taskId))
    if (state.kind === 'deleted') await clearAway(deps, taskId)
  }
  const projects = await allProjects(deps)
  await deps.eviction.removeMirrors({
    // One that is missed while read models are made anew is fetched anew: only what runs now must not lose it.
    idleMs: isBusy() ? idleMs : 0,
    isOfUse: (path) =>
      projects.some(({ githubOwner: owner, githubRepoName: name }) => isMirrorOf(path, { owner, name })),
  })
}

/** What cannot be taken away is left until the next look, and told in the log. */
async function clearAway({ locks, warm, root, path, logger }: RunnerDeps, taskId: string): Promise<void> {
  try {
    await locks.hold(taskId, async () => {
      await warm.drop(taskId)
      await removeWorkspace(root, taskId, path)
    })
  } catch (fault) {
    logger.warn({ err: fault, taskId }, 'failed to remove the workspace of a deleted task')
  }
}

async function tasksIn(root: string): Promise<readonly string[]> {
  return (await readdir(join(root, 'tasks')).catch(() => [])).filter(isTaskFolderName)
}

async function allProjects({ documents }: RunnerDeps): Promise<readonly ProjectDocument[]> {
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
