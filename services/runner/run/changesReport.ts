/** What a task changed, read from its workspace and recorded: the summary in the event, the diff as a blob. */
import { createHash } from 'node:crypto'
import { scopeOfStream, taskStream } from '#domain/kernel/ids.ts'
import { WorkspaceChanged } from '#domain/task/events.ts'
import type { SealedBlobs } from '#platform/commands/sealedBlobs.ts'
import { readChanges, type Changes } from '../workspace/changes.ts'
import type { Git } from '../workspace/git.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Reporter } from './reporter.ts'
import { withoutSecrets } from './secrets.ts'
import type { Redaction } from '../output/redaction.ts'

export interface ChangesReport {
  /** Takes these out of every diff from now on, too. */
  hide(secrets: readonly string[]): void
  /** Reads and records the changes now; nothing is recorded when they are what was recorded last. */
  record(): Promise<void>
  /** The same soon, and at most every two seconds: for a run that goes on. A fault is left for the next time. */
  recordSoon(): void
  /** No more by itself; resolves when nothing is being read. */
  stop(): Promise<void>
}

const intervalMs = 2_000

export function changesReport(parts: {
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
  const { git, treeGit, workspace, executionId, blobs, reporter } = parts
  const scope = scopeOfStream(taskStream(workspace.taskId))
  let redaction = parts.redaction(parts.secrets)
  let recorded = ''
  let stored = 0
  let reading: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  async function read(): Promise<void> {
    const changes = await readChanges({ git, treeGit, workspace, baseBranch: workspace.baseBranch })
    if (changes.kind === 'base_not_found') return
    const shown = await withoutSecrets(changes.files, redaction)
    const files = Buffer.from(JSON.stringify(shown))
    const summary = summaryOf(changes)
    const same = createHash('sha256').update(JSON.stringify(summary)).update(files).digest('hex')
    if (same === recorded) return
    const blob = changes.files.length === 0 ? null : await blobs.put(scope, files)
    stored += blob === null ? 0 : files.length
    const { currentBranch, baseBranch } = changes
    await reporter.report(
      WorkspaceChanged.of({ executionId, ...summary, blob }, { currentBranch, baseBranch }),
    )
    recorded = same
  }

  function record(): Promise<void> {
    reading = reading.then(read, read)
    reading.catch(() => undefined)
    return reading
  }

  return {
    hide(more) {
      redaction = parts.redaction([...parts.secrets, ...more])
    },
    record,
    recordSoon() {
      if (stored >= parts.mostBytes) return
      timer ??= setTimeout(() => {
        timer = undefined
        record().catch(() => undefined)
      }, intervalMs)
    },
    async stop() {
      clearTimeout(timer)
      await reading.catch(() => undefined)
    },
  }
}

function summaryOf(changes: Extract<Changes, { kind: 'changes' }>) {
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
