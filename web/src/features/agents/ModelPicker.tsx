/** The model that an agent is to use: one that it tells of, any other by its name, or its own choice. */
import { Cpu } from 'lucide-react'
import { defaultModel, isModelName } from '#domain/kernel/names.ts'
import { takesModel } from '#domain/task/agentModels.ts'
import { agentNamed, type AgentName } from '#domain/agents.ts'
import { classes } from '../../ui/classes.ts'
import { Picker } from '../../ui/overlay/Picker.tsx'
import type { PickerOption } from '../../ui/overlay/pickerOptions.ts'
import { useAgentsQuery } from './agentsApi.ts'
import { texts } from './texts.ts'

interface ModelPickerProps {
  readonly agent: AgentName
  /** `null` leaves the choice to the agent. */
  readonly model: string | null
  readonly onChoose: (model: string | null) => void
  /** A sentence to know before choosing. */
  readonly note?: string | undefined
  /** On a phone its name has the room of its icon. */
  readonly tight?: boolean
}

export function ModelPicker({ agent, model, onChoose, note, tight = false }: ModelPickerProps) {
  const { data } = useAgentsQuery()
  const known = data?.agents.find(({ name }) => name === agent)?.models ?? []
  const chosen = model ?? defaultModel
  const options: readonly PickerOption[] = [
    { value: defaultModel, label: texts.model.ofAgent },
    ...known.map(({ name, label }) => ({ value: name, label })),
  ]
  const isListed = options.some(({ value }) => value === chosen)
  return (
    <Picker
      label={texts.model.label}
      placeholder={texts.model.ofAgent}
      icon={<Cpu className={classes('size-3.5', tight && 'max-md:hidden')} />}
      options={isListed ? options : [...options, { value: chosen, label: chosen }]}
      typed={(typed) => typedModel(agent, typed)}
      chosen={chosen}
      onChoose={(value) => onChoose(value === defaultModel ? null : value)}
      note={note}
      filterLabel={texts.model.filter}
      emptyText={texts.model.none}
    />
  )
}

/** A model that is not in the list, by the name that was typed. */
function typedModel(agent: AgentName, typed: string): PickerOption {
  if (!isModelName(typed)) return { value: 'impossible', label: typed, disabled: texts.model.impossible }
  if (!takesModel(agent, typed))
    return { value: 'impossible', label: typed, disabled: texts.model.ofOther(agentNamed(agent).label) }
  return { value: typed, label: texts.model.use(typed) }
}
