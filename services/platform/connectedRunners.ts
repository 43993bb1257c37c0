/** The connected runners, each by its last heartbeat: the agents that can run on them, and the notices that they show on every page. */
import type { AgentState } from '#domain/api/server.schema.ts'
import { agentNames, type AgentName } from '#domain/agents.ts'
import type { ModelKeys, Paying } from '#platform/credentials/modelKeys.ts'
import type { Bus, BusMessages } from '#platform/ports/bus.ts'

interface HeardRunners {
  /** The last heartbeats of the connected runners. */
  now(): readonly BusMessages['runner'][]
  /** Whether every connected runner has had time to send a heartbeat. */
  isSettled(): boolean
  stop(): void
}

/** After this time without a heartbeat, a runner no longer counts as connected. Each runner sends one per second. */
export const silentMs = 5_000

/** Starts listening to the heartbeats of runners; `onHeard` is called after each. `now` is monotonic, in milliseconds. */
function hearRunners(
  bus: Bus,
  now: () => number = () => performance.now(),
  onHeard: () => void = () => undefined,
): HeardRunners {
  const begun = now()
  const runners = new Map<string, { said: BusMessages['runner']; at: number }>()
  const stop = bus.subscribe('runner', (said) => {
    runners.set(said.runnerId, { said, at: now() })
    onHeard()
  })
  return {
    now() {
      for (const [id, { at }] of runners) if (now() - at > silentMs) runners.delete(id)
      return [...runners.values()]
        .map(({ said }) => said)
        .toSorted((one, other) => (one.runnerId < other.runnerId ? -1 : 1))
    },
    isSettled: () => now() - begun > silentMs,
    stop,
  }
}

export interface Agents {
  /**
   * Every agent, as reported by the connected runner that comes closest to running it. Before any report, waits for one, at most as long as a
   * connected runner may be silent.
   */
  read(): Promise<readonly AgentState[]>
  /**
   * Why no connected runner can run the agent, in the sentence that `read` gives for it; `null` when a runner can run it, or when no connected runner
   * reports about it.
   */
  whyNone(name: AgentName): string | null
  /** Whether a connected runner can run the agent with the server's key, or with a key of those in `by`. */
  canRunFor(name: AgentName, by: Paying): Promise<boolean>
  stop(): void
}

/** The state of an agent for those in `by`, who would pay for its run: if they have a key of their own, the agent can do without the server's key. */
export async function agentFor(
  state: AgentState,
  by: Paying,
  modelKeys: Pick<ModelKeys, 'paying'>,
): Promise<AgentState> {
  if (!state.installed || state.missing === null || state.ownKey === undefined) return state
  return (await modelKeys.paying(by, state.ownKey)) === undefined ? state : { ...state, missing: null }
}

/** Starts listening to the heartbeats of runners. `now` is monotonic, in milliseconds. */
export function startAgents(bus: Bus, modelKeys: Pick<ModelKeys, 'paying'>, now?: () => number): Agents {
  const waiting = new Set<() => void>()
  const runners = hearRunners(bus, now, () => {
    if (hasReported()) release()
  })
  const reported = () => runners.now().flatMap((runner) => runner.agents)
  const hasReported = () => reported().length > 0
  const release = () => {
    for (const go of waiting) go()
    waiting.clear()
  }
  const firstReport = () =>
    new Promise<void>((resolve) => {
      const go = () => {
        clearTimeout(limit)
        waiting.delete(go)
        resolve()
      }
      const limit = setTimeout(go, silentMs)
      waiting.add(go)
    })
  const best = (name: AgentName) => bestOf(reported().filter((state) => state.name === name))
  return {
    whyNone: (name) => best(name)?.missing ?? null,
    async canRunFor(name, by) {
      const state = best(name)
      return state !== undefined && (await agentFor(state, by, modelKeys)).missing === null
    },
    async read() {
      if (!hasReported() && !runners.isSettled()) await firstReport()
      return agentNames.map((name) => best(name) ?? unknown(name))
    },
    stop() {
      runners.stop()
      release()
    },
  }
}

function bestOf(states: readonly AgentState[]): AgentState | undefined {
  return (
    states.find(({ missing }) => missing === null) ?? states.find(({ installed }) => installed) ?? states[0]
  )
}

function unknown(name: AgentName): AgentState {
  const missing = 'No connected runner can run it.'
  return { name, installed: false, version: null, missing, keyInSandbox: false, models: [] }
}

export interface Notices {
  /** The notices of all connected runners, each text only once. When no runner is connected after the first seconds, a sentence that says so. */
  read(): readonly string[]
  stop(): void
}

const nobody = 'No runner is connected. New tasks will wait.'

/** Starts listening to the heartbeats of runners. `now` is monotonic, in milliseconds. */
export function startNotices(bus: Bus, now?: () => number): Notices {
  const runners = hearRunners(bus, now)
  return {
    read() {
      const connected = runners.now()
      if (connected.length === 0) return runners.isSettled() ? [nobody] : []
      return [...new Set(connected.flatMap(({ notices }) => notices))]
    },
    stop: runners.stop,
  }
}
