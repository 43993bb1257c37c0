/** The choice of an agent. An agent that cannot run is shown with the reason. */
import { useMemo } from 'react'
import { type AgentName, agents, isAgentName } from '#domain/agents.ts'
import { AgentMark } from '../../ui/AgentMark.tsx'
import { Picker } from '../../ui/overlay/Picker.tsx'
import { useAgentsQuery } from '../../api/serverApi.ts'
import { texts } from './texts.ts'

/** Runners may come and go while the page is open, so the agents are read again at this interval. */
const pollIntervalMs = 60_000

interface AgentPickerProps {
  readonly label: string
  readonly agent: AgentName
  readonly onChoose: (agent: AgentName) => void
  readonly shrinks?: boolean
}

export function AgentPicker({ label, agent, onChoose, shrinks = false }: AgentPickerProps) {
  return (
    <Picker
      label={label}
      placeholder={agent}
      icon={<AgentMark agent={agent} bare />}
      options={useAgentOptions()}
      chosen={agent}
      onChoose={(value) => {
        if (isAgentName(value)) onChoose(value)
      }}
      shrinks={shrinks}
      filterLabel={texts.filter}
      emptyText={texts.none}
    />
  )
}

/** Every agent can be chosen unless the server has said that it cannot run. */
export function useAgentOptions() {
  const { data } = useAgentsQuery(undefined, {
    pollingInterval: pollIntervalMs,
    skipPollingIfUnfocused: true,
  })
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
