/** The choice of the agent's effort. The levels have the agent's own names; without levels for the model, nothing is rendered. */
import { Choice } from '../../ui/form/Choice.tsx'
import { effortTexts as texts } from './effortTexts.ts'

interface EffortChoiceProps {
  readonly levels: readonly string[]
  /** The chosen effort; `null` leaves the choice to the agent. */
  readonly chosen: string | null
  readonly onChoose: (level: string | null) => void
}

export function EffortChoice({ levels, chosen, onChoose }: EffortChoiceProps) {
  if (levels.length === 0) return null
  const options = levels.map((level) => ({ value: level, label: level }))
  return (
    <div className="flex-none border-t border-line-soft px-3 py-2">
      <Choice
        label={texts.label}
        options={[{ value: '', label: texts.ofAgent }, ...options]}
        chosen={chosen ?? ''}
        onChoose={(level) => onChoose(level === '' ? null : level)}
      />
    </div>
  )
}
