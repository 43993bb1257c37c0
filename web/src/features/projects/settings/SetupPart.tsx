/** The command that makes a new workspace ready. */
import { useState, type FormEvent } from 'react'
import { Lines } from './Lines.tsx'
import { Part, type PartOfProject } from './Part.tsx'
import { SaveButton } from './SaveButton.tsx'
import { texts } from './texts.ts'
import { useSave } from './useSave.ts'

export function SetupPart({ projectId, settings }: PartOfProject) {
  const [setupCommand, setSetupCommand] = useState(settings.setupCommand)
  const { save, busy, refused } = useSave(projectId)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    void save({ setupCommand })
  }
  return (
    <Part title={texts.setup.title} why={texts.setup.why}>
      <form onSubmit={onSubmit} className="grid grid-cols-1 gap-4">
        <Lines
          label={texts.setup.label}
          placeholder={texts.setup.placeholder}
          maxCharacters={10_000}
          value={setupCommand}
          error={refused?.message}
          onChange={setSetupCommand}
        />
        <SaveButton busy={busy} changed={setupCommand !== settings.setupCommand} />
      </form>
    </Part>
  )
}
