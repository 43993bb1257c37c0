/** The latest tasks. */
import { reasonOf } from '../../api/fault.ts'
import { firstStepsPutAway } from '../../state/persisted.ts'
import { usePersisted } from '../../state/usePersisted.ts'
import { ButtonLink } from '../../ui/form/Button.tsx'
import { shortDate } from '../../ui/text/times.ts'
import { Empty } from '../../ui/layout/Empty.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { RetryNote } from '../../ui/layout/RetryNote.tsx'
import { Skeleton } from '../../ui/status/Loading.tsx'
import { useProjectsQuery } from '../projects/projectsApi.ts'
import { useRecentTasksQuery } from '../tasks/tasksApi.ts'
import { TaskRow } from '../tasks/TaskRow.tsx'
import { texts as taskTexts } from '../tasks/texts.ts'
import { texts } from './texts.ts'

/** The maximum number of tasks that are shown (contract, section 9). */
const maxTasks = 8

export function RecentTasks() {
  const recent = useRecentTasksQuery()
  const { data, error } = recent
  return (
    <section aria-labelledby="recent-tasks">
      <h2 id="recent-tasks" className="mt-10 mb-2 flex h-8 items-center font-semibold">
        {texts.recent}
      </h2>
      <RetryNote read={recent} className="mb-3">
        {reasonOf(error, taskTexts.notFetched)}
      </RetryNote>
      {data === undefined ? (
        error === undefined && <Loading />
      ) : (
        <Panel>
          {data.tasks.length === 0 ? (
            <NoTask />
          ) : (
            <ul>
              {data.tasks.slice(0, maxTasks).map((task) => (
                <TaskRow key={task.id} task={task} when={shortDate(task.createdAt)} />
              ))}
            </ul>
          )}
        </Panel>
      )}
    </section>
  )
}

/** Says that there are no tasks. While the first steps are shown, it does not offer to create a project, because the first steps offer that. */
function NoTask() {
  const projects = useProjectsQuery().data?.projects
  const [putAway] = usePersisted(firstStepsPutAway)
  return (
    <Empty
      title={texts.empty}
      action={
        putAway &&
        projects?.length === 0 && (
          <ButtonLink to="/projects/new" kind="primary" size="touch">
            {texts.createProject}
          </ButtonLink>
        )
      }
    >
      {texts.emptyWhy}
    </Empty>
  )
}

function Loading() {
  return (
    <Panel>
      <div role="status">
        <span className="sr-only">{texts.loading}</span>
        {[1, 2, 3].map((row) => (
          <div
            key={row}
            className="flex h-15 items-center gap-4 border-b border-line-soft px-4 last:border-b-0"
          >
            <Skeleton className="h-4 w-24" />
            <Skeleton className="h-4 flex-1" />
            <Skeleton className="h-4 w-16" />
          </div>
        ))}
      </div>
    </Panel>
  )
}
