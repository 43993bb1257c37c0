/** The settings for pull requests: whether tasks open drafts by themselves, and whether feedback starts a turn. */
import { useState } from 'react'
import { feedbackLimits, feedbackModes } from '#domain/task/codeHost/feedbackRule.ts'
import { Checkbox, Choice } from '../../../ui/form/Choice.tsx'
import { Field } from '../../../ui/form/Field.tsx'
import { type ProjectSettingsProps, SettingsForm, useSettingsForm } from './SettingsPart.tsx'
import { texts } from './texts.ts'

const modes = feedbackModes.map((value) => ({ value, label: texts.feedback.modes[value] }))

/** The setting for reviews, comments and failed checks of the project's pull requests. */
export function FeedbackPart(part: ProjectSettingsProps) {
  const [rule, setRule] = useState(part.settings.feedback)
  const form = useSettingsForm(part, { feedback: rule })
  const mode = (name: 'reviews' | 'checks') => (
    <Choice
      label={texts.feedback[name]}
      options={modes}
      chosen={rule[name]}
      onChoose={(value) => setRule({ ...rule, [name]: value })}
    />
  )
  const tries = (name: 'triesPerCommit' | 'triesPerDay') => (
    <Field
      label={texts.feedback[name]}
      type="number"
      min={0}
      max={feedbackLimits[name]}
      value={rule[name]}
      error={form.refused?.field?.includes(name) ? form.refused.message : undefined}
      onChange={({ target }) => setRule({ ...rule, [name]: Number(target.value) })}
    />
  )
  return (
    <SettingsForm form={form} title={texts.feedback.title} why={texts.feedback.why}>
      {mode('reviews')}
      {mode('checks')}
      {rule.checks === 'automatic' && (
        <div className="grid grid-cols-1 gap-4 md:grid-cols-2">
          {tries('triesPerCommit')}
          {tries('triesPerDay')}
        </div>
      )}
      <Checkbox checked={rule.resolves} onChange={(resolves) => setRule({ ...rule, resolves })}>
        {texts.feedback.resolves}
      </Checkbox>
    </SettingsForm>
  )
}

/** The setting that lets tasks open draft pull requests by themselves. */
export function DraftsPart(part: ProjectSettingsProps) {
  const [draftPullRequests, setDrafts] = useState(part.settings.draftPullRequests)
  const form = useSettingsForm(part, { draftPullRequests })
  return (
    <SettingsForm form={form} title={texts.drafts.title} why={texts.drafts.why}>
      <Checkbox checked={draftPullRequests} onChange={setDrafts}>
        {texts.drafts.label}
      </Checkbox>
    </SettingsForm>
  )
}
