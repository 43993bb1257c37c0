/** The first eight tasks. */
import { reasonOf } from '../../api/fault.ts'
import { firstStepsPutAway, usePersisted } from '../../state/persisted.ts'
import { Button, ButtonLink } from '../../ui/form/Button.tsx'
import { shortDate } from '../../ui/text/clock.ts'
import { Empty } from '../../ui/layout/Empty.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { Skeleton } from '../../ui/status/Loading.tsx'
import { useProjectsQuery } from '../projects/projectsApi.ts'
import { useRecentTasksQuery } from '../tasks/tasksApi.ts'
import { TaskRow } from '../tasks/TaskRow.tsx'
import { texts as taskTexts } from '../tasks/texts.ts'
import { texts } from './texts.ts'

/** Section 9. */
const tasksShown = 8

export function RecentTasks() {
  const { data, error, refetch, isFetching } = useRecentTasksQuery()
  return (
    <section aria-labelledby="recent-tasks">
      <h2 id="recent-tasks" className="mt-10 mb-2 flex h-8 items-center font-semibold">
        {texts.recent}
      </h2>
      {error !== undefined && (
        <Note
          kind="error"
          className="mb-3"
          action={
            <Button size="small" busy={isFetching} onClick={() => void refetch()}>
              {texts.tryAgain}
            </Button>
          }
        >
          {reasonOf(error, taskTexts.notFetched)}
        </Note>
      )}
      {data === undefined ? (
        error === undefined && <Loading />
      ) : (
        <Panel>
          {data.tasks.length === 0 ? (
            <NoTask />
          ) : (
            <ul>
              {data.tasks.slice(0, tasksShown).map((task) => (
                <TaskRow key={task.id} task={task} when={shortDate(task.createdAt)} />
              ))}
            </ul>
          )}
        </Panel>
      )}
    </section>
  )
}

/** Its first step is the project: the next steps say so too, unless they were put away. */
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
