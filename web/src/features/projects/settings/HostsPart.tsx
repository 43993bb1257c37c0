/** Which hosts a sandbox may reach, and whether the model's service may reach others for it. */
import { Plus } from 'lucide-react'
import { useId, useState, type FormEvent } from 'react'
import type { HostSuggestion } from '#domain/api/projectSettings.schema.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { Checkbox } from '../../../ui/form/Choice.tsx'
import { Lines } from './Lines.tsx'
import { Part, type PartOfProject } from './Part.tsx'
import { SaveButton } from './SaveButton.tsx'
import { texts } from './texts.ts'
import { useSave } from './useSave.ts'

interface HostsPartProps extends PartOfProject {
  readonly suggestions: readonly HostSuggestion[]
}

export function HostsPart({ projectId, settings, suggestions }: HostsPartProps) {
  const [written, setWritten] = useState(() => settings.egress.join('\n'))
  const [modelFetches, setModelFetches] = useState(settings.modelFetches)
  const meaning = useId()
  const { save, busy, refused } = useSave(projectId)
  const hosts = written.toLowerCase().split(/[\s,]+/)
  const egress = [...new Set(hosts)].filter((host) => host !== '')
  const more = suggestions.filter(({ host }) => !egress.includes(host))
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    void save({ egress, modelFetches })
  }
  return (
    <Part title={texts.hosts.title} why={texts.hosts.why}>
      <form onSubmit={onSubmit} className="grid grid-cols-1 gap-4">
        <Lines
          label={texts.hosts.label}
          maxCharacters={52_000}
          value={written}
          error={refused && sentenceFor(refused, egress)}
          onChange={setWritten}
        />
        {more.length > 0 && (
          <div className="flex flex-wrap items-center gap-2">
            <span className="text-ui text-muted">{texts.hosts.suggested}</span>
            {more.map(({ host, from }) => (
              <Button
                key={host}
                size="small"
                icon={<Plus />}
                title={from}
                onClick={() => setWritten([...egress, host].join('\n'))}
              >
                {texts.hosts.add(host)}
              </Button>
            ))}
          </div>
        )}
        <div>
          <Checkbox checked={modelFetches} describedBy={meaning} onChange={setModelFetches}>
            {texts.hosts.modelFetches}
          </Checkbox>
          <p id={meaning} className="max-w-[72ch] text-meta text-muted">
            {texts.hosts.modelFetchesWhy}
          </p>
        </div>
        <SaveButton
          busy={busy}
          changed={egress.join('\n') !== settings.egress.join('\n') || modelFetches !== settings.modelFetches}
        />
      </form>
    </Part>
  )
}

/** Of many lines, it matters which. */
function sentenceFor(
  { field, message }: { readonly field: string | null; readonly message: string },
  egress: readonly string[],
): string {
  const index = /^egress\.(\d+)$/.exec(field ?? '')?.[1]
  const host = index === undefined ? undefined : egress[Number(index)]
  return host === undefined ? message : `${host}: ${message}`
}
