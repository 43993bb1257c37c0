/**
 * An agent in its sandbox, with the broker through which it reaches its model unless it has a key of its own. It runs one turn after another until it
 * is closed.
 */
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { canDo } from '#domain/agents/capabilities.ts'
import type { AgentModel } from '#domain/api/server.schema.ts'
import type { AgentMode, Answer } from '#domain/task/questionEvents.ts'
import type { AgentBackend, InstalledAgents } from '../../agents/installed.ts'
import { programBind, programIn, type Found } from '../../agents/locate.ts'
import type {
  Agent,
  AgentEvent,
  AgentParser,
  McpServerForAgent,
  ModelAccess,
  ModelUse,
  AgentMessage,
} from '../../agents/port.ts'
import { anyAmount, type Budget } from '../../model/budget.ts'
import type { McpGateway } from '../../mcp/gateway.ts'
import {
  brokerOrigin,
  hasRemoteServers,
  mcpOf,
  mcpServersFor,
  type McpOfAgent,
} from '../../mcp/agentServers.ts'
import { startBroker, type Broker } from '../../model/broker.ts'
import type { AgentDeps } from '../../deps.ts'
import type { ModelCall } from '#platform/telemetry/telemetry.ts'
import type {
  ReservedSandbox,
  ReservedSpec,
  Sandbox,
  SandboxedProcess,
  SandboxExit,
  SandboxSpec,
} from '../../sandbox/port.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { servicesBeside, type ProjectServices } from '../services/projectServices.ts'
import { forwardStderr } from './agentStderr.ts'
import { meteredUsage, type MeteredUsage } from './meteredUsage.ts'
import { agentLimits } from '../runLimits.ts'
import type { SandboxEgress } from '../../egress/sandboxEgress.ts'
import type { SandboxEnv } from '../sandboxEnv.ts'

/** Receives the events of an agent during a turn. */
export interface TurnListener {
  /** How much the turn may spend on models. */
  readonly budget: Budget
  /** Called when a call to a model through the broker has ended. */
  readonly onModelCall: (call: ModelCall) => void
  onOutput(): void
  onEvent(event: AgentEvent): Promise<void>
  onStderr(chunk: Buffer): Promise<void>
  /** Whether the turn is over: no further answer of the agent is awaited. */
  isOver(): boolean
}

export interface AgentProcess extends Pick<SandboxedProcess, 'exited' | 'kill'> {
  readonly agent: Agent
  readonly version: string
  /** The secrets of this agent, which no record may show: its token for the broker, the headers of its MCP servers, and its own key if it has one. */
  readonly secrets: readonly string[]
  /** The states and faults of the agent's MCP servers, and the servers that it was not told about. */
  readonly mcp: McpOfAgent
  /** The project's services in the agent's sandbox. */
  readonly services: ProjectServices
  /** Whether the scripted model answers the agent. */
  readonly isScripted: boolean
  readonly resumed: boolean
  /**
   * Sends a message, with the model and effort of the turn, and follows the turn. Resolves to `over` when `listener.isOver` returns true, and to
   * `gone` when the process ended first.
   */
  turn(message: AgentMessage, use: ModelUse, listener: TurnListener): Promise<'over' | 'gone'>
  /** Sends another message to the turn that is running; returns `false` when the process can take none. */
  steer(message: AgentMessage): boolean
  /** Gives the agent the answers to its request; returns `false` when it no longer waits for them. */
  answer(requestId: string, answers: readonly Answer[]): boolean
  interrupt(): void
  /**
   * Ends everything that the agent's turns started, except programs of `exec` such as services, and freezes the agent until its next turn. If that
   * fails, the agent is ended, and the result is `false`.
   */
  freeze(): Promise<boolean>
  /** Lets a frozen agent run shortly before its turn, as it needs about 25 ms to resume. */
  thaw(): void
  isAlive(): boolean
  /** Whether other programs run beside the agent in its sandbox. */
  isUsed(): boolean
  /**
   * Ends the agent. It is killed at once if there is no listener, or if its turn is over and it does not exit by itself; otherwise it has some
   * seconds to exit, and the listener still gets its reports. When this resolves, no process of the agent is left.
   */
  close(listener?: TurnListener): Promise<SandboxExit>
}

