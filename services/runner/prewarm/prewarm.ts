/**
 * Prewarming: starting things before they are needed. Agents wait after their turns for the next message; a workspace and an agent are prepared while
 * a person describes a task; and an agent's sandbox is opened while its workspace is made. `WARM_AGENTS=0` turns all of it off.
 */
import type { TaskDocument } from '#domain/views/tasks.ts'
import type { Rpc } from '#platform/ports/rpc.ts'
import type { AgentDeps, WorkspaceDeps } from '../deps.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { earlySandboxFor, type EarlyRequest, type EarlySandbox } from './earlySandbox.ts'
import { openPreparedWorkspaces } from './preparedWorkspaces.ts'
import type { WarmAgents } from './warmAgents.ts'

export interface Prewarm {
  readonly agents: WarmAgents
  /** The sandbox for a turn that is about to begin; `undefined` when prewarming is off. */
  earlySandbox(request: EarlyRequest): EarlySandbox | undefined
  adopt(task: TaskDocument): Promise<Workspace | undefined>
  /** Ends the preparation of a task's workspace early. A workspace that is made is kept for the task; one that is still being made is removed. */
  stopPreparing(taskId: string): void
  /** Ends the warm agents, and removes the prepared workspaces that no task has taken. */
  close(): Promise<void>
}

export interface PrewarmOptions {
  readonly agents: WarmAgents
  readonly isOn: boolean
  /** Whether this runner takes all jobs. With several runners, a task may go to another runner than the one that prepared its workspace. */
  readonly isAlone: boolean
  readonly rpc: Rpc
}

export async function openPrewarm(
  deps: WorkspaceDeps & AgentDeps,
  { agents, isOn, isAlone, rpc }: PrewarmOptions,
): Promise<Prewarm> {
  // Opened even when prewarming is off, to remove the workspaces that an earlier process prepared.
  const prepared = await openPreparedWorkspaces({ ...deps, agents })
  if (isOn && !isAlone)
    deps.logger.info(
      'no workspace is prepared before its task: several runners may share the queue, and another one may get the task',
    )
  const stopAnswering =
    isOn && isAlone
      ? rpc.handle('prepare', async (request) => ({
          kind: (await prepared.prepare(request)) ? 'begun' : 'left',
        }))
      : () => undefined
  return {
    agents,
    earlySandbox: (request) => (isOn ? earlySandboxFor(deps, request) : undefined),
    adopt: prepared.adopt,
    stopPreparing: prepared.stop,
    async close() {
      stopAnswering()
      await prepared.close()
      await agents.close()
    },
  }
}
