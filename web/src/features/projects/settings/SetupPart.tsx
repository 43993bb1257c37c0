/** The command that prepares a new workspace. */
import { useState } from 'react'
import { Lines } from './Lines.tsx'
import type { PartOfProject } from './Part.tsx'
import { SettingsForm, useSettingsForm } from './SettingsForm.tsx'
import { texts } from './texts.ts'

export function SetupPart(part: PartOfProject) {
  const [setupCommand, setSetupCommand] = useState(part.settings.setupCommand)
  const form = useSettingsForm(part, { setupCommand })
  return (
    <SettingsForm form={form} title={texts.setup.title} why={texts.setup.why}>
      <Lines
        label={texts.setup.label}
        placeholder={texts.setup.placeholder}
        maxCharacters={10_000}
        value={setupCommand}
        error={form.refused?.message}
        onChange={setSetupCommand}
      />
    </SettingsForm>
  )
}
