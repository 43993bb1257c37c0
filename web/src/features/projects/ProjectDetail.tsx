/** One project: what it is, how its tasks fare, and the tasks themselves. */
import { Lock } from 'lucide-react'
import { useParams } from 'react-router-dom'
import type { Project } from '#domain/api/projects.ts'
import type { Task } from '#domain/api/tasks.ts'
import { reasonOf } from '../../api/fault.ts'
import { usePageTitle } from '../../app/usePageTitle.ts'
import { Button } from '../../ui/Button.tsx'
import { ButtonLink } from '../../ui/ButtonLink.tsx'
import { age } from '../../ui/clock.ts'
import { Empty } from '../../ui/Empty.tsx'
import { Note } from '../../ui/Note.tsx'
import { Page } from '../../ui/Page.tsx'
import { Panel } from '../../ui/Panel.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Stats } from '../../ui/Stats.tsx'
import { Status } from '../../ui/Status.tsx'
import { useNow } from '../../ui/useNow.ts'
import { useIsDeleted } from '../deletions/deletions.ts'
import { useProjectTasksQuery } from '../tasks/tasksApi.ts'
import { TaskRow } from '../tasks/TaskRow.tsx'
import { texts as taskTexts } from '../tasks/texts.ts'
import { ProjectActions } from './ProjectActions.tsx'
import { useProjectQuery } from './projectsApi.ts'
import { RepositoryLine } from './RepositoryLine.tsx'
import { texts } from './texts.ts'

export function ProjectDetail() {
  const { projectId = '' } = useParams()
  const { data, error, refetch, isFetching } = useProjectQuery(projectId)
  const tasks = useProjectTasksQuery(projectId)
  const deleted = useIsDeleted(projectId)
  usePageTitle(data?.project.name)
  if (deleted) {
    return (
      <Page title={texts.detail.deleted} width="normal">
        <p className="mb-4 text-muted">{texts.detail.deletedWhy}</p>
        <ButtonLink to="/projects">{texts.detail.back}</ButtonLink>
      </Page>
    )
  }
  if (data === undefined) {
    return error === undefined ? (
      <Loading />
    ) : (
      <Page title={texts.oneNotFetched} width="normal">
        <Note
          kind="error"
          action={
            <Button size="small" busy={isFetching} onClick={() => void refetch()}>
              {texts.tryAgain}
            </Button>
          }
        >
          {reasonOf(error, texts.oneNotFetched)}
        </Note>
        <div className="mt-4">
          <ButtonLink to="/projects">{texts.detail.back}</ButtonLink>
        </div>
      </Page>
    )
  }
  const { project } = data
  const { runningTasks, runningTitles } = project.stats
  return (
    <Page title={project.name} width="normal" actions={<ProjectActions project={project} />}>
      <div className="-mt-2 mb-6 grid grid-cols-1 gap-2">
        <p className="max-w-[80ch] wrap-anywhere text-muted">
          {project.description || texts.card.noDescription}
        </p>
        <div className="flex items-center gap-3.5">
          {project.isPrivate && (
            <span className="inline-flex items-center gap-1 text-meta text-muted">
              <Lock className="size-3.5" />
              {texts.private}
            </span>
          )}
          <RepositoryLine project={project} />
        </div>
      </div>
      <Panel className="mb-6">
        <Stats unknown={texts.list.unknown} stats={figures(project)} />
      </Panel>
      {runningTasks > 0 && (
        <Panel className="mb-6 px-4 py-3">
          <Status status="running" wordHidden>
            {texts.detail.running(runningTasks)}
          </Status>
          <ul className="mt-1 pl-5.5 text-ui">
            {runningTitles.map((title, index) => (
              // Titles may be alike.
              <li key={index} className="truncate">
                {title}
              </li>
            ))}
            {runningTasks > runningTitles.length && (
              <li className="text-muted">{texts.card.more(runningTasks - runningTitles.length)}</li>
            )}
          </ul>
        </Panel>
      )}
      <h2 className="mt-10 mb-2 font-semibold">{texts.detail.all(project.stats.totalTasks)}</h2>
      {tasks.error !== undefined && (
        <Note
          kind="error"
          className="mb-3"
          action={
            <Button size="small" busy={tasks.isFetching} onClick={() => void tasks.refetch()}>
              {texts.tryAgain}
            </Button>
          }
        >
          {reasonOf(tasks.error, taskTexts.notFetched)}
        </Note>
      )}
      {tasks.data === undefined ? (
        tasks.error === undefined && (
          <Panel>
            <TasksLoading />
          </Panel>
        )
      ) : (
        <Panel>
          <Tasks tasks={tasks.data.tasks} />
          {tasks.hasMore && (
            <div className="border-t border-line-soft p-2">
              <Button
                kind="ghost"
                size="touch"
                busy={tasks.isShowingMore}
                busyLabel={texts.detail.showingMore}
                onClick={() => void tasks.showMore()}
                className="w-full"
              >
                {texts.detail.showMore}
              </Button>
            </div>
          )}
        </Panel>
      )}
    </Page>
  )
}

function figures({ stats }: Project) {
  const rate = stats.totalTasks === 0 ? 0 : Math.round((stats.completedTasks / stats.totalTasks) * 100)
  return [
    { name: texts.detail.stats.total, value: stats.totalTasks },
    { name: texts.detail.stats.active, value: stats.runningTasks },
    { name: texts.detail.stats.completed, value: stats.completedTasks },
    { name: texts.detail.stats.rate, value: `${rate}%` },
  ]
}

function Tasks({ tasks }: { readonly tasks: readonly Task[] }) {
  const now = useNow(30_000)
  if (tasks.length === 0) {
    return (
      <Empty
        title={texts.detail.empty}
        action={
          <ButtonLink to="/dashboard" kind="primary" size="touch">
            {texts.detail.createFirst}
          </ButtonLink>
        }
      >
        {texts.detail.emptyWhy}
      </Empty>
    )
  }
  return (
    <ul>
      {tasks.map((task) => (
        <TaskRow key={task.id} task={task} when={age(task.createdAt, now)} />
      ))}
    </ul>
  )
}

function Loading() {
  return (
    <div role="status" className="mx-auto w-full max-w-272 px-4 pt-6 md:px-6 md:pt-12">
      <span className="sr-only">{texts.list.loading}</span>
      <Skeleton className="h-8 w-64" />
      <Skeleton className="mt-3 h-5 w-96" />
      <Skeleton className="mt-9 h-20 w-full" />
    </div>
  )
}

function TasksLoading() {
  return (
    <div className="grid gap-4 p-4">
      <Skeleton className="h-7 w-full" />
      <Skeleton className="h-7 w-full" />
    </div>
  )
}
