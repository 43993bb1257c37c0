/** The choice of an agent. An agent that cannot run is shown with the reason. */
import { useMemo } from 'react'
import { type AgentName, agents, isAgentName } from '#domain/agents.ts'
import { AgentMark } from '../../ui/AgentMark.tsx'
import { Picker } from '../../ui/overlay/Picker.tsx'
import { useAgentsQuery } from '../../api/aboutServerApi.ts'
import { texts } from './texts.ts'

/** How often the agents are read again, in milliseconds: runners may come and go while the page is open. */
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
      options={useAgentOptions(agent)}
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

/**
 * The options of the picker. An agent is disabled if the server has said that it cannot run. Some agents are listed only if they are installed or
 * `chosen`.
 */
export function useAgentOptions(chosen: AgentName) {
  const { data } = useAgentsQuery(undefined, {
    pollingInterval: pollIntervalMs,
    skipPollingIfUnfocused: true,
  })
  return useMemo(
    () =>
      agents.flatMap(({ name, label, isHiddenWhenMissing = false }) => {
        const known = data?.agents.find((one) => one.name === name)
        if (isHiddenWhenMissing && name !== chosen && known?.installed !== true) return []
        const icon = <AgentMark agent={name} bare />
        return [{ value: name, label, icon, disabled: known?.missing ?? undefined }]
      }),
    [data, chosen],
  )
}
