/** The sandbox of a person's shell: the open one of the task's agent, or else a new one for the same workspace. */
import { Fault } from '#domain/kernel/errors.ts'
import { longestShellMs } from '#domain/task/shells.ts'
import { relayVariables, withNetwork } from '../egress/sandboxEgress.ts'
import { commandLimits } from '../execution/runLimits.ts'
import { withCommandHome } from '../execution/sandboxCommand.ts'
import type { SandboxEnvs } from '../execution/sandboxEnv.ts'
import type { SandboxedProcess } from '../sandbox/port.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { ShellDeps } from './shellDeps.ts'

export interface ShellSandbox {
  readonly process: SandboxedProcess
  /** Whether it is the agent's sandbox. If not, it has its own home, processes and ports, and shares only the workspace. */
  readonly isShared: boolean
  readonly env: Readonly<Record<string, string>>
  /** Ends the sandbox, unless it is the agent's. */
  close(): Promise<void>
}

/** Throws `Fault` or `CannotStart` when no sandbox can be opened. */
export async function shellSandbox(
  deps: ShellDeps,
  workspace: Workspace,
  envs: SandboxEnvs,
): Promise<ShellSandbox> {
  const ofAgent = deps.sandboxOfAgent(workspace.taskId)
  if (ofAgent && ofAgent.isToBegin !== true)
    return {
      process: ofAgent,
      isShared: true,
      env: withNetwork(
        Object.fromEntries(envs.variables.map(({ name, value }) => [name, value])),
        // Without a sandbox, there is no relay.
        'kind' in deps.sandbox && deps.sandbox.kind === 'none' ? {} : relayVariables(),
      ),
      close: async () => undefined,
    }
  // While this holds the lock, nobody else removes or replaces the workspace.
  const own = await deps.locks.holdIfFree(workspace.taskId, () => ownSandbox(deps, workspace, envs))
  if (!own) throw new Fault('task_running', 'The files of this task are in use. Try again in a moment.')
  return own
}

async function ownSandbox(deps: ShellDeps, workspace: Workspace, envs: SandboxEnvs): Promise<ShellSandbox> {
  const { sandbox } = deps
  if ('missing' in sandbox) throw new Fault('agent_unavailable', sandbox.missing)
  const env = await envs.forCommands.open()
  let start: (child: SandboxedProcess) => void = () => undefined
  const started = new Promise<SandboxedProcess>((resolve) => (start = resolve))
  const running = withCommandHome(
    deps,
    workspace,
    async (ofShell) => {
      const process = sandbox.run({
        command: env.command(['/bin/sleep', 'infinity'], 'reachable'),
        env: env.env,
        workspace: ofShell,
        readOnly: env.readOnly,
        sockets: env.sockets,
        ownPorts: env.ownPorts,
        stdin: 'ignore',
        limits: commandLimits({ ...deps.limits, longestMs: longestShellMs }),
      })
      process.stdout.resume()
      process.stderr.resume()
      start(process)
      await process.exited
    },
    'shell-home',
  ).finally(() => env.close())
  // `running` settles first only if the start failed.
  const child = await Promise.race([started, running])
  const ended = running.catch((fault: unknown) =>
    deps.logger.warn({ err: fault, taskId: workspace.taskId }, 'failed to remove the home of a shell'),
  )
  if (!child) throw new Fault('agent_unavailable', 'The sandbox of the shell ended at once.')
  return {
    process: child,
    isShared: false,
    env: env.env,
    async close() {
      child.kill()
      await ended
    },
  }
}
