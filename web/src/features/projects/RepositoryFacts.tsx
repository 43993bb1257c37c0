/** A line about how cloning a project's repository differs from a plain `git clone`. */
import { Link } from 'react-router-dom'
import { cloneDifferences } from './cloneDifferences.ts'
import { refreshAfterSeconds, useProjectRepositoryQuery } from './settings/projectSettingsApi.ts'
import { texts } from './texts.ts'

const repositoryTexts = texts.detail.repository

export function RepositoryFacts({ projectId }: { readonly projectId: string }) {
  // A task may fetch the repository at any time, which makes the answer outdated. But each read counts against the person's limit at the code
  // host, so it is not repeated on every visit.
  const { data } = useProjectRepositoryQuery(projectId, { refetchOnMountOrArgChange: refreshAfterSeconds })
  const facts = data?.repository ? cloneDifferences(data.repository, repositoryTexts) : []
  // Keeps room for one line, so that usually nothing moves when the answer comes.
  return (
    <p className="min-h-5 wrap-anywhere text-meta text-muted">
      {data?.repository === null && repositoryTexts.unknown}
      {facts.length > 0 && (
        <>
          {facts.join(', ')}{' '}
          <Link to={`/projects/${projectId}/settings`} className="underline hover:text-text">
            {repositoryTexts.details}
          </Link>
        </>
      )}
    </p>
  )
}
