/** Rebuilds an environment when a person asks for it: runs the project's setup in a new workspace of the default branch, without a task. */
import { randomUUID } from 'node:crypto'
import { defaultAgent } from '#domain/agents.ts'
import { ProjectEnvironmentFailed, ProjectEnvironmentStarted } from '#domain/project/environmentEvents.ts'
import { projectsView } from '#domain/views/projects.ts'
import { usersView } from '#domain/views/users.ts'
import type { RpcRequest, RpcResponse } from '#platform/ports/rpc.ts'
import type { RecordingDeps } from '../deps.ts'
import { failed, outcomeOfFault } from '../execution/failure.ts'
import { stopping, type Stopping } from '../execution/control.ts'
import { workspaceFor } from '../execution/prepareWorkspace.ts'
import { ownSecrets, settingsOf, valuesOf } from '../execution/projectSecrets.ts'
import { runOutput } from '../execution/recording/terminalOutput.ts'
import { refreshMirror } from '../execution/repositoryAccess.ts'
import { tellOfRepository } from '../execution/repositoryNotes.ts'
import type { ExecutionDeps } from '../execution/run.ts'
import { sandboxEnvsOf } from '../execution/sandboxEnv.ts'
import { markAhead, removeAhead } from '../prewarm/preparedMarker.ts'
import { gitUntil } from '../workspace/git/git.ts'
import { environmentOf } from './environment.ts'
import { removeHalfMade } from './layers.ts'
import { recordEnvironment, runSetup } from './setUpWorkspace.ts'

type Request = RpcRequest<'rebuildEnvironment'>

export interface Rebuilds {
  /** Begins a rebuild, unless another rebuild of the project is under way. */
  begin(request: Request): Promise<RpcResponse<'rebuildEnvironment'>>
  /** Ends all rebuilds, and resolves when their workspaces are removed. */
  close(): Promise<void>
}

/** The most rebuilds at once, since each takes as much of the machine as a task. */
const maxAtOnce = 2

/** Makes the collection of rebuilds, and removes layers that a killed process did not finish. */
export async function openRebuilds(deps: ExecutionDeps): Promise<Rebuilds> {
  for (const projectId of await removeHalfMade(deps))
    await recordEnvironment(deps, projectId, failure('The server stopped before the setup came to its end.'))
  const running = new Map<string, { readonly stop: Stopping; readonly done: Promise<void> }>()
  return {
    async begin(request) {
      const { projectId } = request
      const { sandbox } = deps
      if ('missing' in sandbox || sandbox.kind === 'none') return { kind: 'no_sandbox', position: null }
      if (running.has(projectId)) return { kind: 'begun', position: null }
      if (running.size >= maxAtOnce) return { kind: 'busy', position: null }
      const stop = stopping()
      const beginning = start(deps, projectId)
      const done = beginning
        .then(({ kind }) => (kind === 'begun' ? rebuild(deps, request, stop) : undefined))
        .catch(() => undefined)
        .finally(() => running.delete(projectId))
      running.set(projectId, { stop, done })
      return beginning
    },
    async close() {
      for (const { stop } of running.values()) stop.stop('stopping')
      await Promise.all([...running.values()].map(({ done }) => done))
    },
  }
}

async function start(deps: ExecutionDeps, projectId: string): Promise<RpcResponse<'rebuildEnvironment'>> {
  const { settings } = await settingsOf(deps, projectId)
  if (settings.setupCommand.trim() === '') return { kind: 'no_setup', position: null }
  const position = await recordEnvironment(
    deps,
    projectId,
    ProjectEnvironmentStarted.of({ trigger: 'rebuild' }),
  )
  return { kind: 'begun', position }
}

/** Does one rebuild. Never rejects: whatever happens is recorded. */
async function rebuild(deps: ExecutionDeps, request: Request, stop: Stopping): Promise<void> {
  const taskId = randomUUID()
  try {
    await markAhead(deps.root, taskId)
    const unready = await deps.locks.hold(taskId, () => setUpNewWorkspace(deps, { ...request, taskId }, stop))
    if (unready) await recordEnvironment(deps, request.projectId, failure(unready.reason))
  } catch (fault) {
    const outcome = outcomeOfFault(deps, fault)
    const reason = outcome.kind === 'failed' ? outcome.reason : 'The setup was stopped.'
    await recordEnvironment(deps, request.projectId, failure(reason))
  } finally {
    await removeAhead(deps, taskId).catch((fault: unknown) =>
      deps.logger.warn({ err: fault }, 'failed to remove the workspace of an environment'),
    )
  }
}

const failure = (reason: string) =>
  ProjectEnvironmentFailed.of({ code: 'interrupted', usesEarlier: false }, { reason, log: '' })

/** Makes a workspace and runs the project's setup in it. The setup records its own outcome. Returns a failure if the setup could not begin. */
async function setUpNewWorkspace(
  deps: ExecutionDeps,
  { projectId, ownerId, taskId }: Request & { readonly taskId: string },
  stop: Stopping,
) {
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
  const stopHearing = deps.egress.hear(
    taskId,
    (line) => void output.stderr.write(`${line}\n`).catch(() => undefined),
  )
  try {
    await tellOfRepository(deps, { run, workspace, envs, person: ownerId })
    const environment = await environmentOf(deps, { projectId, workspace, envs })
    if (!environment) return failed('clone_failed', 'The repository is empty, so there is nothing to set up.')
    deps.environments.notKept.delete(environment.key.whole)
    await runSetup(deps, { run, projectId, workspace, envs, environment, trigger: 'rebuild' })
    return undefined
  } finally {
    unwatch()
    stopHearing()
    await output.end()
  }
}

/** An output that is shown in no terminal. Only the end of it is recorded. */
function unshownOutput({ redaction }: Pick<RecordingDeps, 'redaction'>, secrets: readonly string[]) {
  const terminal = { append: async () => undefined, tell: () => undefined, head: () => null }
  const fence = { executionId: '', attempt: 0 }
  return runOutput(terminal, { fence, kind: 'turn', redaction: redaction(secrets) })
}
