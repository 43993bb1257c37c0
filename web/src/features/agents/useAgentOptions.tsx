/** The agents to choose from: one that cannot run says why. */
import { useMemo } from 'react'
import { AgentMark } from '../../ui/AgentMark.tsx'
import { agents } from '#domain/agents.ts'
import { useAgentsQuery } from './agentsApi.ts'

/** A runner comes and goes while the page is open. */
const askAgainMs = 60_000

/** Every agent is offered until it is known that it cannot run. */
export function useAgentOptions() {
  const { data } = useAgentsQuery(undefined, { pollingInterval: askAgainMs, skipPollingIfUnfocused: true })
  return useMemo(
    () =>
      agents.map(({ name, label }) => ({
        value: name,
        label,
        icon: <AgentMark agent={name} bare />,
        disabled: data?.agents.find((known) => known.name === name)?.missing ?? undefined,
      })),
    [data],
  )
}