export interface AgentStart {
  readonly agent: Agent
  readonly program: Found
  readonly sandbox: Sandbox
  readonly workspace: Workspace
  /** The session to resume; `null` for a new one. */
  readonly session: string | null
  readonly model: string | null
  readonly mode: AgentMode
  /** The rules that a person has allowed 'always in this task', in the agent's notation. */
  readonly allowedRules: readonly string[]
  readonly backend: ReadyBackend
  readonly sandboxEnv: SandboxEnv
}

/** The backend of an agent that can run: it has a model that answers. */
export type ReadyBackend = Exclude<AgentBackend, { kind: 'missing' }>

const socketInSandbox = '/run/flightdeck/model.sock'
/** The time that an agent has to exit by itself. */
const leaveMs = 5_000

/** The sandbox of an agent that has not started: it has read nothing in the workspace. */
export interface OpenedAgent {
  isOpen(): boolean
  /** Starts the agent, once. It then waits for its first message. */
  begin(): AgentProcess
  /** Closes the sandbox of an agent that will not start. */
  close(): Promise<void>
}

type Deps = Pick<AgentDeps, 'scratch' | 'textThreads' | 'logger' | 'ids' | 'isRoot'> & {
  readonly installed: Pick<InstalledAgents, 'report'>
}

/** Opens the sandbox of an agent. Rejects when its network, its broker or the sandbox itself cannot be made. */
export async function openAgent(deps: Deps, start: AgentStart): Promise<OpenedAgent> {
  const runToken = randomBytes(24).toString('base64url')
  const { sandbox, workspace, backend } = start
  const metered = meteredUsage()
  const known = { workspace, stdin: 'pipe', limits: agentLimits } as const
  const mcp = mcpOf(deps, start)
  const folder = await deps.scratch.make()
  let reserved: ReservedSandbox | undefined
  let broker: Broker | undefined
  let env: SandboxEgress | undefined
  const closeAll = async () => {
    await Promise.all([broker?.close(), env?.close()])
    await rm(folder, { recursive: true, force: true })
  }
  try {
    reserved = sandbox.reserve?.(known)
    const socketPath = join(folder, 'model.sock')
    const [opened, started] = await Promise.allSettled([
      start.sandboxEnv.open(),
      brokerFor(deps, start, { socketPath, runToken, metered, gateway: mcp.gateway }),
    ])
    if (opened.status === 'fulfilled') env = opened.value
    if (started.status === 'fulfilled') broker = started.value
    if (opened.status === 'rejected') throw opened.reason
    if (started.status === 'rejected') throw started.reason
    broker?.admit(null)
    const place = { socketPath, runToken, env: opened.value, port: broker?.port ?? 0 }
    const mcpServers = mcpServersFor(start, place)
    const spec = { ...known, ...commandOf(deps, start, { ...place, mcpServers }) }
    const child = reserved?.run(spec) ?? sandbox.run(spec)
    // From now on the end of the process ends the reservation.
    reserved = undefined
    child.isToBegin = true
    // Waits until our own processes exist. All processes that start after them belong to the agent.
    await child.settled
    let isOpen = true
    void child.exited.then(() => (isOpen = false))
    return {
      isOpen: () => isOpen,
      begin() {
        child.isToBegin = false
        child.stdin?.on('error', () => undefined)
        // The shell in the sandbox waits for this line before it starts the agent (relay.ts).
        child.stdin?.write('\n')
        const secrets = [runToken, ...mcp.secrets, ...(backend.kind === 'key' ? [backend.apiKey] : [])]
        return agentProcess(
          start,
          child,
          {
            secrets,
            mcp,
            mcpServers,
            services: servicesBeside(child, start, place.env),
            onModels(models) {
              // Hooks and local MCP servers start with the agent, and could print a false list of models.
              const isAlone = mcpServers.every(({ kind }) => kind !== 'stdio')
              if (isAlone && start.sandboxEnv.hasHooks !== true)
                deps.installed.report(start.agent.name, models)
            },
          },
          {
            metered,
            admit: (budget, onCall) => broker?.admit(budget, onCall),
            close: closeAll,
          },
        )
      },
      async close() {
        child.kill()
        await child.exited
        await closeAll()
      },
    }
  } catch (fault) {
    await reserved?.close()
    await closeAll()
    throw fault
  }
}

interface BrokerSocket {
  readonly socketPath: string
  readonly runToken: string
}

