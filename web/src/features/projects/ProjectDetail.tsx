/** A project: its description, its figures and its tasks. */
import { Linked } from '../../ui/text/Linked.tsx'
import { Lock } from 'lucide-react'
import { useNavigate, useParams } from 'react-router-dom'
import type { Project } from '#domain/api/projects.schema.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { reasonOf } from '../../api/fault.ts'
import { isUnknownId } from '../../api/isUnknownId.ts'
import { draftDescription, recall, remember, selectedProjectId } from '../../state/persisted.ts'
import { isRunning } from '../tasks/taskStatus.ts'
import { usePageTitle } from '../tasks/usePageTitle.ts'
import { ButtonLink, buttonStyle } from '../../ui/form/Button.tsx'
import { age } from '../../ui/text/times.ts'
import { Empty } from '../../ui/layout/Empty.tsx'
import { Page } from '../../ui/layout/Page.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { RetryNote } from '../../ui/layout/RetryNote.tsx'
import { ShowMore } from '../../ui/layout/ShowMore.tsx'
import { Skeleton, Skeletons } from '../../ui/status/Loading.tsx'
import { Stats } from '../../ui/layout/Stats.tsx'
import { Status } from '../../ui/status/Status.tsx'
import { useNow } from '../../ui/hooks.ts'
import { newTaskState } from '../dashboard/newTaskState.ts'
import { useIsDeleted } from '../deletions/deletions.ts'
import { useProjectTasksQuery, useRunningTasksQuery } from '../tasks/tasksApi.ts'
import { TaskRow } from '../tasks/TaskRow.tsx'
import { texts as taskTexts } from '../tasks/texts.ts'
import { NewTaskLink } from './NewTaskLink.tsx'
import { ProjectActions } from './ProjectActions.tsx'
import { ProjectStatus } from './ProjectStatus.tsx'
import { useProjectQuery } from './projectsApi.ts'
import { RepositoryFacts } from './RepositoryFacts.tsx'
import { RepositoryLine } from './RepositoryLine.tsx'
import { SuggestedTasks, withSuggestion } from './SuggestedTasks.tsx'
import { texts } from './texts.ts'
import { isSample } from './useSampleProject.ts'

export function ProjectDetail() {
  const { projectId = '' } = useParams()
  const read = useProjectQuery(projectId)
  const { data, error } = read
  const tasks = useProjectTasksQuery(projectId)
  const running = useRunning(projectId, data?.project, tasks.data?.tasks)
  const deleted = useIsDeleted(projectId)
  usePageTitle(data?.project.name)
  if (deleted || isUnknownId(error)) {
    const { title, why } = texts.detail[deleted ? 'deleted' : 'unknown']
    return (
      <Page title={title} width="normal">
        <p className="mb-4 text-muted">{why}</p>
        <ButtonLink to="/projects">{texts.detail.back}</ButtonLink>
      </Page>
    )
  }
  if (data === undefined) {
    return error === undefined ? (
      <Skeletons
        label={texts.list.loading}
        each={['h-8 w-64', 'mt-3 h-5 w-96', 'mt-9 h-20 w-full']}
        className="mx-auto w-full max-w-272 px-4 pt-6 md:px-6 md:pt-12"
      />
    ) : (
      <Page title={texts.oneNotFetched} width="normal">
        <RetryNote read={read}>{reasonOf(error, texts.oneNotFetched)}</RetryNote>
        <div className="mt-4">
          <ButtonLink to="/projects">{texts.detail.back}</ButtonLink>
        </div>
      </Page>
    )
  }
  const { project } = data
  return (
    <Page
      title={project.name}
      width="normal"
      lead={<About project={project} />}
      actions={<ProjectActions project={project} />}
    >
      <Panel className="mb-6">
        <Stats unknown={texts.list.unknown} stats={figures(project)} />
      </Panel>
      <h2 className="mt-10 mb-2 font-semibold">{texts.detail.all(project.stats.totalTasks)}</h2>
      {running.length > 0 && (
        <Running count={Math.max(project.stats.runningTasks, running.length)} tasks={running} />
      )}
      <OtherTasks project={project} tasks={tasks} running={running} />
    </Page>
  )
}

