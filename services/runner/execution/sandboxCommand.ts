/** Shell commands in a task's sandbox: those of people, and our own. Their output goes to the task's terminal. */
import { chown, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import type { ExecutionOutcome } from '#domain/task/commands.ts'
import { CommandOutputRecorded } from '#domain/task/events.ts'
import { commandEnd } from '../agents/terminalLines.ts'
import type { AgentDeps, WorkspaceDeps } from '../deps.ts'
import type { SandboxedProcess, SandboxExit } from '../sandbox/port.ts'
import { removeFolder } from '../workspace/agentFiles.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { failed, outcomeOfStop } from './failure.ts'
import type { Run } from './runTypes.ts'
import { commandLimits, timeInWords } from './runLimits.ts'
import type { SandboxEnv, SandboxEnvs } from './sandboxEnv.ts'
import { shellLine } from './shellLine.ts'

export type CommandDeps = Pick<AgentDeps, 'sandbox' | 'limits'> & Pick<WorkspaceDeps, 'path' | 'limit'>

/** The parts of a run that a command in a sandbox needs. */
export type CommandRun = Pick<Run, 'stopping' | 'output'>

/** A run with its workspace and the environments of its sandboxes. */
export interface PreparedRun<R extends CommandRun = Run> {
  readonly run: R
  readonly workspace: Workspace
  readonly envs: SandboxEnvs
  /** The id of the person whose access is used to fetch other repositories, such as submodules. */
  readonly person: string
}

interface SandboxCommand<R extends CommandRun = CommandRun> {
  readonly run: R
  readonly workspace: Workspace
  readonly command: string
  readonly sandboxEnv: SandboxEnv
  /** The longest time that a command may run, in milliseconds. */
  readonly longestMs: number
  /** Called when the command has succeeded, before its home is removed. `ofCommand` is the workspace with the home of the command. */
  readonly beforeHomeGoes?: (ofCommand: Workspace) => Promise<void> | undefined
}

/** Runs a person's command. The end of its output is recorded with the message in which the person wrote the command. Throws `Evicted`. */
export async function runShellCommand(
  deps: CommandDeps,
  { messageId, ...command }: Omit<SandboxCommand<Run>, 'longestMs'> & { readonly messageId: string },
): Promise<ExecutionOutcome> {
  const { longestMs } = deps.limits
  const { fence, output, reporter } = command.run
  const last = output.keepLast()
  const ran = await runInSandbox(deps, { ...command, longestMs })
  const printed = await last()
  if (printed !== '') {
    const { executionId } = fence
    await reporter.report(CommandOutputRecorded.of({ executionId, messageId }, { output: printed }))
  }
  if (ran.kind !== 'ended') return ran
  const { exit } = ran
  if (exit.reason === 'time_limit')
    return failed('time_limit', `The command was stopped after ${timeInWords(longestMs)}.`)
  if (exit.reason === 'memory_limit')
    return failed('memory_limit', 'The command used more memory than a run is allowed.')
  return { kind: 'completed', exitCode: exit.code ?? 1 }
}

type Ran = { readonly kind: 'ended'; readonly exit: SandboxExit } | ExecutionOutcome

/** Runs a command to its end. Returns how it ended, or the outcome of a run that has no sandbox or was stopped. Throws `Evicted`. */
export async function runInSandbox(
  deps: CommandDeps,
  { run, workspace, command, sandboxEnv, longestMs, beforeHomeGoes }: SandboxCommand,
): Promise<Ran> {
  const { sandbox } = deps
  if ('missing' in sandbox) return failed('no_box', sandbox.missing)
  // Prints the command in bold, like the commands of an agent.
  await run.output.note(`\u001B[1m$ ${command}\u001B[0m\n`)
  const env = await sandboxEnv.open()
  try {
    return await withCommandHome(deps, workspace, async (ofCommand) => {
      const line = shellLine(command)
      const child = sandbox.run({
        command: env.command(line.command, 'reachable'),
        env: { ...env.env, ...line.env, TERM: 'xterm-256color' },
        workspace: ofCommand,
        readOnly: env.readOnly,
        sockets: env.sockets,
        ownPorts: env.ownPorts,
        stdin: 'ignore',
        limits: commandLimits({ ...deps.limits, longestMs }),
      })
      const ran = await followCommand(child, run)
      if (ran.kind === 'ended' && ran.exit.code === 0) await beforeHomeGoes?.(ofCommand)
      return ran
    })
  } finally {
    await env.close()
  }
}

/**
 * Calls `use` with a workspace whose home is only for one command: empty at its start, removed at its end. The agent's home is never used, because an
 * agent may have written settings of git or of a shell there, which would run with the command's secrets. When `use` has ended, no process of the
 * command may be left.
 */
export async function withCommandHome<T>(
  { path, limit }: Pick<CommandDeps, 'path' | 'limit'>,
  workspace: Workspace,
  use: (workspace: Workspace) => Promise<T>,
  name = 'command-home',
): Promise<T> {
  const { taskId, dir, owner } = workspace
  // `homeDir` is beside the tree, so that it counts towards the workspace's size and is removed with the workspace.
  const homeDir = join(dirname(dir), name)
  // A server that was killed may have left this folder.
  await removeFolder(homeDir, path)
  await mkdir(homeDir, { mode: 0o700 })
  try {
    if (owner) {
      await limit.hold(taskId, owner, [homeDir])
      await chown(homeDir, owner.uid, owner.gid)
    }
    return await use({ ...workspace, homeDir })
  } finally {
    await removeFolder(homeDir, path)
  }
}

const interruptMs = 5_000

/**
 * Records the output of a command until its end. Ends the command when the run is stopped. If the run was cancelled, the command is interrupted
 * first.
 */
async function followCommand(child: SandboxedProcess, { stopping, output }: CommandRun): Promise<Ran> {
  const { signal, reason } = stopping
  const onStop = () => {
    const isCancelled = reason() === 'cancelled'
    if (isCancelled) child.interrupt()
    setTimeout(() => child.kill(), isCancelled ? interruptMs : 0).unref()
  }
  if (signal.aborted) onStop()
  else signal.addEventListener('abort', onStop, { once: true })
  try {
    await Promise.all([
      drain(child.stdout, (chunk) => output.stdout.write(chunk)),
      drain(child.stderr, (chunk) => output.stderr.write(chunk)),
    ])
    const exit = await child.exited
    await output.note(commandEnd(exit.code))
    return outcomeOfStop(stopping) ?? { kind: 'ended', exit }
  } finally {
    signal.removeEventListener('abort', onStop)
    child.kill()
    await child.exited
  }
}

/** Reads a stream to its end, no faster than its output is recorded. */
async function drain(stream: Readable, take: (chunk: Buffer) => Promise<void>): Promise<void> {
  for await (const chunk of stream) await take(Buffer.from(chunk))
}
