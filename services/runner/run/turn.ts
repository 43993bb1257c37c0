/** One turn of an agent: started in its box, given its message, listened to, ended. */
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { ExecutionOutcome } from '#domain/task/commands.ts'
import type { AgentName } from '#domain/task/events.ts'
import { agents } from '../agents/agents.ts'
import { instructionFiles, writeHome } from '../agents/home.ts'
import { messageFor } from '../agents/images.ts'
import type { Agent, AgentImage } from '../agents/port.ts'
import { startBroker, type Broker } from '../broker/broker.ts'
import type { RunnerParts } from '../parts.ts'
import type { Sandbox, SandboxedProcess } from '../sandbox/port.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { boxLimits } from './limits.ts'
import { listener, type Listener } from './listen.ts'
import { messageTexts } from './messageText.ts'
import { failed } from './prepare.ts'
import type { Run } from './run.ts'
import { outcomeOfStop } from './stopping.ts'

export interface TurnRequest {
  readonly run: Run
  readonly workspace: Workspace
  readonly agent: AgentName
  readonly message: string
  readonly images: readonly AgentImage[]
  /** The session to resume, when the agent had one in this task. */
  readonly session: string | null
  /** As the client sent it; passed on only when the agent knows it. */
  readonly model: string | null
  /** Secrets that must not show in anything that is recorded. */
  readonly secrets: readonly string[]
}

/** The agent's CLI and the broker's socket, where the box shows them. */
const cliInBox = '/opt/agent/agent'
const socketInBox = '/run/flightdeck/model.sock'
/** Nothing heard for so long means that nothing will be. */
const silentMs = 15 * 60_000
const interruptMs = 5_000
/** Characters of what was said on stderr that explain an agent's death. */
const keptTail = 1_000

