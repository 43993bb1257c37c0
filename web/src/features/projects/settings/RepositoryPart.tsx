/** What the repository is where it is not as any clone, and which of its private submodules are fetched. */
import type { ShownRepository, ShownSettings } from '#domain/api/projectSettings.schema.ts'
import { reasonOf } from '../../../api/fault.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { factsOf } from '../factsOf.ts'
import { faults } from './faultTexts.ts'
import { Part, type PartOfProject } from './Part.tsx'
import { refreshAfterSeconds, useProjectRepositoryQuery } from './projectSettingsApi.ts'
import { texts } from './texts.ts'
import { useSave } from './useSave.ts'

const said = texts.repository

export function RepositoryPart({ projectId, settings }: PartOfProject) {
  // A task may have fetched it since; each answer costs the person requests at the code host.
  const { data, error } = useProjectRepositoryQuery(projectId, {
    refetchOnMountOrArgChange: refreshAfterSeconds,
  })
  const repository = data?.repository
  return (
    <Part title={said.title} why={said.why}>
      {repository ? (
        <>
          <ul className="grid gap-1 text-ui">
            {factsShown(repository).map((fact) => (
              <li key={fact}>{fact}</li>
            ))}
          </ul>
          {repository.submodules.length > 0 && (
            <Submodules projectId={projectId} settings={settings} repository={repository} />
          )}
        </>
      ) : (
        <p role="status" className="text-ui text-muted">
          {error === undefined
            ? data === undefined
              ? said.looking
              : said.unknown
            : reasonOf(error, faults.notFetched)}
        </p>
      )}
    </Part>
  )
}

/** Submodules have a list of their own. */
function factsShown(repository: ShownRepository): readonly string[] {
  const { lfs, filters, shallow, plain } = said
  const facts = factsOf(repository, { lfs, filters, shallow })
  return facts.length === 0 && repository.submodules.length === 0 ? [plain] : facts
}

interface SubmodulesProps extends PartOfProject {
  readonly repository: ShownRepository
}

function Submodules({ projectId, settings, repository: { submodules, submoduleCount } }: SubmodulesProps) {
  const { save, busy } = useSave(projectId)
  const shown = submodules.map((one) => ({ ...one, state: stateOf(one, settings) }))
  const more = shown
    .filter(({ state }) => state === 'private')
    .map(({ repository }) => repository.toLowerCase())
  return (
    <>
      <ul aria-label={said.submodules(submoduleCount)} className="grid gap-2 text-ui">
        {shown.map(({ path, repository, state }) => (
          <li key={path} className="wrap-anywhere">
            <code>{path}</code> <span className="text-muted">{repository}</span>
            <span className="block text-meta text-muted">{said.access[state]}</span>
          </li>
        ))}
      </ul>
      {submoduleCount > submodules.length && (
        <p className="text-meta text-muted">{said.notShown(submoduleCount - submodules.length)}</p>
      )}
      {more.length > 0 && (
        <div>
          <Button
            busy={busy}
            onClick={() => void save({ submodules: [...new Set([...settings.submodules, ...more])] })}
          >
            {said.fetch}
          </Button>
          <p className="mt-1 max-w-[72ch] text-meta text-muted">{said.fetchWhy}</p>
        </div>
      )}
      {settings.submodules.length > 0 && (
        <div>
          <Button kind="ghost" busy={busy} onClick={() => void save({ submodules: [] })}>
            {said.stop}
          </Button>
        </div>
      )}
    </>
  )
}

function stateOf(
  { repository, access }: ShownRepository['submodules'][number],
  { submodules }: Pick<ShownSettings, 'submodules'>,
): keyof typeof said.access {
  const isChosen = access === 'private' && submodules.includes(repository.toLowerCase())
  return isChosen ? 'chosen' : access
}