/** The broker of an agent; `undefined` for an agent that reaches its model with a key of its own. */
async function brokerFor(
  { textThreads, logger }: Deps,
  { agent, backend, sandbox, workspace: { owner, taskId }, sandboxEnv }: AgentStart,
  {
    socketPath,
    runToken,
    metered,
    gateway,
  }: BrokerSocket & { readonly metered: MeteredUsage; readonly gateway: McpGateway | undefined },
): Promise<Broker | undefined> {
  if (backend.kind === 'key') return undefined
  // In a sandbox, a relay connects the sandbox's loopback to the broker's socket. Without a sandbox there is no relay, so the broker itself listens
  // on the loopback.
  const isOnLoopback = agent.access.kind === 'loopback' && sandbox.kind === 'none'
  return startBroker({
    listen: isOnLoopback ? 'loopback' : { socketPath, owner },
    runToken,
    upstream: backend.model,
    ...(gateway && { mcp: gateway, onLoopbackToo: sandbox.kind === 'none' }),
    threads: textThreads,
    modelFetches: sandboxEnv.modelFetches,
    onUsage: metered.add,
    onFault: ({ code, message }) => logger.warn({ code, message, taskId }, 'model broker'),
  })
}

interface LaunchPlace extends BrokerSocket {
  readonly env: SandboxEgress
  readonly port: number
  readonly mcpServers: readonly McpServerForAgent[]
}

function commandOf(deps: Deps, start: AgentStart, place: LaunchPlace): Omit<SandboxSpec, keyof ReservedSpec> {
  const { agent, program, sandbox, session, model, mode, allowedRules } = start
  const { env } = place
  const cli = programBind(program)
  const socket = { source: place.socketPath, target: socketInSandbox }
  const launched = agent.launch({
    binary: programIn(program, sandbox.seenAs(cli)),
    session: session === null ? { kind: 'new', id: deps.ids.uuid() } : { kind: 'resume', id: session },
    model,
    mode,
    allowedRules,
    access: accessOf(start, place, sandbox.seenAs(socket)),
    isRoot: sandbox.kind === 'none' && deps.isRoot,
    mcpServers: place.mcpServers,
  })
  const [command, ...rest] = launched.argv
  if (command === undefined) throw new Error('An agent is launched by a program.')
  const isRelayed = agent.access.kind === 'loopback' || hasRemoteServers(start)
  const relayed = isRelayed ? sandbox.seenAs(socket) : undefined
  return {
    command: env.command([command, ...rest], 'on_first_line', relayed),
    env: { ...env.env, ...launched.env },
    readOnly: [cli, ...env.readOnly],
    sockets: [...(agent.access.kind === 'key' ? [] : [socket]), ...env.sockets],
    helperCount: env.relayCount,
    ownPorts: env.ownPorts,
  }
}

/** How the agent reaches its model. The addresses are those that are valid inside the agent's sandbox. */
function accessOf(
  { agent, backend, sandbox }: AgentStart,
  { runToken, port }: LaunchPlace,
  socketPath: string,
): ModelAccess {
  if (backend.kind === 'key') return backend
  const scripted = backend.model.kind === 'scripted'
  if (agent.access.kind !== 'loopback') return { kind: 'socket', socketPath, runToken, scripted }
  return { kind: 'loopback', origin: brokerOrigin(sandbox, port), runToken, scripted }
}

interface Given extends Pick<AgentProcess, 'secrets' | 'mcp' | 'services'> {
  readonly mcpServers: readonly McpServerForAgent[]
  readonly onModels: (models: readonly AgentModel[]) => void
}

