/** A project in the list, with its repository and its tasks. The whole card is a link to the project. */
import { ChevronRight, Lock, Plus } from 'lucide-react'
import { Link } from 'react-router-dom'
import type { Project } from '#domain/api/projects.schema.ts'
import { age } from '../../ui/text/times.ts'
import { Status } from '../../ui/status/Status.tsx'
import { useNow } from '../../ui/hooks.ts'
import { NewTaskLink } from './NewTaskLink.tsx'
import { ProjectStatus } from './ProjectStatus.tsx'
import { RepositoryLine } from './RepositoryLine.tsx'
import { texts } from './texts.ts'

export function ProjectCard({ project }: { readonly project: Project }) {
  const now = useNow(30_000)
  const { stats } = project
  return (
    <li className="relative flex min-w-0 flex-col rounded-panel border border-line bg-panel transition-colors hover:border-control">
      <div className="flex flex-1 flex-col px-4 pt-4 pb-3">
        <div className="flex items-center gap-2">
          <h2
            className="truncate text-title font-semibold"
            title={`${project.githubOwner}/${project.githubRepoName}`}
          >
            {project.name}
          </h2>
          {project.isPrivate && (
            <Lock className="size-3.5 flex-none text-muted" role="img" aria-label={texts.private} />
          )}
          <span className="flex-1" />
          <ProjectStatus project={project} />
        </div>
        <p className="mt-1 line-clamp-2 text-ui wrap-anywhere text-muted">
          {project.description || texts.card.noDescription}
        </p>
        {/* The margin puts this line at the same height in all cards of a row. */}
        <div className="mt-auto pt-2.5">
          <RepositoryLine project={project} />
        </div>
      </div>
      <div className="mx-4 border-t border-line-soft py-2.5">
        <div className="flex min-h-6 items-center gap-2">
          {stats.runningTasks > 0 ? (
            <Status status="running" small wordHidden>
              {texts.card.running(stats.runningTasks)}
            </Status>
          ) : (
            <span className="truncate text-meta text-muted">
              {texts.card.done(stats.completedTasks, stats.totalTasks)}
            </span>
          )}
          <span className="flex-1" />
          <NewTaskLink
            project={project}
            label={texts.card.newTask(project.name)}
            className="relative z-10 inline-flex h-11 flex-none items-center gap-1 rounded-control px-1.5 text-meta font-medium text-muted hover:bg-raised hover:text-text -mr-1.5 max-md:-my-2.5 md:h-6"
          >
            <Plus className="size-3.5" />
            {texts.newTask}
          </NewTaskLink>
        </div>
        {stats.runningTasks > 0 && <RunningTitles stats={stats} />}
      </div>
      <div className="flex h-10 items-center gap-3 border-t border-line-soft px-4 text-meta text-muted">
        {stats.totalTasks > 0 && <span>{texts.card.tasks(stats.totalTasks)}</span>}
        <span className="truncate">
          {project.lastSync === null ? texts.card.neverSynced : texts.card.synced(age(project.lastSync, now))}
        </span>
        <span className="flex-1" />
        <Link
          to={`/projects/${project.id}`}
          aria-label={`${texts.card.details}: ${project.name}`}
          className="inline-flex flex-none items-center gap-0.5 font-medium text-text outline-none after:absolute after:inset-0 after:rounded-panel focus-visible:after:outline-2 focus-visible:after:outline-offset-2 focus-visible:after:outline-accent"
        >
          {texts.card.details}
          <ChevronRight className="size-3.5" />
        </Link>
      </div>
    </li>
  )
}

/** The most titles of running tasks that a card shows (contract, section 9). */
const maxTitles = 2

function RunningTitles({ stats: { runningTasks, runningTitles } }: { readonly stats: Project['stats'] }) {
  const titles = runningTitles.slice(0, maxTitles)
  const more = runningTasks - maxTitles
  return (
    <ul className="pl-5 text-meta/4.5">
      {titles.map((title, index) => (
        // Two tasks may have the same title, so the index is part of the key.
        <li key={`${index}-${title}`} className="flex gap-2">
          <span dir="auto" className="truncate">
            {title}
          </span>
          {more > 0 && index === titles.length - 1 && (
            <span className="ml-auto flex-none text-muted">{texts.card.more(more)}</span>
          )}
        </li>
      ))}
    </ul>
  )
}
