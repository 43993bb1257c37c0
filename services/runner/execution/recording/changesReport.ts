/** What a task changed, read from its workspace and recorded: the summary in the event, the diff as a blob. */
import { createHash } from 'node:crypto'
import { scopeOfStream, taskStream } from '#domain/kernel/ids.ts'
import { WorkspaceChanged } from '#domain/task/events.ts'
import type { SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import type { Redaction } from '../../output/redaction.ts'
import { readChanges, type Changes } from '../../workspace/changes/changes.ts'
import type { Git } from '../../workspace/git/git.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import type { Reporter } from './reporter.ts'
import { withoutSecrets } from '../projectSecrets.ts'

export interface ChangesReport {
  /** Takes these out of every diff from now on, too. */
  hide(secrets: readonly string[]): void
  /** Reads and records the changes now, with the tree that they are of; nothing is recorded when they are what was recorded last. Not while an agent writes. */
  record(): Promise<void>
  /** The same soon, and at most every two seconds: for a run that goes on. A fault is left for the next time. */
  recordSoon(): void
  /** No more by itself; resolves when nothing is being read. */
  stop(): Promise<void>
}

const intervalMs = 2_000

export function changesReport(deps: {
  /** On the host, for the history. */
  git: Git
  /** In the box, for what an agent wrote. */
  treeGit: Git
  workspace: Workspace
  executionId: string
  /** Shown by no diff. */
  secrets: readonly string[]
  redaction: (secrets: readonly string[]) => Redaction
  blobs: SealedBlobs
  /** Bytes of diffs that are recorded while the run goes on; its last one always is. */
  mostBytes: number
  reporter: Reporter
}): ChangesReport {
  const { git, treeGit, workspace, executionId, blobs, reporter } = deps
  let redaction = deps.redaction(deps.secrets)
  let recorded = ''
  let stored = 0
  let reading: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  async function read(from: 'folder' | 'tree'): Promise<void> {
    const { baseBranch } = workspace
    const changes = await readChanges({ git, treeGit, workspace, baseBranch, from })
    if (changes.kind === 'base_not_found') return
    const told = await toldOf(changes, redaction)
    if (told.same === recorded) return
    await reporter.report(await changesEvent(blobs, { taskId: workspace.taskId, executionId }, told))
    stored += told.changes.files.length === 0 ? 0 : told.files.length
    recorded = told.same
  }

  function serialized(from: 'folder' | 'tree'): Promise<void> {
    const readNext = () => read(from)
    reading = reading.then(readNext, readNext)
    reading.catch(() => undefined)
    return reading
  }

  return {
    hide(more) {
      redaction = deps.redaction([...deps.secrets, ...more])
    },
    record: () => serialized('tree'),
    recordSoon() {
      if (stored >= deps.mostBytes) return
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

/** Changes without secrets, as they are recorded. */
interface ToldChanges {
  readonly changes: ReadChanges
  readonly files: Buffer
  /** Equal where there is nothing new to record. */
  readonly same: string
}

/** Takes the secrets out of changes. */
export async function toldOf(read: ReadChanges, redaction: Redaction): Promise<ToldChanges> {
  // The name of a branch is an agent's words, too.
  const changes = { ...read, currentBranch: await redaction.text(read.currentBranch) }
  const files = Buffer.from(JSON.stringify(await withoutSecrets(changes.files, redaction)))
  const same = createHash('sha256')
    .update(JSON.stringify([changes.currentBranch, changes.tree, summaryOf(changes)]))
    .update(files)
    .digest('hex')
  return { changes, files, same }
}

/** The event that tells of changes; their diff is kept as a blob. */
export async function changesEvent(
  blobs: SealedBlobs,
  { taskId, executionId }: { readonly taskId: string; readonly executionId: string },
  { changes, files }: ToldChanges,
) {
  const blob = changes.files.length === 0 ? null : await blobs.put(scopeOfStream(taskStream(taskId)), files)
  const { currentBranch, baseBranch, tree } = changes
  return WorkspaceChanged.of(
    { executionId, ...summaryOf(changes), blob },
    { currentBranch, baseBranch, tree },
  )
}

function summaryOf(changes: ReadChanges) {
  const { files, ahead, behind, truncated } = changes
  return {
    files: files.length,
    additions: files.reduce((sum, file) => sum + file.additions, 0),
    deletions: files.reduce((sum, file) => sum + file.deletions, 0),
    ahead,
    behind,
    truncated,
  }
}
