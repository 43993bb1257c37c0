/** How cloning the repository differs from a plain `git clone`, and the setting for files that git passes through a filter. */
import { useState } from 'react'
import type { ShownRepository, ShownSettings } from '#domain/api/projectSettings.schema.ts'
import { reasonOf } from '../../../api/fault.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { cloneDifferences } from '../cloneDifferences.ts'
import { faults, refreshAfterSeconds, useProjectRepositoryQuery } from './projectSettingsApi.ts'
import {
  SettingsPart,
  type ProjectSettingsProps,
  useSave,
  SettingsForm,
  useSettingsForm,
} from './SettingsPart.tsx'
import { texts } from './texts.ts'
import { LinesField, wordsOf } from './LinesField.tsx'

const repositoryTexts = texts.repository

export function RepositoryPart({ projectId, settings }: ProjectSettingsProps) {
  // A task may fetch the repository at any time, which makes the answer outdated. But each read counts against the person's limit at the code
  // host, so it is not repeated on every visit.
  const { data, error } = useProjectRepositoryQuery(projectId, {
    refetchOnMountOrArgChange: refreshAfterSeconds,
  })
  const repository = data?.repository
  return (
    <SettingsPart title={repositoryTexts.title} why={repositoryTexts.why}>
      {repository ? (
        <>
          <ul className="grid gap-1 text-ui">
            {factLines(repository).map((fact) => (
              <li key={fact}>{fact}</li>
            ))}
          </ul>
          {repository.submodules.length > 0 && (
            <Submodules projectId={projectId} settings={settings} repository={repository} />
          )}
        </>
      ) : (
        <p role="status" className="text-ui text-muted">
          {error !== undefined && reasonOf(error, faults.notFetched)}
          {error === undefined && (data === undefined ? repositoryTexts.looking : repositoryTexts.unknown)}
        </p>
      )}
    </SettingsPart>
  )
}

/** The differences from a plain clone, except for the submodules, which have a list of their own. */
function factLines(repository: ShownRepository): readonly string[] {
  const { lfs, filters, shallow, plain } = repositoryTexts
  const facts = cloneDifferences(repository, { lfs, filters, shallow })
  return facts.length === 0 && repository.submodules.length === 0 ? [plain] : facts
}

interface SubmodulesProps extends ProjectSettingsProps {
  readonly repository: ShownRepository
}

function Submodules({ projectId, settings, repository: { submodules, submoduleCount } }: SubmodulesProps) {
  const { save, busy } = useSave(projectId)
  const listed = submodules.map((one) => ({ ...one, state: stateOf(one, settings) }))
  const more = listed
    .filter(({ state }) => state === 'private')
    .map(({ repository }) => repository.toLowerCase())
  return (
    <>
      <ul aria-label={repositoryTexts.submodules(submoduleCount)} className="grid gap-2 text-ui">
        {listed.map(({ path, repository, state }) => (
          <li key={path} className="wrap-anywhere">
            <code>{path}</code> <span className="text-muted">{repository}</span>
            <span className="block text-meta text-muted">{repositoryTexts.access[state]}</span>
          </li>
        ))}
      </ul>
      {submoduleCount > submodules.length && (
        <p className="text-meta text-muted">{repositoryTexts.notShown(submoduleCount - submodules.length)}</p>
      )}
      {more.length > 0 && (
        <div>
          <Button
            busy={busy}
            onClick={() => void save({ submodules: [...new Set([...settings.submodules, ...more])] })}
          >
            {repositoryTexts.fetch}
          </Button>
          <p className="mt-1 max-w-[72ch] text-meta text-muted">{repositoryTexts.fetchWhy}</p>
        </div>
      )}
      {settings.submodules.length > 0 && (
        <div>
          <Button kind="ghost" busy={busy} onClick={() => void save({ submodules: [] })}>
            {repositoryTexts.stop}
          </Button>
        </div>
      )}
    </>
  )
}

function stateOf(
  { repository, access }: ShownRepository['submodules'][number],
  { submodules }: Pick<ShownSettings, 'submodules'>,
): keyof typeof repositoryTexts.access {
  const isChosen = access === 'private' && submodules.includes(repository.toLowerCase())
  return isChosen ? 'chosen' : access
}

/** The setting for clean filters whose files may be published unfiltered. */
export function FiltersPart(part: ProjectSettingsProps) {
  const [filtersText, setFiltersText] = useState(() => part.settings.allowedFilters.join('\n'))
  const form = useSettingsForm(part, { allowedFilters: wordsOf(filtersText) })
  return (
    <SettingsForm form={form} title={texts.filters.title} why={texts.filters.why}>
      <LinesField
        label={texts.filters.label}
        maxCharacters={2_100}
        value={filtersText}
        error={form.refused?.message}
        onChange={setFiltersText}
      />
    </SettingsForm>
  )
}
