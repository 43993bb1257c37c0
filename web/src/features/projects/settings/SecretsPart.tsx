/** The names of the project's secrets, and a form that sets a secret. */
import { Trash2 } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { useDispatch } from 'react-redux'
import type { ShownSettings } from '#domain/api/projectSettings.schema.ts'
import { settingsLimits } from '#domain/project/settings.ts'
import { messageFor } from '../../../api/fault.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { Checkbox } from '../../../ui/form/Choice.tsx'
import { age } from '../../../ui/text/times.ts'
import { ConfirmDialog } from '../../../ui/overlay/ConfirmDialog.tsx'
import { Field } from '../../../ui/form/Field.tsx'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { useNow } from '../../../ui/hooks.ts'
import { notifiedFailure, notifiedOutcome } from '../../notifications/notifications.ts'
import { LinesField } from './LinesField.tsx'
import { SettingsPart, type ProjectSettingsProps } from './SettingsPart.tsx'
import { useRemoveProjectSecretMutation, useSetProjectSecretMutation, faults } from './projectSettingsApi.ts'
import { texts } from './texts.ts'

export function SecretsPart({ projectId, settings }: ProjectSettingsProps) {
  return (
    <SettingsPart title={texts.secrets.title} why={texts.secrets.why}>
      {settings.secrets.length === 0 ? (
        <p className="text-ui text-muted">{texts.secrets.none}</p>
      ) : (
        <ul className="divide-y divide-line-soft border-y border-line-soft">
          {settings.secrets.map((secret) => (
            <SecretRow key={secret.name} projectId={projectId} secret={secret} />
          ))}
        </ul>
      )}
      <SetSecret projectId={projectId} />
    </SettingsPart>
  )
}

function SecretRow({
  projectId,
  secret: { name, forAgent, updatedAt },
}: {
  readonly projectId: string
  readonly secret: ShownSettings['secrets'][number]
}) {
  const dispatch = useDispatch()
  const now = useNow(30_000)
  const [remove, { isLoading }] = useRemoveProjectSecretMutation()
  const [isConfirming, setConfirming] = useState(false)
  const onConfirm = async () => {
    const answer = await remove({ projectId, name })
    setConfirming(false)
    if (answer.error !== undefined) dispatch(notifiedFailure(faults.notRemoved, answer.error))
  }
  return (
    <li className="flex min-h-11 flex-wrap items-center gap-x-3 py-1 md:flex-nowrap">
      <span className="w-full min-w-0 flex-1 basis-full font-mono text-typed wrap-anywhere md:basis-0">
        {name}
      </span>
      {forAgent && <span className="text-meta text-muted">{texts.secrets.withAgent}</span>}
      <span className="flex-1 text-meta text-muted md:flex-none">
        {texts.secrets.changed(age(updatedAt, now))}
      </span>
      <IconButton label={texts.remove(name)} icon={Trash2} onClick={() => setConfirming(true)} />
      <ConfirmDialog
        open={isConfirming}
        onClose={() => setConfirming(false)}
        title={texts.secrets.removeTitle(name)}
        leave={texts.secrets.keep}
        confirm={texts.secrets.remove}
        isDangerous
        busy={isLoading}
        busyLabel={texts.secrets.removing}
        onConfirm={() => void onConfirm()}
      >
        {texts.secrets.removeWhy}
      </ConfirmDialog>
    </li>
  )
}

function SetSecret({ projectId }: { readonly projectId: string }) {
  const dispatch = useDispatch()
  const [set, { isLoading, error }] = useSetProjectSecretMutation()
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const [forAgent, setForAgent] = useState(false)
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault()
    const named = name.trim()
    const answer = await set({ projectId, name: named, value, forAgent })
    dispatch(notifiedOutcome(answer.error, texts.secrets.setDone(named), faults.notSet))
    if (answer.error !== undefined) return
    setName('')
    setValue('')
    setForAgent(false)
  }
  return (
    <form onSubmit={(event) => void onSubmit(event)} className="grid grid-cols-1 gap-4">
      <Field
        label={texts.secrets.name}
        autoCapitalize="off"
        autoComplete="off"
        spellCheck={false}
        maxCharacters={settingsLimits.nameLength}
        value={name}
        error={messageFor(error, 'name')}
        onChange={(event) => setName(event.target.value)}
        className="md:w-1/2"
      />
      <LinesField
        label={texts.secrets.value}
        help={texts.secrets.valueHelp}
        maxCharacters={settingsLimits.secretBytes}
        value={value}
        error={messageFor(error, 'value')}
        onChange={setValue}
      />
      <div className="flex flex-wrap items-center justify-between gap-3">
        <Checkbox checked={forAgent} onChange={setForAgent}>
          {texts.secrets.forAgent}
        </Checkbox>
        <Button
          kind="primary"
          size="touch"
          type="submit"
          busy={isLoading}
          busyLabel={texts.saving}
          disabled={name.trim() === '' || value === ''}
        >
          {texts.secrets.set}
        </Button>
      </div>
    </form>
  )
}
