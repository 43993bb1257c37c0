/** The choice of how freely an agent works, for agents with several modes. */
import { ShieldHalf } from 'lucide-react'
import type { AgentName } from '#domain/agents.ts'
import { modeFor, modesOf } from '#domain/agents/capabilities.ts'
import type { AgentMode } from '#domain/task/questionEvents.ts'
import { modeLabels } from '#domain/task/questionOptions.ts'
import { Picker } from '../../ui/overlay/Picker.tsx'
import { modeTexts as texts } from './modeTexts.ts'

interface ModePickerProps {
  readonly agent: AgentName
  readonly mode: AgentMode
  readonly onChoose: (mode: AgentMode) => void
  /** A sentence below the options. */
  readonly note?: string | undefined
}

export function ModePicker({ agent, mode, onChoose, note }: ModePickerProps) {
  const modes = modesOf(agent)
  return (
    <Picker
      label={texts.label}
      placeholder={modeLabels[mode]}
      icon={<ShieldHalf className="size-3.5" />}
      options={modes.map((value) => ({ value, label: modeLabels[value], short: texts.short[value] }))}
      chosen={modeFor(agent, mode) ?? null}
      onChoose={(value) => {
        const chosen = modes.find((one) => one === value)
        if (chosen !== undefined) onChoose(chosen)
      }}
      note={note}
      filterLabel={texts.filter}
      emptyText={texts.none}
      shrinks
    />
  )
}
