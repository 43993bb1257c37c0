/**
 * The services of a project: processes that run beside the agent in its sandbox, such as a database. They are started in a turn, keep running between
 * turns, and end with the sandbox. A service that has ended is started again in the next turn, never sooner.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProjectService } from '#domain/project/settings.ts'
import { relayPort } from '../../egress/relay.ts'
import type { SandboxEgress } from '../../egress/sandboxEgress.ts'
import type { Redaction } from '../../redaction/redaction.ts'
import { canKeep } from '../../sandbox/programKeeper.ts'
import type { Sandbox, SandboxedProcess } from '../../sandbox/port.ts'
import type { ProgramExit } from '../../sandbox/program.ts'
import type { RunOutput } from '../recording/terminalOutput.ts'
import { timeInWords } from '../runLimits.ts'
import type { SandboxEnv } from '../sandboxEnv.ts'
import { shellLine } from '../shellLine.ts'
import { serviceLog, type ServiceLog } from './serviceLog.ts'

export interface ProjectServices {
  /**
   * Starts the services that do not run, and waits until each of them is ready or has ended, but at most `readyMs` after their start. Reports in the
   * terminal what became of them.
   */
  beginTurn(turn: ServicesTurn): Promise<void>
  /** Stops recording the output of the services until the next turn. */
  endTurn(): Promise<void>
}

export interface ServicesTurn {
  readonly output: RunOutput
  readonly redaction: Redaction
  readonly signal: AbortSignal
  readonly readyMs: number
}

interface SandboxOfServices {
  readonly services: readonly ProjectService[]
  readonly sandbox: Pick<SandboxedProcess, 'exec' | 'listening'>
  readonly env: Readonly<Record<string, string>>
  /** A sentence that says why no service can run in this sandbox; `undefined` when services can run. */
  readonly refusal: string | undefined
  /** The port of the relay that starts with the sandbox; `undefined` when there is none. */
  readonly relayPort: number | undefined
}

interface Service extends ProjectService {
  readonly log: ServiceLog
  state: 'none' | 'starting' | 'ready' | 'not_ready' | 'ended'
  exit?: ProgramExit
}

const lookAgainMs = 50
/** The longest time that services wait for the relay, in milliseconds: as long as an agent waits for it (relay.ts). */
const longestRelayMs = 30_000

export function projectServices({
  services,
  sandbox,
  env,
  refusal,
  relayPort,
}: SandboxOfServices): ProjectServices {
  const all = services.map((service): Service => ({
    ...service,
    log: serviceLog(service.name),
    state: 'none',
  }))
  let isTold = false
  let endRecording: (() => Promise<void>) | undefined

  async function start(service: Service, { redaction, output }: ServicesTurn): Promise<void> {
    const { name, log } = service
    if (service.state === 'ended')
      await output.note(`The service ${name} ${endOf(service)} and is started again.\n`)
    service.state = 'none'
    const line = shellLine(service.command)
    try {
      const program = await sandbox.exec({ command: line.command, env: { ...env, ...line.env } })
      service.state = 'starting'
      program.stdin.end()
      void Promise.allSettled([
        program.exited,
        log.drain(program.stdout, redaction),
        log.drain(program.stderr, redaction),
      ]).then(([exited]) => {
        if (exited.status === 'fulfilled') service.exit = exited.value
        service.state = 'ended'
        return log.say(`The service ${endOf(service)}.`)
      })
    } catch (fault) {
      const why = fault instanceof Error ? fault.message : String(fault)
      await output.note(`The service ${name} could not be started: ${why}\n`)
    }
  }

  async function lookAtPorts(some: readonly Service[]): Promise<void> {
    const open = new Set((await sandbox.listening()).map(({ port }) => port))
    for (const service of some)
      if (isPending(service) && (service.readyPort === null || open.has(service.readyPort)))
        service.state = 'ready'
  }

  return {
    async beginTurn(turn) {
      if (all.length === 0) return
      const { output, signal, readyMs } = turn
      if (refusal !== undefined) {
        if (!isTold) await output.note(`${refusal}\n`)
        isTold = true
        return
      }
      endRecording = () => output.end()
      for (const { log } of all) await log.beginTurn((text) => output.stdout.write(text))
      const waiting = all.filter(
        ({ state }) => state === 'none' || state === 'ended' || state === 'not_ready',
      )
      const begun = waiting.filter(({ state }) => state !== 'not_ready')
      if (begun.length > 0 && relayPort !== undefined) await waitForRelay(sandbox, relayPort, signal)
      await Promise.all(begun.map((service) => start(service, turn)))
      const until = performance.now() + readyMs
      do {
        await lookAtPorts(waiting)
        if (!begun.some(isPending) || signal.aborted) break
        await sleep(lookAgainMs, undefined, { signal }).catch(() => undefined)
      } while (performance.now() < until)
      if (signal.aborted) return
      for (const service of waiting) await output.note(outcomeOf(service, readyMs))
      for (const service of waiting) if (service.state === 'starting') service.state = 'not_ready'
    },
    async endTurn() {
      for (const { log } of all) log.endTurn()
      await endRecording?.()
      endRecording = undefined
    },
  }
}

