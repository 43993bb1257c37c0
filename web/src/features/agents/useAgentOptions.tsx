/** The agents to choose from: one that cannot run says why. */
import { useMemo } from 'react'
import { AgentMark, agentNames, type AgentName } from '../../ui/AgentMark.tsx'
import { useAgentsQuery } from './agentsApi.ts'

const agents: readonly AgentName[] = ['claude', 'cursor']
/** A runner comes and goes while the page is open. */
const askAgainMs = 60_000

/** Both agents are offered until it is known that one cannot run. */
export function useAgentOptions() {
  const { data } = useAgentsQuery(undefined, { pollingInterval: askAgainMs, skipPollingIfUnfocused: true })
  return useMemo(
    () =>
      agents.map((value) => ({
        value,
        label: agentNames[value],
        icon: <AgentMark agent={value} bare />,
        disabled: data?.agents.find(({ name }) => name === value)?.missing ?? undefined,
      })),
    [data],
  )
}
