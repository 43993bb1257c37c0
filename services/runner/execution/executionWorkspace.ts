/** The workspace of an execution: one with a warm agent, one that exists, or one that is made, with the saved work restored into it. */
import type { Fence } from '#domain/task/commands.ts'
import type { ExecutionKind } from '#domain/task/events.ts'
import type { LiveTask } from '#domain/task/state.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import type { RecordingDeps } from '../deps.ts'
import type { EarlySandbox } from '../prewarm/earlySandbox.ts'
import type { Prewarm } from '../prewarm/prewarm.ts'
import type { WarmAgents } from '../prewarm/warmAgents.ts'
import { discardWorkspace, madeWhole } from '../workspace/incomplete.ts'
import { completeWorkspace } from '../workspace/workspace.ts'
import { failed, type Failed } from './failure.ts'
import {
  prepare,
  preparedEvent,
  prepareWarmWorkspace,
  type Committer,
  type PreparingDeps,
  type ReadyWorkspace,
} from './prepareWorkspace.ts'
import type { Reporter } from './recording/reporter.ts'
import {
  goesOnAsEvicted,
  restoreSavedWork,
  restoreSession,
  type RestoredWork,
} from './recording/savedWork.ts'
import { hasWorkToRestore, planWorkspace, type TaskFacts, type WorkspacePlan } from './planWorkspace.ts'
import { recordRestored, restoreTask } from './restore.ts'
import { runOutput } from './recording/terminalOutput.ts'
import type { TerminalWriter } from './recording/terminalWriter.ts'
import type { Stopping } from './control.ts'

export interface ExecutionWorkspace extends ReadyWorkspace {
  /** The session that the agent resumes; `null`: a new one. */
  readonly session: string | null
}

const restored = "This task's workspace was recreated with its work as of the last turn."
const pushed = "This task's workspace was recreated from its branch, to which all of its work was pushed."
const merged =
  "This task's workspace was cleaned up after its pull request was merged. A new one begins at the base branch."
const lost = "This task's workspace was recreated. Work that was not pushed could not be restored."

/** What an execution's workspace is made and restored with. */
type Deps = PreparingDeps &
  Pick<RecordingDeps, 'blobs' | 'commands' | 'redaction'> & {
    readonly prewarm: Pick<Prewarm, 'adopt'> & { readonly agents: Pick<WarmAgents, 'drop' | 'workspaceOf'> }
  }

interface ExecutionSubject {
  readonly task: LiveTask
  readonly document: TaskDocument
  readonly user: Committer
  readonly fence: Fence
  readonly kind: ExecutionKind
  /** For the turn of an agent. */
  readonly early: EarlySandbox | undefined
  /** The session that the agent of this execution had in the task. */
  readonly session: string | null
  readonly terminal: TerminalWriter
  readonly reporter: Reporter
  readonly stop: Stopping
}

export async function executionWorkspace(
  deps: Deps,
  subject: ExecutionSubject,
): Promise<ExecutionWorkspace | Failed> {
  const { document, fence, kind, reporter, stop, session } = subject
  const { executionId } = fence
  // A warm agent still remembers the turns that were undone.
  if (subject.task.pendingRestore !== null) await deps.prewarm.agents.drop(document.id)
  const canReuseWarm = kind === 'turn' && subject.task.pendingRestore === null
  const warm = canReuseWarm ? await warmWorkspaceOf(deps, document) : undefined
  if (warm) {
    const ready = await prepareWarmWorkspace(deps, {
      task: document,
      workspace: warm,
      executionId,
      reporter,
      stop,
    })
    return ready.kind === 'failed' ? ready : { ...ready, session }
  }
  const { signal } = stop
  const ready = await madeWhole(
    deps,
    { taskId: document.id, signal, close: subject.early?.close },
    async () => {
      const made = await makeOrRestore(deps, subject)
      // The order matters: restored, complete on disk, then reported as prepared, which makes the log forget the merge. A run that ends earlier is
      // repeated from the same state.
      if (made.kind === 'ready' && made.isNew && hasWorkToRestore(factsOf(subject)))
        await completeWorkspace(deps.root, made.workspace)
      return made
    },
  )
  if (ready.kind === 'failed') return ready
  await reporter.report(preparedEvent(ready.workspace, executionId))
  return ready
}

const factsOf = ({ document, task }: ExecutionSubject): TaskFacts => ({
  pendingRestore: task.pendingRestore?.reason ?? null,
  hadWorkspace: document.workspace === 'ready',
  hasSnapshot: task.saved !== null,
  isMerged: task.cleanUp.work === 'merged',
})

