/**
 * Finds or makes the workspace of an execution: takes the workspace of a warm agent, one that was prepared ahead, an existing one, or a new one into
 * which the saved work is restored.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Fence } from '#domain/task/commands.ts'
import type { ExecutionKind } from '#domain/task/events.ts'
import { countingAt } from '#domain/task/restorePoints.ts'
import type { LiveTask } from '#domain/task/state.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import type { RecordingDeps, WorkspaceDeps } from '../deps.ts'
import type { Prewarm } from '../prewarm/prewarm.ts'
import { workingBranchName } from '../workspace/names.ts'
import type { Committer } from '../workspace/publish/commitIdentity.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { Stopping } from './control.ts'
import { failed, type Failed } from './failure.ts'
import { hasWorkToRestore, planWorkspace, type TaskFacts, type WorkspacePlan } from './planWorkspace.ts'
import { preparedEvent, readyWorkspace, type PreparingDeps, type ReadyWorkspace } from './prepareWorkspace.ts'
import type { Reporter } from './recording/reporter.ts'
import { runOutput } from './recording/terminalOutput.ts'
import type { TerminalWriter } from './recording/terminalWriter.ts'
import { reachRepository, refreshReached, type RepositoryAccess } from './repositoryAccess.ts'
import { recordRestored, restoreTask } from './restore.ts'
import type { ExecutionDeps } from './runTypes.ts'

export interface ExecutionWorkspace extends ReadyWorkspace {
  /** The session that the agent resumes; `null` for a new session. */
  readonly session: string | null
  /** Resolves when the workspace is recorded as prepared. No message may be delivered before that. */
  readonly recorded: Promise<void>
  /** Set when nothing of the task's work is in a workspace that was made for a task with earlier work. */
  readonly isOfBase?: true
}

const restored = "This task's workspace was recreated with its work as of the last turn."
const restoredEarlier =
  "This task's workspace was recreated with its work as of an earlier turn. Anything done after that may not have been saved."
const pushed = "This task's workspace was recreated from its branch, to which all of its work was pushed."
const merged =
  "This task's workspace was cleaned up after its pull request was merged. A new one begins at the base branch."
const lost = "This task's workspace was recreated. Work that was not pushed could not be restored."

type Deps = PreparingDeps &
  Pick<RecordingDeps, 'commands' | 'redaction'> &
  Pick<WorkspaceDeps, 'snapshots'> &
  Pick<ExecutionDeps, 'endSandboxes'> & {
    readonly prewarm: Pick<Prewarm, 'adopt'> & { readonly agents: Pick<Prewarm['agents'], 'workspaceOf'> }
  }

interface ExecutionSubject {
  readonly task: LiveTask
  readonly document: TaskDocument
  readonly user: Committer
  readonly fence: Fence
  readonly kind: ExecutionKind
  /** Opens a sandbox while the workspace is still being made. Only for the turn of an agent. */
  readonly early: ReturnType<Prewarm['earlySandbox']>
  /** The session that the agent of this execution had in the task. */
  readonly session: string | null
  readonly terminal: TerminalWriter
  readonly reporter: Reporter
  readonly stop: Stopping
}

/** A workspace with the task's files. The agent resumes its session only if the session and the files are from the end of the same turn. */
type Stage = (ReadyWorkspace & Pick<ExecutionWorkspace, 'isOfBase'> & { readonly resumes: boolean }) | Failed

