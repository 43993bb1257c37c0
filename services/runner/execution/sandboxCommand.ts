/** A line of shell in the task's box, with what it prints in the task's terminal. */
import type { Readable } from 'node:stream'
import type { ExecutionOutcome } from '#domain/task/commands.ts'
import type { RunnerDeps } from '../deps.ts'
import { commandEnd } from '../agents/terminal.ts'
import type { Sandbox, SandboxExit } from '../sandbox/port.ts'
import { withCommandHome } from '../workspace/commandHome.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { SandboxEnv } from './sandboxEnv.ts'
import { commandLimits } from './runLimits.ts'
import { failed } from './failed.ts'
import type { Run } from './run.ts'
import { shellLine } from './shellLine.ts'
import { outcomeOfStop } from './stopping.ts'

export interface BoxedCommand {
  readonly run: Run
  readonly workspace: Workspace
  readonly command: string
  readonly sandboxEnv: SandboxEnv
  /** Milliseconds. */
  readonly longestMs: number
}

const interruptMs = 5_000

/** Runs it to its end: how it ended, or the outcome of a run that has no box or was stopped. Throws `Evicted`. */
export async function runInBox(
  deps: RunnerDeps,
  { run, workspace, command, sandboxEnv, longestMs }: BoxedCommand,
): Promise<{ readonly kind: 'ended'; readonly exit: SandboxExit } | ExecutionOutcome> {
  const { sandbox } = deps
  if ('missing' in sandbox) return failed('no_box', sandbox.missing)
  // Bold, as the commands of an agent are.
  await run.output.note(`\u001B[1m$ ${command}\u001B[0m\n`)
  const around = await sandboxEnv.open()
  try {
    return await withCommandHome(workspace, deps.path, (ofCommand) =>
      runIn(deps, { run, workspace: ofCommand, command, longestMs, sandbox, around }),
    )
  } finally {
    await around.close()
  }
}

async function runIn(
  deps: RunnerDeps,
  {
    run,
    workspace,
    command,
    longestMs,
    sandbox,
    around,
  }: Omit<BoxedCommand, 'sandboxEnv'> & {
    readonly sandbox: Sandbox
    readonly around: Awaited<ReturnType<SandboxEnv['open']>>
  },
): Promise<{ readonly kind: 'ended'; readonly exit: SandboxExit } | ExecutionOutcome> {
  const line = shellLine(command)
  const child = sandbox.run({
    command: around.command(line.command, 'reachable'),
    env: { ...around.env, ...line.env, TERM: 'xterm-256color' },
    workspace,
    readOnly: around.readOnly,
    sockets: around.sockets,
    stdin: 'ignore',
    limits: commandLimits({ ...deps.limits, longestMs }),
  })
  const onStop = () => {
    if (run.stopping.reason() === 'cancelled') child.interrupt()
    setTimeout(() => child.kill(), run.stopping.reason() === 'cancelled' ? interruptMs : 0).unref()
  }
  if (run.stopping.signal.aborted) onStop()
  else run.stopping.signal.addEventListener('abort', onStop, { once: true })
  try {
    await Promise.all([
      drain(child.stdout, (chunk) => run.output.stdout.write(chunk)),
      drain(child.stderr, (chunk) => run.output.stderr.write(chunk)),
    ])
    const exit = await child.exited
    await run.output.note(commandEnd(exit.code))
    return outcomeOfStop(run.stopping) ?? { kind: 'ended', exit }
  } finally {
    run.stopping.signal.removeEventListener('abort', onStop)
    child.kill()
    await child.exited
  }
}

/** Reads a stream to its end, as fast as what was read is written down. */
async function drain(stream: Readable, take: (chunk: Buffer) => Promise<void>): Promise<void> {
  for await (const chunk of stream) await take(Buffer.from(chunk))
}
