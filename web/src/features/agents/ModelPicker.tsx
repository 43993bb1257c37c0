/** The choice of a model (one that the agent lists, any other by its name, or the agent's default) and of the effort, if the agent supports it. */
import { Cpu } from 'lucide-react'
import { noChosenModel, isModelName } from '#domain/kernel/names.ts'
import { takesModel } from '#domain/agents/models.ts'
import { agentNamed, type AgentName } from '#domain/agents.ts'
import { classes } from '../../ui/classes.ts'
import { Picker } from '../../ui/overlay/Picker.tsx'
import type { PickerOption } from '../../ui/overlay/pickerOptions.ts'
import { optionalPart } from '../../ui/optionalPart.tsx'
import { effortLevelsOf, modelIn, offered, useModels } from './reportedModels.ts'
import { texts } from './texts.ts'

const EffortChoice = optionalPart(async () => (await import('./EffortChoice.tsx')).EffortChoice)

/** The chosen model and effort; `null` leaves the choice to the agent. */
interface ModelChoice {
  readonly model: string | null
  readonly effort: string | null
}

interface ModelPickerProps extends ModelChoice {
  readonly agent: AgentName
  readonly onChoose: (chosen: ModelChoice) => void
  /** A sentence below the options. */
  readonly note?: string | undefined
  /** Whether the icon is hidden on a phone, to leave room for the name. */
  readonly tight?: boolean
}

export function ModelPicker({ agent, model, effort, onChoose, note, tight = false }: ModelPickerProps) {
  const models = useModels(agent)
  const chosen = model ?? noChosenModel
  const options: readonly PickerOption[] = [
    { value: noChosenModel, label: texts.model.ofAgent, help: modelIn(models, null)?.description },
    ...models
      .filter(({ name }) => name !== 'default')
      .map(({ name, label, description }) => ({ value: name, label, help: description })),
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
      detail={effort === null ? '' : `, ${effort}`}
      onChoose={(value) => {
        const next = value === noChosenModel ? null : value
        onChoose({ model: next, effort: offered(models, next, effort) })
      }}
      below={
        <EffortChoice
          levels={effortLevelsOf(models, model)}
          chosen={effort}
          onChoose={(level) => onChoose({ model, effort: level })}
        />
      }
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
