/** A part of the settings that is saved as a whole. */
import type { FormEvent, ReactNode } from 'react'
import { Button } from '../../../ui/form/Button.tsx'
import { Part, type PartOfProject } from './Part.tsx'
import { texts } from './texts.ts'
import { useSave, type SettingsChange } from './useSave.ts'

/** The state of a form for `values`, which are the settings as they are in its fields; `change` is sent when it is saved. */
export function useSettingsForm(
  { projectId, settings }: PartOfProject,
  values: SettingsChange,
  change: SettingsChange = values,
) {
  const { save, busy, refused } = useSave(projectId)
  const stored: Readonly<Record<string, unknown>> = { ...settings }
  return {
    refused,
    busy,
    isChanged: Object.entries(values).some(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(stored[name]),
    ),
    onSave: () => void save(change),
  }
}

interface SettingsFormProps {
  readonly form: ReturnType<typeof useSettingsForm>
  readonly title: string
  readonly why: string
  /** The fields. */
  readonly children: ReactNode
  /** Below the form. */
  readonly after?: ReactNode
}

export function SettingsForm({ form, title, why, children, after }: SettingsFormProps) {
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    form.onSave()
  }
  return (
    <Part title={title} why={why}>
      <form onSubmit={onSubmit} className="grid grid-cols-1 gap-4">
        {children}
        <div className="flex justify-end">
          <Button
            kind="primary"
            size="touch"
            type="submit"
            busy={form.busy}
            busyLabel={texts.saving}
            disabled={!form.isChanged}
          >
            {texts.save}
          </Button>
        </div>
      </form>
      {after}
    </Part>
  )
}
