/** Reads the changes of a task from its workspace and records them: the summary in an event, the diff as a blob. */
import { createHash } from 'node:crypto'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import { WorkspaceChanged } from '#domain/task/events.ts'
import type { SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import type { RecordingDeps, WorkspaceDeps } from '../../deps.ts'
import type { Redaction } from '../../redaction/redaction.ts'
import { readChanges, type Changes, type ReadChangesRequest } from '../../workspace/changes/changes.ts'
import type { Git } from '../../workspace/git/git.ts'
import type { Workspace, WorkspaceGit } from '../../workspace/workspace.ts'
import type { Reporter } from './reporter.ts'
import { withoutSecrets } from '../taskSecrets.ts'

export interface ChangesReport {
  /** From now on, removes these secrets too from branch names, names of files and diffs. */
  hide(secrets: readonly string[]): void
  /** The redaction that removes all secrets of the run that are known now. */
  redaction(): Redaction
  /**
   * Reads the changes now and records them with the git tree of the files, unless they are equal to those that were recorded last, or the base branch
   * is gone. Must not run while an agent writes.
   */
  record(): Promise<void>
  /** Records the changes soon, at most every two seconds, while a run continues. A fault is ignored, since the next reading may succeed. */
  recordSoon(): void
  /** Cancels scheduled recordings, and resolves when none is running. */
  stop(): Promise<void>
}

const intervalMs = 2_000

export function changesReport(
  deps: Pick<WorkspaceDeps, 'git'> & Pick<RecordingDeps, 'blobs' | 'redaction' | 'allowances'>,
  run: {
    /** A git that may safely read what an agent wrote. */
    readonly treeGit: Git
    readonly workspace: Workspace
    readonly executionId: string
    /** Secrets that are removed from every diff. */
    readonly secrets: readonly string[]
    readonly reporter: Reporter
  },
): ChangesReport {
  const { git, blobs } = deps
  const { treeGit, workspace, executionId, reporter } = run
  let secrets = run.secrets
  let redaction = deps.redaction(secrets)
  let recorded = ''
  let stored = 0
  let reading: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  async function read(from: 'folder' | 'tree'): Promise<void> {
    const { baseBranch } = workspace
    const changes = await readChanges({ git, treeGit, workspace, baseBranch, from })
    if (changes.kind === 'base_not_found') return
    const redacted = await redactChanges(changes, redaction)
    if (redacted.digest === recorded) return
    await reporter.report(await changesEvent(blobs, { taskId: workspace.taskId, executionId }, redacted))
    stored += redacted.changes.files.length === 0 ? 0 : redacted.files.length
    recorded = redacted.digest
  }

  function serialized(from: 'folder' | 'tree'): Promise<void> {
    const readNext = () => read(from)
    reading = reading.then(readNext, readNext)
    reading.catch(() => undefined)
    return reading
  }

  return {
    hide(more) {
      secrets = [...secrets, ...more]
      redaction = deps.redaction(secrets)
    },
    redaction: () => redaction,
    record: () => serialized('tree'),
    recordSoon() {
      // Beyond the limit, only the last diff of the run is recorded.
      if (stored >= deps.allowances.runBytes) return
      timer ??= setTimeout(() => {
        timer = undefined
        serialized('folder').catch(() => undefined)
      }, intervalMs)
    },
    async stop() {
      clearTimeout(timer)
      await reading.catch(() => undefined)
    },
  }
}

type ReadChanges = Extract<Changes, { kind: 'changes' }>

/** Changes without secrets, in the form that is recorded. */
interface RedactedChanges {
  readonly changes: ReadChanges
  readonly files: Buffer
  /** A digest that is equal for equal changes. */
  readonly digest: string
}

/** Removes the secrets from the branch name, the names of files and the diffs of changes. */
export async function redactChanges(read: ReadChanges, redaction: Redaction): Promise<RedactedChanges> {
  // An agent chooses the names of its branches, so a name may contain a secret.
  const changes = { ...read, currentBranch: await redaction.text(read.currentBranch) }
  const files = Buffer.from(JSON.stringify(await withoutSecrets(changes.files, redaction)))
  const digest = createHash('sha256')
    .update(JSON.stringify([changes.currentBranch, changes.tree, summaryOf(changes)]))
    .update(files)
    .digest('hex')
  return { changes, files, digest }
}

/** Stores the diff of the changes as a blob, and returns the event that records the changes. */
async function changesEvent(
  blobs: SealedBlobs,
  { taskId, executionId }: { readonly taskId: string; readonly executionId: string },
  { changes, files }: RedactedChanges,
) {
  const blob = changes.files.length === 0 ? null : await blobs.put(scopeOfStream(taskStream(taskId)), files)
  const { currentBranch, baseBranch, tree } = changes
  return WorkspaceChanged.of(
    { executionId, ...summaryOf(changes), blob },
    { currentBranch, baseBranch, tree },
  )
}

/** The event that records the current changes; `null` when the base branch no longer exists. Must not run while an agent writes. */
export async function changesNow(
  deps: Pick<RecordingDeps, 'blobs' | 'redaction'>,
  work: WorkspaceGit & { readonly executionId: string; readonly secrets: readonly string[] },
  { from = 'tree', signal }: Pick<ReadChangesRequest, 'from' | 'signal'> = {},
) {
  const { workspace, executionId, secrets } = work
  const request = { ...work, baseBranch: workspace.baseBranch, from, ...(signal && { signal }) }
  const changes = await readChanges(request)
  if (changes.kind === 'base_not_found') return null
  const redacted = await redactChanges(changes, deps.redaction(secrets))
  return changesEvent(deps.blobs, { taskId: workspace.taskId, executionId }, redacted)
}

function summaryOf(changes: ReadChanges) {
  const { files, total, ahead, behind, truncated } = changes
  return {
    files: total,
    additions: files.reduce((sum, file) => sum + file.additions, 0),
    deletions: files.reduce((sum, file) => sum + file.deletions, 0),
    ahead,
    behind,
    truncated,
  }
}
