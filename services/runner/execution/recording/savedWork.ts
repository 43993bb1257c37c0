/** Snapshots of a task's files and of its agent's session: saved as blobs after each turn, and restored into workspaces. */
import type { EventOf } from '#domain/kernel/event.schema.ts'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import type { AgentName } from '#domain/agents.ts'
import { countingAt, type Snapshot } from '#domain/task/restorePoints.ts'
import { WorkspaceSnapshotTaken } from '#domain/task/snapshotEvents.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { mostListedPaths } from '#domain/task/undo.ts'
import { unlessDamaged } from '#platform/eventlog/sealedBlobs.ts'
import { agents } from '../../agents/registry.ts'
import type { RecordingDeps, WorkspaceDeps } from '../../deps.ts'
import { commitOf, endedWell, gitOrThrow, type Git } from '../../workspace/git/git.ts'
import { packFolders, removeFolders, unpackFolders } from '../../workspace/saved/archive.ts'
import { openBundle, restoreWork, saveWork } from '../../workspace/saved/bundle.ts'
import type { TurnSnapshot } from '../../workspace/saved/provenance.ts'
import { evictedHead, forgetEvictedHead, type Workspace } from '../../workspace/workspace.ts'

const scopeOf = (taskId: string): string => scopeOfStream(taskStream(taskId))

type Deps = Pick<RecordingDeps, 'blobs' | 'logger'> & Pick<WorkspaceDeps, 'git' | 'path'>

/** The ref of the private git directory that keeps the files as they were at the end of a turn. */
export const snapshotRef = (executionId: string): string => `refs/flightdeck/turns/${executionId}`

/** Takes and records a snapshot. Not while an agent writes. Files that have not changed since the last one are the same blob. */
export async function recordSnapshot(
  deps: Deps,
  {
    task,
    workspace,
    treeGit,
    agent,
    executionId,
    report,
  }: {
    readonly task: LiveTask
    readonly workspace: Workspace
    readonly treeGit: Git
    readonly agent: AgentName
    readonly executionId: string
    readonly report: (snapshot: EventOf<typeof WorkspaceSnapshotTaken>) => Promise<void>
  },
): Promise<void> {
  const { blobs, git, logger } = deps
  const { taskId, saved } = task
  const keepAs = snapshotRef(executionId)
  const work = await saveWork({ git, treeGit, workspace, last: saved?.work, keepAs })
  const session = await savedSession(deps, { workspace, agent, saved })
  if (work.kind === 'too_large') {
    logger.warn({ taskId }, work.message)
    const missing = { work: null, leftOutPaths: [], missing: work.message }
    return report(WorkspaceSnapshotTaken.of({ executionId, bundle: null, session, leftOut: 0 }, missing))
  }
  const bundle =
    work.kind === 'saved' ? await blobs.put(scopeOf(taskId), work.bundle) : (saved?.bundle ?? null)
  const { leftOut } = work
  await report(
    WorkspaceSnapshotTaken.of(
      { executionId, bundle, session, leftOut: leftOut.length },
      { work: work.work, leftOutPaths: leftOut.slice(0, mostListedPaths), missing: null },
    ),
  )
}

/** The agent's session as a blob; the earlier blob where the session has not changed. */
async function savedSession(
  { blobs }: Deps,
  { workspace, agent, saved }: { workspace: Workspace; agent: AgentName; saved: Snapshot | null },
): Promise<{ readonly agent: AgentName; readonly blob: NonNullable<Snapshot['session']>['blob'] } | null> {
  const folders = agents[agent]?.sessionFolders ?? []
  const packed = await packFolders(workspace.homeDir, folders)
  if (packed.files === 0) return null
  const scope = scopeOf(workspace.taskId)
  const before = saved?.session?.agent === agent ? saved.session : null
  const kept = before && (await unlessDamaged(blobs.get(scope, before.blob)))
  if (before && kept && packed.archive.equals(kept)) return { agent, blob: before.blob }
  return { agent, blob: await blobs.put(scope, packed.archive) }
}

export type RestoredWork =
  /** `resumes`: the agent's session was restored as well. */
  | { readonly kind: 'restored'; readonly resumes: boolean }
  /** The workspace must be recreated. */
  | { readonly kind: 'unusable'; readonly why: string }
  | { readonly kind: 'nothing_saved' }

