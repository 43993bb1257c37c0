/** Snapshots of a task's files and of its agent's session: saved as blobs after each run, and restored into workspaces. */
import type { BlobRef } from '#domain/kernel/ids.schema.ts'
import type { EventOf } from '#domain/kernel/event.schema.ts'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import type { AgentName } from '#domain/agents.ts'
import { countingAt, type Snapshot } from '#domain/task/restorePoints.ts'
import { WorkspaceSnapshotTaken } from '#domain/task/snapshotEvents.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { mostListedPaths } from '#domain/task/undo.ts'
import { retryWhileUnavailable } from '#platform/eventlog/eventLog.ts'
import { unlessDamaged, type SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import type { Logger } from '#platform/log.ts'
import { agents } from '../../agents/registry.ts'
import { commitOf, emptyTree, gitOrThrow, type Git } from '../../workspace/git/git.ts'
import { packFolders, removeFolders, unpackFolders } from '../../workspace/saved/archive.ts'
import { openBundle, restoreWork, saveWork } from '../../workspace/saved/bundle.ts'
import type { TurnSnapshot } from '../../workspace/saved/provenance.ts'
import {
  previewRestore,
  restoreInPlace,
  type RestoreInPlaceResult,
} from '../../workspace/saved/restoreInPlace.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { recordingPatienceMs } from './terminalWriter.ts'

const scopeOf = (taskId: string): string => scopeOfStream(taskStream(taskId))

interface Deps {
  readonly blobs: SealedBlobs
  readonly git: Git
  /** Returns a git that may safely read what an agent wrote in a workspace. */
  readonly treeGitFor: (workspace: Workspace) => Git
  /** The `PATH` with which the host's programs other than git run. */
  readonly path: string
  readonly logger: Pick<Logger, 'warn'>
}

type Fetched = Pick<Snapshot, 'work'> | null
type Saved = Pick<LiveTask, 'taskId' | 'saved' | 'origin'>

export interface SnapshotRequest {
  readonly task: LiveTask
  readonly workspace: Workspace
  readonly agent: AgentName
  readonly executionId: string
  readonly report: (snapshot: EventOf<typeof WorkspaceSnapshotTaken>) => Promise<void>
}

export type RestoredWork =
  /** `resumes` says whether the agent's session was restored as well. */
  | { readonly kind: 'restored'; readonly resumes: boolean }
  /** The workspace cannot be used, and must be made again. */
  | { readonly kind: 'unusable'; readonly why: string }
  | { readonly kind: 'nothing_saved' }

/** Takes and restores snapshots. No agent may run in a workspace that is passed to these functions. */
export interface Snapshots {
  /** Takes a snapshot and records it. If the files have not changed since the last snapshot, its blob is used again. */
  record(request: SnapshotRequest): Promise<void>
  /** Restores the last snapshot, files and session, into a new workspace. */
  restore(task: Saved, workspace: Workspace): Promise<RestoredWork>
  /**
   * Replaces the agent's sessions with the session in the snapshot. Returns `false` when the snapshot has none that could be resumed, or when it
   * cannot be read or unpacked.
   */
  restoreSession(task: Saved, workspace: Workspace): Promise<boolean>
  /** Ensures that the private git directory has a snapshot's commit. Returns a sentence if that is impossible, and otherwise `null`. */
  fetch(snapshot: Pick<Snapshot, 'work' | 'bundle'>, workspace: Workspace): Promise<string | null>
  /** Sets the files of a workspace back to those of a fetched snapshot. With `null`, sets them back to those that the workspace began with. */
  restoreInPlace(snapshot: Fetched, workspace: Workspace): Promise<RestoreInPlaceResult>
  /** Returns what `restoreInPlace` would do, without changing anything. */
  previewInPlace(snapshot: Fetched, workspace: Workspace): Promise<RestoreInPlaceResult>
  /**
   * The snapshots of all turns that were not undone, oldest first. If the task was created from a turn, the snapshot of that turn is the first one.
   * Turns without a snapshot, and snapshots whose files cannot be fetched, are left out.
   */
  counting(
    task: Pick<LiveTask, 'restorePoints' | 'origin'>,
    workspace: Workspace,
  ): Promise<readonly TurnSnapshot[]>
}

export function openSnapshots(deps: Deps): Snapshots {
  const { blobs, git, path } = deps
  const bytesOf = (taskId: string, blob: BlobRef) => unlessDamaged(blobs.get(scopeOf(taskId), blob))
  const inPlace = async (snapshot: Fetched, workspace: Workspace) => {
    const { privateGitDir, startCommit } = workspace
    const target = snapshot?.work ?? startCommit ?? (await emptyTree(git, privateGitDir))
    return { git, treeGit: deps.treeGitFor(workspace), workspace, target }
  }
  const snapshots: Snapshots = {
    record: (request) => recordSnapshot(deps, request),
    async restore(task, workspace) {
      const bundle = task.saved && (await bytesOf(task.taskId, task.saved.bundle))
      if (!bundle) return { kind: 'nothing_saved' }
      const restored = await restoreWork({ git, path, workspace, bundle })
      if (restored.kind !== 'restored') return { kind: 'unusable', why: restored.message }
      return { kind: 'restored', resumes: await snapshots.restoreSession(task, workspace) }
    },
    async restoreSession({ taskId, saved, origin }, { homeDir, owner }) {
      const session = saved?.session ?? null
      // Without an id, the archive holds what is left of an agent that was not the task's last one.
      if (session?.sessionId == null) return false
      const archive = await bytesOf(taskId, session.blob)
      if (!archive) return false
      const folders = agents[session.agent]?.sessionFolders ?? []
      await removeFolders(homeDir, folders, path)
      // Without a sandbox, the name of a session's folder contains the workspace's path, and so a task's id. In a snapshot from `origin`, it is the
      // id of the other task.
      const renamed = (at: string) => (origin ? at.replaceAll(origin.taskId, taskId) : at)
      return (await unpackFolders(homeDir, folders, archive, owner, { renamed })) === 'unpacked'
    },
    fetch: (snapshot, workspace) => fetchSnapshot(deps, snapshot, workspace),
    async restoreInPlace(snapshot, workspace) {
      return restoreInPlace({ ...(await inPlace(snapshot, workspace)), path })
    },
    previewInPlace: async (snapshot, workspace) => previewRestore(await inPlace(snapshot, workspace)),
    async counting({ restorePoints: { points, at }, origin }, workspace) {
      const counting = countingAt(points, at).toReversed()
      const turns: TurnSnapshot[] = []
      for (const { executionId, snapshot } of [...(origin ? [origin] : []), ...counting])
        if (snapshot && (await snapshots.fetch(snapshot, workspace)) === null)
          turns.push({ turn: executionId, work: snapshot.work })
      return turns
    },
  }
  return snapshots
}

/** The ref in the private git directory that keeps the files from the end of a turn. */
export const snapshotRef = (executionId: string): string => `refs/flightdeck/turns/${executionId}`

async function recordSnapshot(
  deps: Deps,
  { task, workspace, agent, executionId, report }: SnapshotRequest,
): Promise<void> {
  const { blobs, git, logger } = deps
  const { taskId, saved } = task
  const keepAs = snapshotRef(executionId)
  const treeGit = deps.treeGitFor(workspace)
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

async function fetchSnapshot(
  { blobs, git }: Deps,
  { work, bundle }: Pick<Snapshot, 'work' | 'bundle'>,
  workspace: Workspace,
): Promise<string | null> {
  const { taskId, privateGitDir: gitDir } = workspace
  if ((await commitOf(git, gitDir, work)) !== null) return null
  const kept = await unlessDamaged(blobs.get(scopeOf(taskId), bundle))
  if (!kept) return 'The saved files of this turn are gone or damaged.'
  const opened = await openBundle(git, workspace, kept)
  if ('message' in opened) return opened.message
  await gitOrThrow(git, { gitDir, args: ['update-ref', `refs/flightdeck/work/${work}`, work] })
  return null
}

/** The agent's session as a blob: the previous blob if the session has not changed, `null` if there is no session or not the whole of it. */
async function savedSession(
  { blobs }: Deps,
  { workspace, agent, saved }: { workspace: Workspace; agent: AgentName; saved: Snapshot | null },
): Promise<{ readonly agent: AgentName; readonly blob: NonNullable<Snapshot['session']>['blob'] } | null> {
  const folders = agents[agent]?.sessionFolders ?? []
  const packed = await packFolders(workspace.homeDir, folders)
  if (packed.files === 0 || packed.isCut) return null
  const scope = scopeOf(workspace.taskId)
  const before = saved?.session?.agent === agent ? saved.session : null
  const patience = { patienceMs: recordingPatienceMs }
  const kept =
    before && (await unlessDamaged(retryWhileUnavailable(() => blobs.get(scope, before.blob), patience)))
  if (before && kept && packed.archive.equals(kept)) return { agent, blob: before.blob }
  return { agent, blob: await blobs.put(scope, packed.archive) }
}
