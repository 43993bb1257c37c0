/** An agent's box, with the broker by which it reaches its model; and the agent in it, which takes one turn after another until it is closed. */
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import type { Found } from '../agents/locate.ts'
import type { Agent } from '../agents/port.ts'
import { programBind, programIn } from '../agents/program.ts'
import { anyAmount } from '../broker/budget.ts'
import { startBroker, type Broker } from '../broker/broker.ts'
import type { WorkspaceDeps } from '../deps.ts'
import type { Sandbox, SandboxedProcess } from '../sandbox/port.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { SandboxEnv } from './sandboxEnv.ts'
import type { AgentProcess, Hearing } from './agent.ts'
import { agentLimits } from './runLimits.ts'

export interface AgentStart {
  readonly agent: Agent
  readonly program: Found
  readonly sandbox: Sandbox
  readonly workspace: Workspace
  /** The session to resume; `null`: a new one. */
  readonly session: string | null
  readonly model: string | null
  /** The agent's own key, where it takes one. */
  readonly apiKey: string
  /** What its box has beside the agent itself. */
  readonly sandboxEnv: SandboxEnv
}

/** The broker's socket, where the box shows it. */
const socketInBox = '/run/flightdeck/model.sock'
/** How long an agent may take to leave when it was let go. */
const leaveMs = 5_000

/** The box of an agent that has not begun yet: nothing of the workspace was looked at. */
export interface OpenedAgent {
  isOpen(): boolean
  /** Has the agent begin, once; it waits for its first message then. */
  begin(): AgentProcess
  /** Closes the box of an agent that is not to begin. */
  close(): Promise<void>
}

/** Opens the box of an agent. Fails with a sentence when its broker or its box cannot be made. */
export async function openAgent(deps: WorkspaceDeps, start: AgentStart): Promise<OpenedAgent> {
  const runToken = randomBytes(24).toString('base64url')
  const folder = await deps.scratch.make()
  const { agent } = start
  let broker: Broker | undefined
  let around: Around | undefined
  const closeAll = async () => {
    await Promise.all([broker?.close(), around?.close()])
    await rm(folder, { recursive: true, force: true })
  }
  try {
    around = await start.sandboxEnv.open()
    const socketPath = join(folder, 'model.sock')
    const { owner, taskId } = start.workspace
    broker =
      agent.access === 'key'
        ? undefined
        : await startBroker({
            socketPath,
            ...(owner && { owner }),
            runToken,
            upstream: deps.model,
            threads: deps.textThreads,
            modelFetches: start.sandboxEnv.modelFetches,
            onUsage: () => {},
            onFault: ({ code, message }) => deps.logger.warn({ code, message, taskId }, 'model broker'),
          })
    broker?.admit(null)
    const child = launch(deps, start, { socketPath, runToken, around })
    // What is there before the agent begins is ours.
    await child.settled
    let isOpen = true
    void child.exited.then(() => (isOpen = false))
    return {
      isOpen: () => isOpen,
      begin() {
        child.stdin?.on('error', () => undefined)
        child.stdin?.write('\n')
        return agentProcess(start, child, [runToken, start.apiKey].filter(Boolean), {
          admit: (budget) => broker?.admit(budget),
          close: closeAll,
        })
      },
      async close() {
        child.kill()
        await child.exited
        await closeAll()
      },
    }
  } catch (fault) {
    await closeAll()
    throw fault
  }
}

type Around = Awaited<ReturnType<SandboxEnv['open']>>

function launch(
  deps: WorkspaceDeps,
  start: AgentStart,
  { socketPath, runToken, around }: { socketPath: string; runToken: string; around: Around },
): SandboxedProcess {
  const { agent, program, sandbox, workspace, session, model } = start
  const cli = programBind(program)
  const socket = { source: socketPath, target: socketInBox }
  const socketPathInBox = sandbox.seenAs(socket)
  const { argv, env } = agent.launch({
    binary: programIn(program, sandbox.seenAs(cli)),
    session: session === null ? { kind: 'new', id: deps.ids.uuid() } : { kind: 'resume', id: session },
    model,
    access:
      agent.access === 'key'
        ? { kind: 'key', apiKey: start.apiKey }
        : {
            kind: 'broker',
            socketPath: socketPathInBox,
            runToken,
            scripted: deps.model.kind === 'scripted',
          },
  })
  const [command, ...rest] = argv
  if (command === undefined) throw new Error('An agent is launched by a program.')
  return sandbox.run({
    command: around.command([command, ...rest], 'told'),
    env: {
      ...around.env,
      ...env,
      // As root the CLI asks to be told that it may; with a box it is not root.
      ...(sandbox.kind === 'none' && deps.isRoot ? { IS_SANDBOX: '1' } : {}),
    },
    workspace,
    readOnly: [cli, ...around.readOnly],
    sockets: [...(agent.access === 'key' ? [] : [socket]), ...around.sockets],
    stdin: 'pipe',
    limits: agentLimits,
    beside: around.beside,
  })
}

