/** In a line what of a project's repository is not as in any clone. */
import { Link } from 'react-router-dom'
import type { ShownRepository } from '#domain/api/projectSettings.schema.ts'
import { refreshAfterSeconds, useProjectRepositoryQuery } from './settings/projectSettingsApi.ts'
import { texts } from './texts.ts'

const said = texts.detail.repository

export function RepositoryFacts({ projectId }: { readonly projectId: string }) {
  // A task may have fetched it since; each answer costs the person requests at the code host.
  const { data } = useProjectRepositoryQuery(projectId, { refetchOnMountOrArgChange: refreshAfterSeconds })
  const facts = data?.repository ? factsOf(data.repository) : []
  // Its line is kept: nothing moves when the answer comes.
  return (
    <p className="min-h-5 wrap-anywhere text-meta text-muted">
      {data?.repository === null && said.unknown}
      {facts.length > 0 && (
        <>
          {facts.join(', ')}{' '}
          <Link to={`/projects/${projectId}/settings`} className="underline hover:text-text">
            {said.details}
          </Link>
        </>
      )}
    </p>
  )
}

function factsOf({ submoduleCount, filters, isShallow }: ShownRepository): readonly string[] {
  const others = filters.filter((filter) => filter !== 'lfs')
  return [
    ...(submoduleCount > 0 ? [said.submodules(submoduleCount)] : []),
    ...(filters.includes('lfs') ? [said.lfs] : []),
    ...(others.length > 0 ? [said.filters(others.join(', '))] : []),
    ...(isShallow ? [said.shallow] : []),
  ]
}
