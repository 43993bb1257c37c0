/** Which clean filters of the repository may go unapplied when work is published. */
import { useState } from 'react'
import { Lines, wordsOf } from './Lines.tsx'
import type { PartOfProject } from './Part.tsx'
import { SettingsForm, useSettingsForm } from './SettingsForm.tsx'
import { texts } from './texts.ts'

export function FiltersPart(part: PartOfProject) {
  const [written, setWritten] = useState(() => part.settings.allowedFilters.join('\n'))
  const form = useSettingsForm(part, { allowedFilters: wordsOf(written) })
  return (
    <SettingsForm form={form} title={texts.filters.title} why={texts.filters.why}>
      <Lines
        label={texts.filters.label}
        maxCharacters={2_100}
        value={written}
        error={form.refused?.message}
        onChange={setWritten}
      />
    </SettingsForm>
  )
}
