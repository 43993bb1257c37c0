/** Which clean filters of the repository may go unapplied when work is published. */
import { useState, type FormEvent } from 'react'
import { Lines } from './Lines.tsx'
import { Part, type PartOfProject } from './Part.tsx'
import { SaveButton } from './SaveButton.tsx'
import { texts } from './texts.ts'
import { useSave } from './useSave.ts'

export function FiltersPart({ projectId, settings }: PartOfProject) {
  const [written, setWritten] = useState(() => settings.allowedFilters.join('\n'))
  const { save, busy, refused } = useSave(projectId)
  const allowedFilters = [...new Set(written.split(/[\s,]+/))].filter((name) => name !== '')
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    void save({ allowedFilters })
  }
  return (
    <Part title={texts.filters.title} why={texts.filters.why}>
      <form onSubmit={onSubmit} className="grid grid-cols-1 gap-4">
        <Lines
          label={texts.filters.label}
          maxCharacters={2_100}
          value={written}
          error={refused?.message}
          onChange={setWritten}
        />
        <SaveButton busy={busy} changed={allowedFilters.join('\n') !== settings.allowedFilters.join('\n')} />
      </form>
    </Part>
  )
}
