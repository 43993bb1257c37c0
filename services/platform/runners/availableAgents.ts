/** Which agents can run, according to the connected runners. */
import type { AgentState } from '#domain/api/server.schema.ts'
import { agentNames, type AgentName } from '#domain/agents.ts'
import type { Bus } from '#platform/ports/bus.ts'
import { hearRunners, silentMs } from './presence.ts'

export interface Agents {
  /**
   * Every agent, as the best-equipped connected runner reports it. If no runner has reported yet, it waits for one, at most as long as a connected
   * runner may be silent.
   */
  read(): Promise<readonly AgentState[]>
  /** Why no connected runner can run the agent, in the sentence of `read`; `null` when one can, or when none has reported yet. */
  whyNone(name: AgentName): string | null
  stop(): void
}

/** Starts listening. `now` is monotonic, in milliseconds. */
export function startAgents(bus: Bus, now?: () => number): Agents {
  const waiting = new Set<() => void>()
  const runners = hearRunners(bus, now, () => {
    if (hasTold()) release()
  })
  const told = () => runners.now().flatMap((runner) => runner.agents)
  const hasTold = () => told().length > 0
  const release = () => {
    for (const go of waiting) go()
    waiting.clear()
  }
  const oneTells = () =>
    new Promise<void>((resolve) => {
      const go = () => {
        clearTimeout(limit)
        waiting.delete(go)
        resolve()
      }
      const limit = setTimeout(go, silentMs)
      waiting.add(go)
    })
  const best = (name: AgentName) => bestOf(told().filter((state) => state.name === name))
  return {
    whyNone: (name) => best(name)?.missing ?? null,
    async read() {
      if (!hasTold() && !runners.isSettled()) await oneTells()
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
