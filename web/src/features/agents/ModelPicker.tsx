/** The choice of a model: one that the agent lists, any other by its name, or the agent's default. */
import { Cpu } from 'lucide-react'
import { defaultModel, isModelName } from '#domain/kernel/names.ts'
import { takesModel } from '#domain/agents/models.ts'
import { agentNamed, type AgentName } from '#domain/agents.ts'
import { classes } from '../../ui/classes.ts'
import { Picker } from '../../ui/overlay/Picker.tsx'
import type { PickerOption } from '../../ui/overlay/pickerOptions.ts'
import { useAgentsQuery } from '../../api/serverApi.ts'
import { texts } from './texts.ts'

interface ModelPickerProps {
  readonly agent: AgentName
  /** `null` leaves the choice to the agent. */
  readonly model: string | null
  readonly onChoose: (model: string | null) => void
  /** A sentence below the options. */
  readonly note?: string | undefined
  /** On a phone the icon is hidden to leave room for the name. */
  readonly tight?: boolean
}

export function ModelPicker({ agent, model, onChoose, note, tight = false }: ModelPickerProps) {
  const { data } = useAgentsQuery()
  const models = data?.agents.find(({ name }) => name === agent)?.models ?? []
  const chosen = model ?? defaultModel
  const options: readonly PickerOption[] = [
    { value: defaultModel, label: texts.model.ofAgent },
    ...models.map(({ name, label }) => ({ value: name, label })),
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

/** The option for a typed name that is not in the list. */
function typedModel(agent: AgentName, typed: string): PickerOption {
  const impossible = (why: string) => ({ value: 'impossible', label: typed, disabled: why })
  if (!isModelName(typed)) return impossible(texts.model.impossible)
  if (!takesModel(agent, typed)) return impossible(texts.model.ofOther(agentNamed(agent).label))
  return { value: typed, label: texts.model.use(typed) }
}
