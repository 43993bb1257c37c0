/** Whether tasks of the project open drafts of pull requests automatically. */
import { useState } from 'react'
import { Checkbox } from '../../../ui/form/Choice.tsx'
import type { PartOfProject } from './Part.tsx'
import { SettingsForm, useSettingsForm } from './SettingsForm.tsx'
import { texts } from './texts.ts'

export function DraftsPart(part: PartOfProject) {
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
