/** A project in the list. */
import { ChevronRight, Lock } from 'lucide-react'
import { Link } from 'react-router-dom'
import type { Project } from '#domain/api/projects.ts'
import { age } from '../../ui/clock.ts'
import { Status } from '../../ui/Status.tsx'
import { useNow } from '../../ui/useNow.ts'
import { RepositoryLine } from './RepositoryLine.tsx'
import { statusOf } from './statusOf.ts'
import { texts } from './texts.ts'

/** Titles of running tasks that a card has room for (section 9). */
const titlesShown = 2

export function ProjectCard({ project }: { readonly project: Project }) {
  const now = useNow(30_000)
  const { stats } = project
  return (
    <li className="flex min-h-54 min-w-0 flex-col rounded-panel border border-line bg-panel">
      <div className="px-4 pt-4 pb-3">
        <div className="flex items-center gap-2">
          <h2
            className="truncate text-title font-semibold"
            title={`${project.githubOwner}/${project.githubRepoName}`}
          >
            {project.name}
          </h2>
          {project.isPrivate && (
            <Lock className="size-3.5 text-muted" role="img" aria-label={texts.private} />
          )}
          <span className="flex-1" />
          <Status status={statusOf(project.status)} small />
        </div>
        <p className="mt-1 mb-2.5 line-clamp-2 min-h-10 text-ui wrap-anywhere text-muted">
          {project.description || texts.card.noDescription}
        </p>
        <RepositoryLine project={project} />
      </div>
      {stats.runningTasks > 0 && (
        <div className="mx-4 border-t border-line-soft pt-2.5 pb-3">
          <Status status="running" small wordHidden>
            {texts.card.running(stats.runningTasks)}
          </Status>
          <ul className="mt-0.5 pl-5 text-meta/4.5">
            {stats.runningTitles.slice(0, titlesShown).map((title, index) => (
              // Two tasks may have one title.
              <li key={`${index}-${title}`} className="truncate">
                {title}
              </li>
            ))}
            {stats.runningTasks > titlesShown && (
              <li className="text-muted">{texts.card.more(stats.runningTasks - titlesShown)}</li>
            )}
          </ul>
        </div>
      )}
      <div className="mt-auto flex h-10 items-center gap-3 border-t border-line-soft px-4 text-meta text-muted">
        <span>{texts.card.tasks(stats.totalTasks)}</span>
        <span>
          {project.lastSync === null ? texts.card.neverSynced : texts.card.synced(age(project.lastSync, now))}
        </span>
        <span className="flex-1" />
        <Link
          to={`/projects/${project.id}`}
          aria-label={`${texts.card.details}: ${project.name}`}
          className="inline-flex items-center gap-0.5 py-1 font-medium text-text hover:underline"
        >
          {texts.card.details}
          <ChevronRight className="size-3.5" />
        </Link>
      </div>
    </li>
  )
}