export async function runTurn(parts: RunnerParts, request: TurnRequest): Promise<ExecutionOutcome> {
  const agent = agents[request.agent]
  if (!agent) return failed('no_agent', `The ${request.agent} agent is not there yet. Choose claude.`)
  const located = await parts.claude()
  if (!located.found) return failed('no_agent', located.reason)
  const { sandbox } = parts
  if ('missing' in sandbox) return failed('no_box', sandbox.missing)

  const { homeDir, dir, owner } = request.workspace
  const present = new Set(
    (await readdir(dir)).filter((name) => instructionFiles.some((file) => file === name)),
  )
  await writeHome(homeDir, agent.home(present, sandbox.paths(request.workspace).tree), owner)

  const runToken = randomBytes(24).toString('base64url')
  const secrets = [...request.secrets, runToken]
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-'))
  let broker: Broker | undefined
  try {
    // The box's user passes through to its socket and sees nothing else.
    await chmod(folder, 0o711)
    const socketPath = join(folder, 'model.sock')
    broker = await startBroker({
      socketPath,
      ...(owner && { owner }),
      runToken,
      upstream: parts.model,
      onUsage: () => {},
      onFault: ({ code, message }) =>
        parts.logger.warn({ code, message, executionId: request.run.fence.executionId }, 'model broker'),
    })
    const launch = {
      agent,
      version: located.version,
      binary: located.path,
      socketPath,
      runToken,
      sandbox,
      secrets,
    }
    const first = await attempt(parts, request, { ...launch, session: request.session })
    // A session that never came to be cannot be resumed: the agent starts anew and is given the message again.
    return first === 'unknown_session'
      ? settled(await attempt(parts, request, { ...launch, session: null }))
      : first
  } finally {
    await broker?.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function settled(outcome: ExecutionOutcome | 'unknown_session'): ExecutionOutcome {
  return outcome === 'unknown_session'
    ? failed('unknown_session', 'The agent could not open a session.')
    : outcome
}

interface Launch {
  readonly agent: Agent
  readonly version: string
  readonly binary: string
  readonly socketPath: string
  readonly runToken: string
  readonly sandbox: Sandbox
  readonly secrets: readonly string[]
  readonly session: string | null
}

async function attempt(
  parts: RunnerParts,
  { run, workspace, message, images, model }: TurnRequest,
  launch: Launch,
): Promise<ExecutionOutcome | 'unknown_session'> {
  const { agent, sandbox, secrets } = launch
  // The program alone: what lies beside it on the host is none of the agent's business.
  const cli = { source: launch.binary, target: cliInBox }
  const socket = { source: launch.socketPath, target: socketInBox }
  const { argv, env } = agent.launch({
    binary: sandbox.seenAs(cli),
    session:
      launch.session === null
        ? { kind: 'new', id: parts.ids.uuid() }
        : { kind: 'resume', id: launch.session },
    model,
    access: {
      kind: 'broker',
      socketPath: sandbox.seenAs(socket),
      runToken: launch.runToken,
      scripted: parts.model.kind === 'scripted',
    },
  })
  const [program, ...rest] = argv
  if (program === undefined) throw new Error('An agent is launched by a program.')
  const child = sandbox.run({
    command: [program, ...rest],
    // As root the CLI asks to be told that it may; with a box it is not root.
    env: sandbox.kind === 'none' && parts.isRoot ? { ...env, IS_SANDBOX: '1' } : env,
    workspace,
    readOnly: [cli],
    sockets: [socket],
    stdin: 'pipe',
    limits: boxLimits,
  })
  const heard = listener({
    fence: run.fence,
    agent: { name: agent.name, version: launch.version, resumed: launch.session !== null },
    reporter: run.reporter,
    output: run.output,
    texts: messageTexts(run.terminal, run.fence, secrets),
    changes: run.changes,
    secrets,
    elapsed: () => performance.now(),
  })
  const unwatch = watch(run, child, agent)
  try {
    say(child, await messageFor(agent, { text: message, images }, homeFor(sandbox, workspace)))
    if (agent.dialogue === 'single') child.stdin?.end()
    let told = ''
    const errors = drain(child.stderr, async (chunk) => {
      told = `${told}${chunk.toString('utf8')}`.slice(-keptTail)
      await run.output.stderr.write(parts.model.kind === 'scripted' ? withoutModelWarning(chunk) : chunk)
    })
    await hearAll(child, agent, heard, () => unwatch.alive())
    await errors
    const exit = await child.exited
    if (heard.lastError()?.code === 'unknown_session' && launch.session !== null) return 'unknown_session'
    return outcomeOfStop(run.stopping) ?? outcomeOf(agent, heard, exit, told.trim())
  } finally {
    unwatch.stop()
    child.kill()
    await child.exited
  }
}

/** Reads to the end what the agent prints. After its last word it is let go, and ended when it does not leave. */
async function hearAll(
  child: SandboxedProcess,
  agent: Agent,
  heard: Listener,
  alive: () => void,
): Promise<void> {
  const parser = agent.parser()
  const characters = new StringDecoder('utf8')
  let leaving: NodeJS.Timeout | undefined
  for await (const chunk of child.stdout) {
    alive()
    for (const event of parser.push(characters.write(chunk))) await heard.hear(event)
    if (heard.ended() && leaving === undefined) {
      child.stdin?.end()
      leaving = setTimeout(() => child.kill(), agent.leavesByItself ? interruptMs : 0)
    }
  }
  clearTimeout(leaving)
  for (const event of [...parser.push(characters.end()), ...parser.end()]) await heard.hear(event)
}

/** Stops the agent when the run is to stop: asked first where a person cancelled, ended at once for every other reason. */
function watch(run: Run, child: SandboxedProcess, agent: Agent): { alive(): void; stop(): void } {
  const { signal } = run.stopping
  let ending: NodeJS.Timeout | undefined
  const onStop = () => {
    if (run.stopping.reason() !== 'cancelled') return child.kill()
    const asked = agent.interrupt('cancel')
    if (asked === null) child.interrupt()
    else say(child, asked)
    ending = setTimeout(() => child.kill(), interruptMs)
  }
  const silence = setTimeout(() => run.stopping.stop('silent'), silentMs)
  if (signal.aborted) onStop()
  else signal.addEventListener('abort', onStop, { once: true })
  return {
    alive: () => silence.refresh(),
    stop() {
      clearTimeout(silence)
      clearTimeout(ending)
      signal.removeEventListener('abort', onStop)
    },
  }
}

/** Writes a line to the agent; one that is gone already does not hear it. */
function say(child: SandboxedProcess, line: string): void {
  child.stdin?.on('error', () => undefined)
  if (child.stdin?.writable) child.stdin.write(line)
}

/** The CLI wonders about the scripted model's name, which is ours: that is nothing to a person. */
function withoutModelWarning(chunk: Buffer): string {
  return chunk.toString('utf8').replace(/^\[claude-code:unrecognized_model\].*\n?/gm, '')
}

/** Reads a stream to its end, as fast as what was read is written down. */
export async function drain(stream: Readable, take: (chunk: Buffer) => Promise<void>): Promise<void> {
  for await (const chunk of stream) await take(Buffer.from(chunk))
}

function homeFor(sandbox: Sandbox, workspace: Workspace) {
  return { dir: workspace.homeDir, seenAs: sandbox.paths(workspace).home, owner: workspace.owner }
}

function outcomeOf(
  agent: Agent,
  heard: Listener,
  exit: Awaited<SandboxedProcess['exited']>,
  told: string,
): ExecutionOutcome {
  const end = heard.ended()
  const error = heard.lastError() ?? agent.faultOf(told, exit.code)
  if (end?.ok) return { kind: 'completed', exitCode: null }
  if (exit.reason === 'time_limit') return failed('time_limit', 'The agent was stopped after two hours.')
  if (exit.reason === 'memory_limit')
    return failed('memory_limit', 'The agent used more memory than a run may.')
  if (error) return failed(error.code, error.message)
  return failed(
    'agent_died',
    told || `The agent ended without a result (exit ${exit.code ?? exit.signal ?? 'unknown'}).`,
  )
}
