/** In a line what of a project's repository is not as in any clone. */
import { Link } from 'react-router-dom'
import { factsOf } from './factsOf.ts'
import { refreshAfterSeconds, useProjectRepositoryQuery } from './settings/projectSettingsApi.ts'
import { texts } from './texts.ts'

const said = texts.detail.repository

export function RepositoryFacts({ projectId }: { readonly projectId: string }) {
  // A task may have fetched it since; each answer costs the person requests at the code host.
  const { data } = useProjectRepositoryQuery(projectId, { refetchOnMountOrArgChange: refreshAfterSeconds })
  const facts = data?.repository ? factsOf(data.repository, said) : []
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
