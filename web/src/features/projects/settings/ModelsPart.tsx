/** The project's own keys for the models of agents, each with the gateway's address if the key is for a gateway. */
import { useState } from 'react'
import type { KeyProvider } from '#domain/agentKeys.ts'
import { Field } from '../../../ui/form/Field.tsx'
import { KeySlot } from '../../agents/KeySlot.tsx'
import { keyTexts, providers } from '../../agents/keyTexts.ts'
import { SettingsPart, type ProjectSettingsProps } from './SettingsPart.tsx'
import { useUpdateProjectSettingsMutation } from './projectSettingsApi.ts'
import { texts } from './texts.ts'

export function ModelsPart({ projectId, settings }: ProjectSettingsProps) {
  return (
    <SettingsPart title={texts.models.title} why={texts.models.why}>
      <div className="divide-y divide-line-soft border-y border-line-soft">
        {providers.map(({ name, label }) => (
          <ModelKey key={name} projectId={projectId} settings={settings} provider={name} label={label} />
        ))}
      </div>
    </SettingsPart>
  )
}

interface ModelKeyProps extends ProjectSettingsProps {
  readonly provider: KeyProvider
  readonly label: string
}

function ModelKey({ projectId, settings, provider, label }: ModelKeyProps) {
  const [update] = useUpdateProjectSettingsMutation()
  const known = settings.modelKeys.find((one) => one.provider === provider)
  const [address, setAddress] = useState(known?.baseUrl ?? '')
  return (
    <KeySlot
      name={label}
      stored={known && { ...known, kind: 'api_key' }}
      none={texts.models.none}
      note={known?.baseUrl ?? undefined}
      removeWhy={texts.models.removeWhy}
      valueLabel={keyTexts.value}
      valueHelp={texts.models.valueHelp}
      onSet={async (value) => {
        const baseUrl = address.trim() === '' ? null : address.trim()
        const answer = await update({ projectId, modelKey: { provider, baseUrl, value } })
        return answer.error === undefined
          ? { stored: kept(answer.data.settings, provider) }
          : { error: answer.error }
      }}
    >
      <Field
        label={texts.models.address}
        help={texts.models.addressHelp}
        type="url"
        autoComplete="off"
        spellCheck={false}
        placeholder={texts.models.addressPlaceholder}
        maxCharacters={500}
        value={address}
        onChange={(event) => setAddress(event.target.value)}
      />
    </KeySlot>
  )
}

function kept({ modelKeys }: ProjectSettingsProps['settings'], provider: KeyProvider) {
  const known = modelKeys.find((one) => one.provider === provider)
  return known && { ...known, kind: 'api_key' as const }
}
