/** Whether tasks of the project open drafts of pull requests by themselves. */
import { useState, type FormEvent } from 'react'
import { Checkbox } from '../../../ui/form/Choice.tsx'
import { Part, type PartOfProject } from './Part.tsx'
import { SaveButton } from './SaveButton.tsx'
import { texts } from './texts.ts'
import { useSave } from './useSave.ts'

export function DraftsPart({ projectId, settings }: PartOfProject) {
  const [draftPullRequests, setDrafts] = useState(settings.draftPullRequests)
  const { save, busy } = useSave(projectId)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    void save({ draftPullRequests })
  }
  return (
    <Part title={texts.drafts.title} why={texts.drafts.why}>
      <form onSubmit={onSubmit} className="grid grid-cols-1 gap-4">
        <Checkbox checked={draftPullRequests} onChange={setDrafts}>
          {texts.drafts.label}
        </Checkbox>
        <SaveButton busy={busy} changed={draftPullRequests !== settings.draftPullRequests} />
      </form>
    </Part>
  )
}
