/** Which hosts a sandbox may reach, and whether the model provider may fetch content from other hosts for an agent in the sandbox. */
import { Plus } from 'lucide-react'
import { useId } from 'react'
import type { HostSuggestion } from '#domain/api/projectSettings.schema.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { Checkbox } from '../../../ui/form/Choice.tsx'
import { LinesField, wordsOf } from './LinesField.tsx'
import { type ProjectSettingsProps, SettingsForm, useEdited, useSettingsForm } from './SettingsPart.tsx'
import { texts } from './texts.ts'

interface HostsPartProps extends ProjectSettingsProps {
  readonly suggestions: readonly HostSuggestion[]
}

export function HostsPart({ suggestions, ...part }: HostsPartProps) {
  const [hostsText, setHostsText] = useEdited(part.settings.egress.join('\n'))
  const [modelFetches, setModelFetches] = useEdited(part.settings.modelFetches)
  const explanationId = useId()
  const egress = wordsOf(hostsText.toLowerCase())
  const form = useSettingsForm(part, { egress, modelFetches })
  const newSuggestions = suggestions.filter(({ host }) => !egress.includes(host))
  return (
    <SettingsForm form={form} title={texts.hosts.title} why={texts.hosts.why}>
      <LinesField
        label={texts.hosts.label}
        maxCharacters={52_000}
        value={hostsText}
        error={form.refused && refusalText(form.refused, egress)}
        onChange={setHostsText}
      />
      {newSuggestions.length > 0 && (
        <div className="flex flex-wrap items-center gap-2">
          <span className="text-ui text-muted">{texts.hosts.suggested}</span>
          {newSuggestions.map(({ host, from }) => (
            <Button
              key={host}
              size="small"
              icon={<Plus />}
              title={from}
              onClick={() => setHostsText([...egress, host].join('\n'))}
            >
              {texts.hosts.add(host)}
            </Button>
          ))}
        </div>
      )}
      <div>
        <Checkbox checked={modelFetches} describedBy={explanationId} onChange={setModelFetches}>
          {texts.hosts.modelFetches}
        </Checkbox>
        <p id={explanationId} className="max-w-[72ch] text-meta text-muted">
          {texts.hosts.modelFetchesWhy}
        </p>
      </div>
    </SettingsForm>
  )
}

/** The message of a refusal, with the host that the refusal is about. */
function refusalText(
  { field, message }: { readonly field: string | null; readonly message: string },
  egress: readonly string[],
): string {
  const index = /^egress\.(\d+)$/.exec(field ?? '')?.[1]
  const host = index === undefined ? undefined : egress[Number(index)]
  return host === undefined ? message : `${host}: ${message}`
}
