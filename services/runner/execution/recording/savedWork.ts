/** A task's work and its agent's session: saved as blobs after each turn, and restored where the workspace is gone. */
import { isDeepStrictEqual } from 'node:util'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import { WorkSaved } from '#domain/task/events.ts'
import type { AgentName } from '#domain/agents.ts'
import type { LiveTask, SavedWork } from '#domain/task/state.ts'
import { agents } from '../../agents/registry.ts'
import type { RecordingDeps, WorkspaceDeps } from '../../deps.ts'
import type { Git } from '../../workspace/git/git.ts'
import { packFolders, unpackFolders } from '../../workspace/saved/archive.ts'
import { restoreWork, saveWork } from '../../workspace/saved/bundle.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import type { Reporter } from './reporter.ts'

const scopeOf = (taskId: string): string => scopeOfStream(taskStream(taskId))

type Deps = Pick<RecordingDeps, 'blobs' | 'logger'> & Pick<WorkspaceDeps, 'git' | 'path'>

/** Saves what differs from what was saved before. Not while an agent writes. What cannot be saved is logged. */
export async function recordWork(
  deps: Deps,
  {
    task,
    workspace,
    treeGit,
    agent,
    executionId,
    reporter,
  }: {
    readonly task: LiveTask
    readonly workspace: Workspace
    readonly treeGit: Git
    readonly agent: AgentName
    readonly executionId: string
    readonly reporter: Reporter
  },
): Promise<void> {
  const { blobs, git, logger } = deps
  const { taskId, saved } = task
  const work = await saveWork({ git, treeGit, workspace, last: saved?.work })
  if (work.kind === 'too_large') return logger.warn({ taskId }, work.message)
  const session = await savedSession(deps, { workspace, agent, saved })
  if (work.kind === 'unchanged' && (saved === null || isDeepStrictEqual(session, saved.session))) return
  const bundle =
    work.kind === 'saved' ? await blobs.put(scopeOf(taskId), work.bundle) : (saved?.bundle ?? null)
  if (bundle === null) return
  if (work.kind === 'saved' && work.leftOut.length > 0)
    logger.info({ taskId, leftOut: work.leftOut.length }, 'some files were left out of the saved work')
  await reporter.report(WorkSaved.of({ executionId, bundle, session }, { work: work.work }))
}

/** The agent's session as a blob; the earlier blob where the session has not changed. */
async function savedSession(
  { blobs }: Deps,
  { workspace, agent, saved }: { workspace: Workspace; agent: AgentName; saved: SavedWork | null },
): Promise<SavedWork['session']> {
  const folders = agents[agent]?.sessionFolders ?? []
  const packed = await packFolders(workspace.homeDir, folders)
  if (packed.files === 0) return null
  const scope = scopeOf(workspace.taskId)
  const before = saved?.session?.agent === agent ? saved.session : null
  const kept = before && (await blobs.get(scope, before.blob))
  if (before && kept && packed.archive.equals(kept)) return before
  return { agent, blob: await blobs.put(scope, packed.archive) }
}

export type RestoredWork =
  /** `session`: the agent whose session was restored as well. */
  | { readonly kind: 'restored'; readonly session: AgentName | null }
  /** The workspace must be made anew. */
  | { readonly kind: 'spoiled'; readonly why: string }
  | { readonly kind: 'nothing_saved' }

/** Restores what was saved last into a workspace that was just made. */
export async function restoreSavedWork(
  { blobs, git, path }: Deps,
  { taskId, saved }: LiveTask,
  workspace: Workspace,
): Promise<RestoredWork> {
  if (saved === null) return { kind: 'nothing_saved' }
  const bundle = await blobs.get(scopeOf(taskId), saved.bundle)
  if (!bundle) return { kind: 'nothing_saved' }
  const restored = await restoreWork({ git, path, workspace, bundle })
  if (restored.kind !== 'restored') return { kind: 'spoiled', why: restored.message }
  const archive = saved.session && (await blobs.get(scopeOf(taskId), saved.session.blob))
  if (!saved.session || !archive) return { kind: 'restored', session: null }
  const { agent } = saved.session
  const folders = agents[agent]?.sessionFolders ?? []
  const unpacked = await unpackFolders(workspace.homeDir, folders, archive, workspace.owner)
  return { kind: 'restored', session: unpacked.kind === 'unpacked' ? agent : null }
}