function agentProcess(
  start: AgentStart,
  child: SandboxedProcess,
  { secrets, mcp, mcpServers, services, onModels }: Given,
  broker: Pick<Broker, 'admit' | 'close'> & { readonly metered: MeteredUsage },
): AgentProcess {
  const { agent, program, session, backend, sandbox } = start
  const dialogue = agent.dialogue({ ...start, mcpServers, workspace: sandbox.paths(start.workspace).tree })
  const stderr = forwardStderr(child)
  let isAlive = true
  let isInTurn = false
  void child.exited.then(() => (isAlive = false))

  /** Writes a line to the agent; returns `false` when the agent takes no more input. */
  const write = (line: string): boolean => {
    if (!child.stdin?.writable) return false
    child.stdin.write(line)
    return true
  }
  const { metered } = broker
  const readEvents = eventReader(dialogue, { child, write, metered, usage: agent.usage, onModels })
  if (dialogue.opening !== undefined) write(dialogue.opening)
  const isScripted = backend.kind === 'broker' && backend.model.kind === 'scripted'

  return {
    agent,
    version: program.version,
    secrets,
    mcp,
    services,
    isScripted,
    resumed: session !== null,
    exited: child.exited,
    isAlive: () => isAlive,
    async turn(message, use, told) {
      const listener = inOrder(told)
      child.thaw()
      stderr.forwardTo(listener.onStderr)
      broker.admit(listener.budget, listener.onModelCall)
      mcp.own?.follow(listener.onEvent)
      isInTurn = true
      try {
        // If the scripted model answers, it is the only one, so the requested model is ignored.
        const chosen = dialogue.choose?.(isScripted ? { ...use, model: start.model } : use) ?? ''
        write(`${chosen}${dialogue.message(message)}`)
        if (agent.turns === 'one') child.stdin?.end()
        return await readEvents(listener, listener.isOver)
      } finally {
        isInTurn = false
        mcp.own?.follow(null)
        broker.admit(null)
        await stderr.pause()
      }
    },
    steer: (message) => isInTurn && canDo(agent.name, 'steering') && write(dialogue.message(message)),
    answer(requestId, answers) {
      const line = dialogue.answer(requestId, answers)
      return line === '' ? mcp.own?.answer(requestId, answers) === true : write(line)
    },
    interrupt() {
      const line = dialogue.interrupt()
      if (line === null) child.interrupt()
      else write(line)
    },
    ...ofSandbox(child),
    async close(listener = nobody) {
      stderr.forwardTo(listener.onStderr)
      const leaving = setTimeout(() => child.kill(), leaveMs)
      try {
        if (listener === nobody || (!agent.leavesByItself && listener.isOver())) child.kill()
        child.stdin?.end()
        await readEvents(listener, () => false)
        await stderr.ended
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

function ofSandbox({ programs, kill, thaw, freeze }: SandboxedProcess) {
  return {
    isUsed: () => programs().length > 0,
    kill,
    thaw,
    freeze: async () => (await freeze()) === 'frozen',
  }
}

/** Passes events to the listener one at a time. Otherwise an event from our own MCP server could overlap with one from the output of the agent. */
function inOrder(listener: TurnListener): TurnListener {
  let told = Promise.resolve()
  return { ...listener, onEvent: (event) => (told = told.then(() => listener.onEvent(event))) }
}

const nobody: TurnListener = {
  budget: anyAmount,
  onModelCall: () => undefined,
  onOutput: () => undefined,
  onEvent: async () => undefined,
  onStderr: async () => undefined,
  isOver: () => false,
}

/**
 * Makes the function that passes events to a listener until `isEnough()` is true (`over`) or the agent's output ends (`gone`). After `over`, the next
 * call passes the remaining events to its own listener.
 */
function eventReader(
  parser: AgentParser,
  {
    child,
    write,
    metered,
    usage,
    onModels,
  }: {
    readonly child: SandboxedProcess
    readonly write: (text: string) => boolean
    /** The usage from the broker. */
    readonly metered: MeteredUsage
    readonly usage: Agent['usage']
    readonly onModels: (models: readonly AgentModel[]) => void
  },
): (listener: TurnListener, isEnough: () => boolean) => Promise<'over' | 'gone'> {
  const chunks = child.stdout[Symbol.asyncIterator]()
  const characters = new StringDecoder('utf8')
  let unread: AgentEvent[] = []
  const reportUnread = async ({ onEvent }: TurnListener, isEnough: () => boolean): Promise<boolean> => {
    for (let event = unread.shift(); event !== undefined; event = unread.shift()) {
      if (event.type === 'write') {
        write(event.text)
        continue
      }
      if (event.type === 'models') {
        onModels(event.models)
        continue
      }
      if (event.type === 'end') {
        const taken = metered.take()
        // An agent that tells its usage has told it before this event.
        if (usage === 'metered') for (const used of taken) await onEvent(used)
      }
      await onEvent(event)
      if (isEnough()) return true
    }
    return false
  }
  return async (listener, isEnough) => {
    for (;;) {
      if (await reportUnread(listener, isEnough)) return 'over'
      const next: IteratorResult<Buffer> = await chunks.next()
      if (next.done === true) {
        unread = [...parser.push(characters.end()), ...parser.end()]
        await reportUnread(listener, () => false)
        for (const used of metered.take()) await listener.onEvent(used)
        return 'gone'
      }
      listener.onOutput()
      unread = [...parser.push(characters.write(next.value))]
    }
  }
}