/** A new workspace stays incomplete while it is restored, so that an interrupted restore never looks finished. */
async function makeOrRestore(deps: Deps, subject: ExecutionSubject): Promise<ExecutionWorkspace | Failed> {
  const { task, document, user, fence, reporter, early, stop, terminal } = subject
  const facts = factsOf(subject)
  // Output from preparing the workspace is always recorded as a turn's, also before a command.
  const booting = runOutput(terminal, { fence, kind: 'turn', redaction: deps.redaction([]) })
  const preparing = {
    // The start commit of an alternative and the earlier base commit count only until the work was merged.
    task: facts.isMerged ? { ...document, startCommit: null } : { ...document, lastBase: task.baseCommit },
    user,
    executionId: fence.executionId,
    reporter,
    output: booting.stdout,
    early,
    signal: stop.signal,
    isToBeRestored: hasWorkToRestore(facts),
  }
  const discard = async () => {
    await early?.close()
    await discardWorkspace(deps.root, task.taskId, deps.path)
  }
  const remake = async () => {
    await discard()
    return prepare(deps, preparing)
  }
  const planFor = async ({ isNew, isOnPushedBranch, workspace }: ReadyWorkspace) => {
    const hasEvictedWork =
      isNew && hasWorkToRestore(facts) && (await goesOnAsEvicted(deps, task, { workspace, isOnPushedBranch }))
    return planWorkspace(facts, { isNew, isOnPushedBranch, hasEvictedWork })
  }
  try {
    let ready = await prepare(deps, preparing)
    if (ready.kind === 'failed') return ready
    let plan = await planFor(ready)
    if (plan === 'recreate') {
      ready = await remake()
      if (ready.kind === 'failed') return ready
      plan = await planFor(ready)
    }
    return await carryOut(deps, plan, { ...subject, ready, discard, remake, say: booting.stderr.write })
  } finally {
    await booting.end()
  }
}

interface Planned extends ExecutionSubject {
  readonly ready: ReadyWorkspace
  readonly discard: () => Promise<void>
  readonly remake: () => Promise<ReadyWorkspace | Failed>
  /** Says a line in the terminal. */
  readonly say: (line: string) => unknown
}

async function carryOut(
  deps: Deps,
  plan: WorkspacePlan,
  { task, ready, session, discard, remake, say }: Planned,
): Promise<ExecutionWorkspace | Failed> {
  switch (plan) {
    case 'reuse':
    case 'create':
      return { ...ready, session }
    case 'restore_in_place':
      return restoreExisting(deps, task, ready, session)
    case 'recreate':
      throw new Error('A workspace that was just made is new.')
    case 'continue_from_branch':
      await say(`${pushed}\n`)
      return { ...ready, session }
    case 'start_after_merge': {
      const whose = await restoreSession(deps, task, ready.workspace)
      await say(`${merged}\n`)
      return { ...ready, session: whose === null ? null : session }
    }
    case 'restore_moment': {
      const work = await restoreSavedWork(deps, task, ready.workspace)
      return restoredMoment(deps, { task, ready, work, session, discard })
    }
    case 'restore_snapshot': {
      const work = await restoreSavedWork(deps, task, ready.workspace)
      await say(`${work.kind === 'restored' ? restored : lost}\n`)
      if (work.kind === 'restored') return { ...ready, session: work.session === null ? null : session }
      if (work.kind === 'nothing_saved') return { ...ready, session: null }
      deps.logger.warn({ taskId: task.taskId, why: work.why }, 'failed to restore saved work')
      const remade = await remake()
      return remade.kind === 'failed' ? remade : { ...remade, session: null }
    }
  }
}

/** Brings an existing workspace to the files that an undo goes back to. */
async function restoreExisting(
  deps: Deps,
  task: LiveTask,
  ready: ReadyWorkspace,
  session: string | null,
): Promise<ExecutionWorkspace | Failed> {
  const done = await restoreTask(deps, task, ready.workspace)
  if (done.kind === 'failed') return done
  await recordRestored(deps, task, done.kept, null)
  return { ...ready, session: done.resumes ? session : null }
}

/**
 * Checks that a new workspace got the snapshot that a fork or an undo asks for. If not, the run fails: files of another moment are not what was
 * asked for.
 */
async function restoredMoment(
  deps: Deps,
  {
    task,
    ready,
    work,
    session,
    discard,
  }: {
    readonly task: LiveTask
    readonly ready: ReadyWorkspace
    readonly work: RestoredWork
    readonly session: string | null
    readonly discard: () => Promise<void>
  },
): Promise<ExecutionWorkspace | Failed> {
  if (work.kind === 'unusable') {
    await discard()
    return failed('restore_failed', work.why)
  }
  if (work.kind === 'nothing_saved' && task.saved !== null) {
    await discard()
    return failed('restore_failed', 'The saved files of that turn are gone or damaged.')
  }
  await recordRestored(deps, task, [], null)
  const resumes = work.kind === 'restored' && work.session !== null
  return { ...ready, session: resumes ? session : null }
}

/** The workspace with a warm agent of this task, or the one that was prepared before the task. */
async function warmWorkspaceOf({ prewarm }: Deps, task: TaskDocument) {
  if (task.workspace === 'ready') return prewarm.agents.workspaceOf(task.id)
  // A workspace that was prepared ahead begins at the head of its branch.
  return task.startCommit == null ? prewarm.adopt(task) : undefined
}