/**
 * Waits until the relay listens on its port, but at most `longestRelayMs`. Then no service can take the port, and each can reach the allowed hosts.
 */
async function waitForRelay(
  sandbox: SandboxOfServices['sandbox'],
  port: number,
  signal: AbortSignal,
): Promise<void> {
  const until = performance.now() + longestRelayMs
  while (!signal.aborted && performance.now() < until) {
    if ((await sandbox.listening()).some((one) => one.port === port)) return
    await sleep(lookAgainMs, undefined, { signal }).catch(() => undefined)
  }
}

const isPending = ({ state }: Service): boolean => state === 'starting' || state === 'not_ready'

function endOf({ exit }: Service): string {
  return exit?.reason === 'itself' ? `ended with exit code ${exit.code ?? 'unknown'}` : 'was ended'
}

/** The text for the terminal about a service that was not ready when the turn began; empty when its start failed, which was already reported. */
function outcomeOf(service: Service, readyMs: number): string {
  const { name, readyPort, state, log } = service
  const last = log.last()
  const lines = last === '' ? '' : ` It printed last:\n${last.replaceAll(/^/gm, '    ')}`
  switch (state) {
    case 'none':
      return ''
    case 'ready':
      return readyPort === null
        ? `The service ${name} runs.\n`
        : `The service ${name} is ready on port ${readyPort}.\n`
    case 'starting':
      return `The service ${name} is not ready: nothing listens on port ${readyPort} after ${timeInWords(readyMs)}. The turn goes on without it.${lines}\n`
    case 'not_ready':
      return `The service ${name} is still not ready: nothing listens on port ${readyPort}.\n`
    case 'ended':
      return `The service ${name} is not ready: it ${endOf(service)}. It is started again in the next turn.${lines}\n`
  }
}

/** The services in the sandbox of an agent. They get the variables that the project gives the agent, and those for the network. */
export function servicesBeside(
  agent: SandboxedProcess,
  { sandbox, sandboxEnv }: { readonly sandbox: Sandbox; readonly sandboxEnv: Pick<SandboxEnv, 'services'> },
  { env, relayCount }: Pick<SandboxEgress, 'env' | 'relayCount'>,
): ProjectServices {
  return projectServices({
    services: sandboxEnv.services ?? [],
    sandbox: agent,
    env,
    refusal: whyNoServices(sandbox),
    relayPort: relayCount > 0 ? relayPort : undefined,
  })
}

/** A sentence that says why services cannot run beside an agent in a sandbox of this kind; `undefined` when they can. */
export function whyNoServices({ kind }: Pick<Sandbox, 'kind'>): string | undefined {
  if (kind === 'container')
    return "The project's services do not run: nothing can be started beside an agent whose sandbox is a container."
  if (kind === 'none' && !canKeep)
    return "The project's services do not run: without a sandbox, they need Linux and perl."
  return undefined
}

/** A sentence that tells the agent about the services; empty when there are none, or none can run. */
export function toldOfServices(services: readonly ProjectService[], sandbox: Pick<Sandbox, 'kind'>): string {
  if (services.length === 0 || whyNoServices(sandbox) !== undefined) return ''
  const named = services.map(({ name, readyPort }) =>
    readyPort === null ? name : `${name} (port ${readyPort} on localhost)`,
  )
  return `These services of the project are started beside you in this sandbox and keep running between your turns: ${named.join(', ')}.`
}