export async function executionWorkspace(
  deps: Deps,
  subject: ExecutionSubject,
): Promise<ExecutionWorkspace | Failed> {
  const { document, fence, kind, reporter, early, task } = subject
  // A warm agent still remembers the turns that were undone, and programs that run could lead git out of the tree.
  if (task.pendingRestore !== null) await deps.endSandboxes(document.id)
  const canReuseWarm = kind === 'turn' && task.pendingRestore === null
  const warm = canReuseWarm ? await warmWorkspaceOf(deps, document) : undefined
  const { signal } = subject.stop
  const stage = warm
    ? await useWarm(deps, subject, warm)
    : await deps.workspaces.removingLeftovers(
        { taskId: document.id, signal, close: early?.close },
        async () => {
          const made = await makeOrRestore(deps, subject)
          // A workspace is marked as complete on disk only once the work is in it, and is reported as prepared only after that. So a run that ends
          // earlier starts again from the same state. After the report, the task no longer counts as cleaned up after a merge.
          if (made.kind === 'ready' && made.isNew && hasWorkToRestore(factsOf(subject)))
            await deps.workspaces.complete(made.workspace)
          return made
        },
      )
  if (stage.kind === 'failed') return stage
  // A warm workspace that the task already had was reported by an earlier run.
  const recorded =
    warm && document.workspace === 'ready'
      ? Promise.resolve()
      : reporter.report(preparedEvent(stage.workspace, fence.executionId))
  // The run awaits `recorded` later.
  recorded.catch(() => undefined)
  const { resumes, ...ready } = stage
  return { ...ready, session: resumes ? subject.session : null, recorded }
}

/** The workspace in which a warm agent of this task waits or, for a task that had no workspace yet, the one that was prepared ahead. */
async function warmWorkspaceOf({ prewarm }: Deps, task: TaskDocument) {
  if (task.workspace === 'ready') return prewarm.agents.workspaceOf(task.id)
  // A workspace that was prepared ahead begins at the head of its branch, which is wrong for a task with a start commit.
  return task.startCommit == null ? prewarm.adopt(task) : undefined
}

/**
 * Uses a workspace that is ready. The mirror is refreshed during the turn, and the turn is stopped if the person can no longer access the repository.
 */
async function useWarm(deps: Deps, { document, stop }: ExecutionSubject, warm: Workspace): Promise<Stage> {
  const reached = await reachRepository(deps, document)
  if (reached.kind === 'failed') return reached
  const settle = refreshBeside(deps, reached, stop)
  const { title, id, workingBranch } = document
  const workspace =
    document.workspace === 'ready'
      ? warm
      : // The workspace was made before the task had a title, so its branch gets another name.
        await deps.workspaces.renameBranch(warm, workingBranch ?? workingBranchName(title, id))
  const found = { workspace, isNew: false, isOnPushedBranch: false, resumes: true }
  return { ...reached, kind: 'ready', ...found, settle }
}

/** How long the fetch during a turn is delayed, so that starting git does not delay the agent's first words. */
const fetchAfterMs = 250