/**
 * Whether a new workspace already has all that the evicted one had, because it was pushed; the saved snapshot may be older. The agent's sessions
 * are in the home that was kept. If not, something else is restored, and the evicted head is forgotten, so that it is never compared again.
 */
export async function goesOnAsEvicted(
  { git, root }: Pick<WorkspaceDeps, 'git' | 'root'>,
  { taskId, pendingRestore }: Pick<LiveTask, 'taskId' | 'pendingRestore'>,
  {
    workspace: { privateGitDir: gitDir, startCommit },
    isOnPushedBranch,
  }: { readonly workspace: Workspace; readonly isOnPushedBranch: boolean },
): Promise<boolean> {
  const head = await evictedHead(root, taskId)
  if (head === null) return false
  if (pendingRestore === null && isOnPushedBranch && startCommit !== null) {
    const args = ['merge-base', '--is-ancestor', head, startCommit]
    if (endedWell(await git({ gitDir, args }))) return true
  }
  await forgetEvictedHead(root, taskId)
  return false
}

/** Restores what was saved last into a workspace that was just made. */
export async function restoreSavedWork(
  deps: Deps,
  { taskId, saved, origin }: Pick<LiveTask, 'taskId' | 'saved' | 'origin'>,
  workspace: Workspace,
): Promise<RestoredWork> {
  const { blobs, git, path } = deps
  if (saved === null) return { kind: 'nothing_saved' }
  const bundle = await unlessDamaged(blobs.get(scopeOf(taskId), saved.bundle))
  if (!bundle) return { kind: 'nothing_saved' }
  const restored = await restoreWork({ git, path, workspace, bundle })
  if (restored.kind !== 'restored') return { kind: 'unusable', why: restored.message }
  return { kind: 'restored', resumes: await restoreSession(deps, { saved, origin }, workspace) }
}

/** Replaces the agent's sessions with the snapshot's; false if there is none to resume. Not while the agent runs. */
export async function restoreSession(
  { blobs, path }: Pick<Deps, 'blobs' | 'path'>,
  { saved, origin }: Pick<LiveTask, 'saved' | 'origin'>,
  workspace: Workspace,
): Promise<boolean> {
  const { taskId, homeDir, owner } = workspace
  const session = saved?.session ?? null
  const archive = session && (await unlessDamaged(blobs.get(scopeOf(taskId), session.blob)))
  if (!session || !archive) return false
  const folders = agents[session.agent]?.sessionFolders ?? []
  await removeFolders(homeDir, folders, path)
  // Without a sandbox an agent names a session's folder after the workspace's path, which contains the task's id.
  const renamed = (at: string) => (origin ? at.replaceAll(origin.taskId, taskId) : at)
  return (await unpackFolders(homeDir, folders, archive, owner, { renamed })) === 'unpacked'
}

/** Makes sure that the private git directory has a snapshot's commit; returns a sentence if it cannot. */
export async function fetchSnapshot(
  { blobs, git }: Pick<Deps, 'blobs' | 'git'>,
  { work, bundle }: Pick<Snapshot, 'work' | 'bundle'>,
  workspace: Workspace,
): Promise<string | null> {
  if ((await commitOf(git, workspace.privateGitDir, work)) !== null) return null
  const kept = await unlessDamaged(blobs.get(scopeOf(workspace.taskId), bundle))
  if (!kept) return 'The saved files of this turn are gone or damaged.'
  const opened = await openBundle(git, workspace, kept)
  if ('message' in opened) return opened.message
  const args = ['update-ref', `refs/flightdeck/work/${work}`, work]
  await gitOrThrow(git, { gitDir: workspace.privateGitDir, args })
  return null
}

/** The snapshots that count, oldest first, including that of the turn before the task. Those whose files are gone are left out. */
export async function countingSnapshots(
  deps: Pick<Deps, 'blobs' | 'git'>,
  { restorePoints: { points, at }, origin }: Pick<LiveTask, 'restorePoints' | 'origin'>,
  workspace: Workspace,
): Promise<readonly TurnSnapshot[]> {
  const counting = countingAt(points, at).toReversed()
  const all = [
    ...(origin ? [{ executionId: origin.executionId, snapshot: origin.snapshot }] : []),
    ...counting,
  ]
  const turns: TurnSnapshot[] = []
  for (const { executionId, snapshot } of all)
    if (snapshot && (await fetchSnapshot(deps, snapshot, workspace)) === null)
      turns.push({ turn: executionId, work: snapshot.work })
  return turns
}
