/** A part of the settings, with its title and explanation; most parts are a form that is saved as a whole. */
import { useState, type ReactNode, type FormEvent } from 'react'
import { useDispatch } from 'react-redux'
import type { ShownSettings, updateProjectSettings } from '#domain/api/projectSettings.schema.ts'
import type { BodyInputOf } from '#domain/api/call.schema.ts'
import { Panel } from '../../../ui/layout/Panel.tsx'
import { Button } from '../../../ui/form/Button.tsx'
import { texts } from './texts.ts'
import { notifiedOutcome } from '../../notifications/notifications.ts'
import { useUpdateProjectSettingsMutation, faults } from './projectSettingsApi.ts'

/** The project and its settings, as props of most parts. */
export interface ProjectSettingsProps {
  readonly projectId: string
  readonly settings: ShownSettings
}

interface SettingsPartProps {
  readonly title: string
  readonly why: string
  readonly children: ReactNode
}

export function SettingsPart({ title, why, children }: SettingsPartProps) {
  return (
    <Panel label={title} className="mb-6 grid grid-cols-1 gap-4 p-5">
      <div>
        <h2 className="font-semibold">{title}</h2>
        <p className="mt-1 max-w-[72ch] text-ui text-muted">{why}</p>
      </div>
      {children}
    </Panel>
  )
}

/** A value that a form edits. It follows the saved settings until a person edits it, and again once the edit was saved. An unsaved edit stays. */
export function useEdited<T>(saved: T, partOf: (value: T) => unknown = (value) => value) {
  const [edited, setEdited] = useState<{ readonly value: T }>()
  const isSaved = edited && JSON.stringify(partOf(edited.value)) === JSON.stringify(partOf(saved))
  if (isSaved) setEdited(undefined)
  return [edited ? edited.value : saved, (value: T) => setEdited({ value })] as const
}

/** The state of a form that edits `values` of the settings. `change` is the change that the form sends when it is saved. */
export function useSettingsForm(
  { projectId, settings }: ProjectSettingsProps,
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
  readonly children: ReactNode
  /** Shown below the form. */
  readonly after?: ReactNode
}

export function SettingsForm({ form, title, why, children, after }: SettingsFormProps) {
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    form.onSave()
  }
  return (
    <SettingsPart title={title} why={why}>
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
    </SettingsPart>
  )
}

type SettingsChange = BodyInputOf<typeof updateProjectSettings>

/** `save` saves a part of the settings, and shows the outcome as a notification. */
export function useSave(projectId: string) {
  const dispatch = useDispatch()
  const [update, { isLoading, error }] = useUpdateProjectSettingsMutation()
  const refused = error !== undefined && 'field' in error ? error : undefined
  return {
    busy: isLoading,
    refused,
    save: async (settings: SettingsChange) => {
      const answer = await update({ projectId, ...settings })
      dispatch(notifiedOutcome(answer.error, texts.saved, faults.notSaved))
    },
  }
}
