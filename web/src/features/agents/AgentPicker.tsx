/** The choice of an agent. An agent that cannot run is shown with the reason. */
import { useMemo } from 'react'
import { type AgentName, agents, isAgentName } from '#domain/agents.ts'
import { AgentMark } from '../../ui/AgentMark.tsx'
import { Picker } from '../../ui/overlay/Picker.tsx'
import { useAgentsQuery } from '../../api/aboutServerApi.ts'
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
 * Every agent can be chosen unless the server has said that it cannot run. Some agents are shown only where they are installed, or when they are
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