interface OtherTasksProps {
  readonly project: Project
  readonly tasks: ReturnType<typeof useProjectTasksQuery>
  readonly running: readonly Task[]
}

/** The tasks that are not running, with a button to load more. */
function OtherTasks({ project, tasks, running }: OtherTasksProps) {
  const others = tasks.data?.tasks.filter(({ id }) => !running.some((task) => task.id === id)) ?? []
  const isEmpty = others.length === 0 && running.length === 0
  if (tasks.data === undefined && tasks.error === undefined) {
    return (
      <Panel className="grid gap-4 p-4">
        <Skeleton className="h-7 w-full" />
        <Skeleton className="h-7 w-full" />
      </Panel>
    )
  }
  return (
    <>
      <RetryNote read={tasks} className="mb-3">
        {reasonOf(tasks.error, taskTexts.notFetched)}
      </RetryNote>
      {tasks.data !== undefined && (isEmpty || others.length > 0 || tasks.hasMore) && (
        <Panel>
          {isEmpty ? <NoTask project={project} /> : <Rows tasks={others} />}
          {tasks.hasMore && (
            <ShowMore
              label={texts.detail.showMore}
              busyLabel={texts.detail.showingMore}
              busy={tasks.isShowingMore}
              onShow={() => void tasks.showMore()}
            />
          )}
        </Panel>
      )}
    </>
  )
}

function About({ project }: { readonly project: Project }) {
  return (
    <div className="grid grid-cols-1 gap-2">
      <p className="max-w-[80ch] wrap-anywhere text-muted">
        {project.description || texts.card.noDescription}
      </p>
      <div className="flex flex-wrap items-center gap-x-3.5 gap-y-1.5">
        <ProjectStatus project={project} />
        {project.isPrivate && (
          <span className="inline-flex items-center gap-1 text-meta text-muted">
            <Lock className="size-3.5" />
            {texts.private}
          </span>
        )}
        <RepositoryLine project={project} />
      </div>
      <RepositoryFacts projectId={project.id} />
      {project.statusReason && (
        <p className="mt-1.5 text-meta text-muted">
          <Linked text={project.statusReason} />
        </p>
      )}
    </div>
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

/** The newest running tasks, including those that the list has not loaded yet. */
function useRunning(projectId: string, project: Project | undefined, listed: readonly Task[] = []) {
  const running = useRunningTasksQuery(projectId, { skip: (project?.stats.runningTasks ?? 0) === 0 })
  return (running ?? listed).filter(isRunning)
}

function Running({ count, tasks }: { readonly count: number; readonly tasks: readonly Task[] }) {
  return (
    <Panel className="mb-4" label={texts.detail.running(count)}>
      <div className="flex h-10 items-center gap-2 border-b border-line-soft px-4">
        <Status status="running" wordHidden>
          {texts.detail.running(count)}
        </Status>
        {count > tasks.length && (
          <span className="text-meta text-muted">{texts.detail.more(count - tasks.length)}</span>
        )}
      </div>
      <Rows tasks={tasks} />
    </Panel>
  )
}

function Rows({ tasks }: { readonly tasks: readonly Task[] }) {
  const now = useNow(30_000)
  return (
    <ul>
      {tasks.map((task) => (
        <TaskRow key={task.id} task={task} when={age(task.createdAt, now)} ofProject />
      ))}
    </ul>
  )
}

function NoTask({ project }: { readonly project: Project }) {
  const navigate = useNavigate()
  const suggest = (words: string) => {
    remember(selectedProjectId, project.id)
    remember(draftDescription, withSuggestion(recall(draftDescription), words))
    void navigate('/dashboard', { state: newTaskState() })
  }
  return (
    <>
      <Empty
        title={texts.detail.empty}
        action={
          <NewTaskLink project={project} className={buttonStyle('primary', 'touch')}>
            {texts.detail.createFirst}
          </NewTaskLink>
        }
      >
        {texts.detail.emptyWhy}
      </Empty>
      <div className="flex flex-wrap items-center gap-2 border-t border-line-soft p-4">
        <span className="w-full text-ui text-muted">{texts.detail.suggested}</span>
        <SuggestedTasks ofSample={isSample(project)} onChoose={suggest} />
      </div>
    </>
  )
}
