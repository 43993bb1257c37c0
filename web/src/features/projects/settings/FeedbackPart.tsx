/** What is done with reviews, comments and failed checks of the project's pull requests. */
import { useState, type FormEvent } from 'react'
import { feedbackLimits, feedbackModes, type FeedbackMode } from '#domain/task/codeHost/feedbackRule.ts'
import { Checkbox, Choice } from '../../../ui/form/Choice.tsx'
import { Field } from '../../../ui/form/Field.tsx'
import { Part, type PartOfProject } from './Part.tsx'
import { SaveButton } from './SaveButton.tsx'
import { texts } from './texts.ts'
import { useSave } from './useSave.ts'

const modes = feedbackModes.map((value) => ({ value, label: texts.feedback.modes[value] }))

export function FeedbackPart({ projectId, settings: { feedback } }: PartOfProject) {
  const [rule, setRule] = useState(feedback)
  const { save, busy, refused } = useSave(projectId)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    void save({ feedback: rule })
  }
  const tries = (name: 'triesPerCommit' | 'triesPerDay') => (
    <Field
      label={texts.feedback[name]}
      type="number"
      min={0}
      max={feedbackLimits[name]}
      value={rule[name]}
      error={refused?.field?.includes(name) ? refused.message : undefined}
      onChange={({ target }) => setRule({ ...rule, [name]: Number(target.value) })}
    />
  )
  return (
    <Part title={texts.feedback.title} why={texts.feedback.why}>
      <form onSubmit={onSubmit} className="grid grid-cols-1 gap-4">
        <Mode
          label={texts.feedback.reviews}
          chosen={rule.reviews}
          onChoose={(reviews) => setRule({ ...rule, reviews })}
        />
        <Mode
          label={texts.feedback.checks}
          chosen={rule.checks}
          onChoose={(checks) => setRule({ ...rule, checks })}
        />
        {rule.checks === 'automatic' && (
          <div className="grid grid-cols-1 gap-4 md:grid-cols-2">
            {tries('triesPerCommit')}
            {tries('triesPerDay')}
          </div>
        )}
        <Checkbox checked={rule.resolves} onChange={(resolves) => setRule({ ...rule, resolves })}>
          {texts.feedback.resolves}
        </Checkbox>
        <SaveButton busy={busy} changed={JSON.stringify(rule) !== JSON.stringify(feedback)} />
      </form>
    </Part>
  )
}

interface ModeProps {
  readonly label: string
  readonly chosen: FeedbackMode
  readonly onChoose: (mode: FeedbackMode) => void
}

function Mode(props: ModeProps) {
  return <Choice {...props} options={modes} />
}
