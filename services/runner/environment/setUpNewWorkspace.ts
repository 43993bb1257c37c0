/** Runs a project's setup in a new workspace of the default branch that has no task. */
import { randomUUID } from 'node:crypto'
import { defaultAgent } from '#domain/agents.ts'
import { projectsView } from '#domain/views/projects.ts'
import { usersView } from '#domain/views/users.ts'
import type { RecordingDeps } from '../deps.ts'
import type { Stopping } from '../execution/control.ts'
import { failed, outcomeOfFault, type Failed } from '../execution/failure.ts'
import { workspaceFor } from '../execution/prepareWorkspace.ts'
import { ownSecrets, valuesOf } from '../execution/taskSecrets.ts'
import { runOutput } from '../execution/recording/terminalOutput.ts'
import { refreshMirror } from '../execution/repositoryAccess.ts'
import { tellOfRepository } from '../execution/repositoryNotes.ts'
import type { ExecutionDeps } from '../execution/runTypes.ts'
import { sandboxEnvsOf } from '../execution/sandboxEnv.ts'
import { markAhead, removeAhead } from '../prewarm/preparedMarker.ts'
import { gitUntil } from '../workspace/git/git.ts'
import { environmentOf } from './environment.ts'
import { runSetup, type OfRebuild } from './setUpWorkspace.ts'

export interface Rebuild extends OfRebuild {
  readonly projectId: string
  /** The person whose access to the repository is used. */
  readonly ownerId: string
  readonly stop: Stopping
}

/** Records how the setup ends. If it does not begin, or breaks off with a fault, only returns why. Removes the workspace at the end. */
export async function setUpNewWorkspace(deps: ExecutionDeps, rebuild: Rebuild): Promise<Failed | undefined> {
  const taskId = randomUUID()
  try {
    await markAhead(deps.root, taskId)
    return await deps.locks.hold(taskId, () => setUp(deps, { ...rebuild, taskId }))
  } catch (fault) {
    if (rebuild.stop.signal.aborted) return failed('interrupted', 'The setup was stopped.')
    const outcome = outcomeOfFault(deps, fault)
    return outcome.kind === 'failed' ? outcome : failed('interrupted', 'The setup was stopped.')
  } finally {
    await removeAhead(deps, taskId).catch((fault: unknown) =>
      deps.logger.warn({ err: fault }, 'failed to remove the workspace of an environment'),
    )
  }
}

async function setUp(
  deps: ExecutionDeps,
  { projectId, ownerId, taskId, stop, ...rebuild }: Rebuild & { readonly taskId: string },
): Promise<Failed | undefined> {
  const noSpace = deps.disk.refusal()
  if (noSpace !== undefined) return failed('disk_full', noSpace)
  const [project, user] = await Promise.all([
    deps.documents.get(projectsView, projectId),
    deps.documents.get(usersView, ownerId),
  ])
  if (!project || !user) return failed('project_deleted', 'The project was deleted.')
  const { signal } = stop
  const refreshed = await refreshMirror(deps, { owner: ownerId, projectId }, { signal })
  if (refreshed.kind === 'failed') return refreshed
  const task = { id: taskId, projectId, branch: project.defaultBranch, title: '', workingBranch: null }
  const git = gitUntil(deps.git, signal)
  const prepared = await workspaceFor({ ...deps, git }, refreshed, { task, user })
  if (prepared.kind === 'failed') return prepared
  const { workspace } = prepared
  const { access } = refreshed
  const envs = await sandboxEnvsOf(deps, {
    projectId,
    agent: defaultAgent,
    workspace,
    repositoryUrl: access.url,
  })
  const by = { ownerId, projectId }
  const secrets = valuesOf([...envs.secrets, ...(await ownSecrets(deps, access, by))])
  const output = unshownOutput(deps, secrets)
  const run = { stopping: stop, output }
  const unwatch = deps.disk.watch({ taskId, stop })
  const stopReporting = deps.egress.onRefusalOf(
    taskId,
    (line) => void output.stderr.write(`${line}\n`).catch(() => undefined),
  )
  try {
    await tellOfRepository(deps, { run, workspace, envs, person: ownerId })
    const environment = await environmentOf(deps, { projectId, workspace, envs })
    if (!environment) return failed('clone_failed', 'The repository is empty, so there is nothing to set up.')
    deps.environments.notKept.delete(environment.key.setupAndLocks)
    await runSetup(deps, { run, projectId, workspace, envs, environment, rebuild })
    return undefined
  } finally {
    unwatch()
    stopReporting()
    await output.end()
  }
}

/** An output that no terminal shows. Only its end is recorded. */
function unshownOutput({ redaction }: Pick<RecordingDeps, 'redaction'>, secrets: readonly string[]) {
  const terminal = { append: async () => undefined, tell: () => undefined, head: () => null }
  const fence = { executionId: '', attempt: 0 }
  return runOutput(terminal, { fence, kind: 'turn', redaction: redaction(secrets) })
}