/** Refreshes the mirror in the background. The returned function aborts the refresh and waits for its end. */
function refreshBeside(deps: Deps, reached: RepositoryAccess, stop: Stopping): () => Promise<void> {
  const isOver = new AbortController()
  const refresh = async () => {
    const signal = AbortSignal.any([isOver.signal, stop.signal])
    await delay(fetchAfterMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    const refreshed = await refreshReached(deps, reached, { signal })
    if (refreshed.kind === 'ready' || isOver.signal.aborted) return
    if (refreshed.isAccessUnknown) throw new Error(refreshed.reason)
    stop.stop('no_access', refreshed.reason)
  }
  const refreshing = refresh().catch((fault: unknown) =>
    deps.logger.warn({ err: fault }, 'failed to refresh the mirror'),
  )
  return () => {
    isOver.abort()
    return refreshing
  }
}

const factsOf = ({ document, task }: ExecutionSubject): TaskFacts => ({
  pendingRestore: task.pendingRestore?.reason ?? null,
  hadWorkspace: document.workspace === 'ready',
  hasSnapshot: task.saved !== null,
  isMerged: task.cleanUp.work === 'merged',
})

/**
 * Makes the workspace and restores the saved work. Meanwhile, a new workspace counts as incomplete, so that an interrupted restore never looks
 * finished.
 */
async function makeOrRestore(deps: Deps, subject: ExecutionSubject): Promise<Stage> {
  const { task, document, user, fence, reporter, early, stop, terminal } = subject
  const facts = factsOf(subject)
  const isToBeRestored = hasWorkToRestore(facts)
  // Even before a command, output of the preparation is recorded as if it came from a turn.
  const booting = runOutput(terminal, { fence, kind: 'turn', redaction: deps.redaction([]) })
  const make = () =>
    readyWorkspace(deps, {
      // Once its work was merged, a task begins at the tip of the base branch. Its start commit and its earlier base commit no longer count.
      task: facts.isMerged ? { ...document, startCommit: null } : { ...document, lastBase: task.baseCommit },
      user,
      executionId: fence.executionId,
      reporter,
      output: booting.stdout,
      early,
      signal: stop.signal,
      isToBeRestored,
    })
  const discard = async () => {
    await early?.close()
    await deps.workspaces.discard(task.taskId)
  }
  try {
    for (let isRemade = false; ; isRemade = true) {
      const ready = await make()
      if (ready.kind === 'failed') return ready
      const branchHasEvictedWork =
        ready.isNew && isToBeRestored && (await deps.workspaces.branchHasEvictedWork(task, ready))
      const plan = planWorkspace(facts, { ...ready, branchHasEvictedWork })
      if (plan !== 'recreate')
        return await carryOut(deps, plan, { task, ready, make, discard, say: booting.stderr.write })
      if (isRemade) throw new Error('A workspace that was just made is new.')
      await discard()
    }
  } finally {
    await booting.end()
  }
}

async function carryOut(
  deps: Deps,
  plan: Exclude<WorkspacePlan, 'recreate'>,
  {
    task,
    ready,
    make,
    discard,
    say,
  }: {
    readonly task: LiveTask
    readonly ready: ReadyWorkspace
    readonly make: () => Promise<ReadyWorkspace | Failed>
    readonly discard: () => Promise<void>
    /** Writes a line to the terminal. */
    readonly say: (line: string) => unknown
  },
): Promise<Stage> {
  const { workspace } = ready
  switch (plan) {
    case 'reuse':
    case 'create':
      return { ...ready, resumes: true }
    case 'restore_in_place': {
      const done = await restoreTask(deps, task, workspace)
      if (done.kind === 'failed') return done
      await recordRestored(deps, task, done.kept, null)
      return { ...ready, resumes: done.resumes }
    }
    case 'continue_from_branch':
      await say(`${pushed}\n`)
      return { ...ready, resumes: true }
    case 'start_after_merge': {
      const resumes = await deps.snapshots.restoreSession(task, workspace)
      await say(`${merged}\n`)
      return { ...ready, resumes, isOfBase: true }
    }
    case 'restore_moment': {
      const work = await deps.snapshots.restore(task, workspace)
      // The person asked for the files from the end of a certain turn. If they cannot be restored, the run fails.
      if (work.kind === 'unusable' || (work.kind === 'nothing_saved' && task.saved !== null)) {
        await discard()
        const gone = 'The saved files of that turn are gone or damaged.'
        return failed('restore_failed', work.kind === 'unusable' ? work.why : gone)
      }
      await recordRestored(deps, task, [], null)
      return { ...ready, resumes: work.kind === 'restored' && work.resumes }
    }
    case 'restore_snapshot': {
      const work = await deps.snapshots.restore(task, workspace)
      const told = isOfLastTurn(task) ? restored : restoredEarlier
      await say(`${work.kind === 'restored' ? told : lost}\n`)
      if (work.kind !== 'unusable') return { ...ready, resumes: work.kind === 'restored' && work.resumes }
      deps.logger.warn({ taskId: task.taskId, why: work.why }, 'failed to restore saved work')
      await discard()
      const remade = await make()
      return remade.kind === 'failed' ? remade : { ...remade, resumes: false }
    }
  }
}

/** Whether the saved work is that of the last turn or command before the one that runs. */
function isOfLastTurn({ restorePoints: { points, at }, saved }: LiveTask): boolean {
  const [, last] = countingAt(points, at)
  return last === undefined || last.snapshot?.work === saved?.work
}