function agentProcess(
  { agent, program: { version }, session }: AgentStart,
  child: SandboxedProcess,
  secrets: readonly string[],
  broker: Pick<Broker, 'admit' | 'close'>,
): AgentProcess {
  const chunks = child.stdout[Symbol.asyncIterator]()
  const parser = agent.parser()
  const characters = new StringDecoder('utf8')
  const complaints = hearComplaints(child)
  let isAlive = true
  let isInTurn = false
  void child.exited.then(() => (isAlive = false))

  /** Writes a line to the agent; one that is gone already does not hear it. */
  const say = (line: string): boolean => {
    if (!child.stdin?.writable) return false
    child.stdin.write(line)
    return true
  }
  /** Hears until the agent tells the end of its turn, or has printed its last. */
  async function listen(hearing: Hearing, isEnough: () => boolean): Promise<'over' | 'gone'> {
    for (;;) {
      const next: IteratorResult<Buffer> = await chunks.next()
      if (next.done === true) {
        for (const event of [...parser.push(characters.end()), ...parser.end()]) await hearing.hear(event)
        return 'gone'
      }
      hearing.alive()
      for (const event of parser.push(characters.write(next.value))) await hearing.hear(event)
      if (isEnough()) return 'over'
    }
  }

  return {
    agent,
    version,
    secrets,
    resumed: session !== null,
    exited: child.exited,
    isAlive: () => isAlive,
    async turn(message, hearing) {
      child.thaw()
      complaints.to(hearing.complain)
      broker.admit(hearing.budget)
      isInTurn = true
      try {
        say(message)
        if (agent.dialogue === 'single') child.stdin?.end()
        return await listen(hearing, hearing.isOver)
      } finally {
        isInTurn = false
        broker.admit(null)
        await complaints.pause()
      }
    },
    steer: (message) => isInTurn && agent.dialogue === 'open' && say(message),
    async finish(hearing) {
      complaints.to(hearing.complain)
      broker.admit(hearing.budget)
      child.stdin?.end()
      await listen(hearing, () => false)
      await complaints.heard
      broker.admit(null)
    },
    interrupt() {
      const line = agent.interrupt('cancel')
      if (line === null) child.interrupt()
      else say(line)
    },
    kill: () => child.kill(),
    wake: () => child.thaw(),
    rest: async () => (await child.freeze()) === 'frozen',
    async close(hearing = nobody) {
      complaints.to(hearing.complain)
      const leaving = setTimeout(() => child.kill(), leaveMs)
      try {
        if (hearing === nobody || (!agent.leavesByItself && hearing.isOver())) child.kill()
        child.stdin?.end()
        await listen(hearing, () => false)
        await complaints.heard
      } finally {
        clearTimeout(leaving)
        child.kill()
        await child.exited
        await broker.close()
      }
      return child.exited
    },
  }
}

const nobody: Hearing = {
  budget: anyAmount,
  alive: () => undefined,
  hear: async () => undefined,
  complain: async () => undefined,
  isOver: () => false,
}

/** Reads standard error as fast as somebody writes it down. What is said between two turns waits for the next. */
function hearComplaints(child: SandboxedProcess) {
  let begin: (complain: Hearing['complain']) => void = () => {}
  const nextTurn = () => new Promise<Hearing['complain']>((resolve) => (begin = resolve))
  let complain = nextTurn()
  let writing: Promise<void> = Promise.resolve()
  const heard = (async () => {
    for await (const chunk of child.stderr) {
      const take = await complain
      writing = take(Buffer.from(chunk))
      // A fault of the one who writes it down is told to the turn that waits for it.
      await writing.catch(() => undefined)
    }
  })()
  return {
    /** All of it, once the process has ended. */
    heard: heard.catch(() => undefined),
    to(next: Hearing['complain']) {
      begin(next)
      complain = Promise.resolve(next)
    },
    async pause() {
      complain = nextTurn()
      await writing
    },
  }
}
