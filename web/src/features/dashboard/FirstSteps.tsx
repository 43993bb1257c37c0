/**
 * The next step for a newcomer, from the first project to the first pull request. It is derived from their projects and tasks, and disappears when
 * all steps are done, when there are more than three tasks, or when the person hides it.
 */
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useDispatch } from 'react-redux'
import type { Project } from '#domain/api/projects.schema.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { draftDescription, firstStepsPutAway, recall, selectedProjectId } from '../../state/persisted.ts'
import { changeElsewhere, usePersisted } from '../../state/usePersisted.ts'
import { Button, ButtonLink } from '../../ui/form/Button.tsx'
import { IconButton } from '../../ui/form/IconButton.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { useAgentsQuery } from '../../api/aboutServerApi.ts'
import { notified } from '../notifications/notifications.ts'
import { useProjectsQuery } from '../projects/projectsApi.ts'
import { SuggestedTasks, withSuggestion } from '../projects/SuggestedTasks.tsx'
import { texts as projectTexts } from '../projects/texts.ts'
import { isSample, useSampleProject } from '../projects/useSampleProject.ts'
import { useRecentTasksQuery } from '../tasks/tasksApi.ts'

const texts = {
  label: 'Next step',
  putAway: 'Hide next steps',
  project: {
    title: 'Start with a project',
    why: 'A project is a repository that agents can work on.',
    whySample:
      'A project is a repository that agents can work on. The sample is a small JavaScript library with tests, made to try things out on.',
  },
  task: {
    title: 'Give an agent its first task',
    why: 'Pick a suggestion, or describe your own task above.',
    noAgent: (missing: string) => `${missing} You can still run commands in a task.`,
  },
  watch: {
    title: 'Follow your first task',
    why: 'Watch the agent work, send it messages, and see what it changes.',
    open: 'Open Task',
  },
  pullRequest: {
    title: 'Create your first pull request',
    why: 'The agent changed some files. Review the changes, then choose Create PR.',
    open: 'Review Changes',
  },
  own: {
    title: 'Now try your own repository',
    why: 'You took a task to a pull request. It works the same way with your own code.',
  },
  ownRepository: 'Use Your Own Repository',
} as const

/** With more tasks than this, no next step is shown. */
const maxTasks = 3

interface FirstStepsProps {
  /** Called when a suggestion was written into the composer. */
  readonly onSuggested: () => void
}

export function FirstSteps({ onSuggested }: FirstStepsProps) {
  const [putAway] = usePersisted(firstStepsPutAway)
  const projects = useProjectsQuery().data?.projects
  const tasks = useRecentTasksQuery().data?.tasks
  if (putAway || projects === undefined || tasks === undefined || tasks.length > maxTasks) return null
  const step = nextStep(projects, tasks, onSuggested)
  if (step === null) return null
  return (
    <section
      aria-label={texts.label}
      className="mt-4 flex items-start gap-2 rounded-panel border border-line bg-panel py-3 pr-2 pl-4"
    >
      <div className="min-w-0 flex-1">{step}</div>
      <IconButton
        label={texts.putAway}
        icon={X}
        size="small"
        onClick={() => changeElsewhere(firstStepsPutAway, true)}
      />
    </section>
  )
}

function nextStep(
  projects: readonly Project[],
  tasks: readonly Task[],
  onSuggested: () => void,
): ReactNode | null {
  const [task] = tasks
  if (projects.length === 0) return <FirstProject />
  if (task === undefined) return <FirstTask projects={projects} onSuggested={onSuggested} />
  if (tasks.every(({ prNumber }) => prNumber === null)) return <FirstPullRequest task={task} />
  return projects.every(isSample) ? <OwnProject /> : null
}

function Step({ title, why, children }: { title: string; why: string; children?: ReactNode }) {
  return (
    <>
      <h2 className="flex min-h-7 items-center font-semibold">{title}</h2>
      <p className="max-w-[70ch] text-muted">{why}</p>
      {children !== undefined && <div className="mt-3 flex flex-wrap items-center gap-2">{children}</div>}
    </>
  )
}

function FirstProject() {
  const dispatch = useDispatch()
  const sample = useSampleProject()
  // Shows no button until it is known which one is right, because a button must not change under the pointer.
  if (sample.isLoading) return <Step title={texts.project.title} why={texts.project.why} />
  if (!sample.exists)
    return (
      <Step title={texts.project.title} why={texts.project.why}>
        <OwnRepositoryLink kind="primary" />
      </Step>
    )
  const add = async () => {
    const project = await sample.add()
    if (project === null) return
    changeElsewhere(selectedProjectId, project.id)
    dispatch(notified('success', projectTexts.create.created(project.name), projectTexts.create.createdWhy))
  }
  return (
    <>
      <Step title={texts.project.title} why={texts.project.whySample}>
        <Button kind="primary" size="touch" busy={sample.adding} onClick={() => void add()}>
          {projectTexts.list.addSample}
        </Button>
        <OwnRepositoryLink kind="ghost" />
      </Step>
      {sample.error !== undefined && (
        <Note kind="error" className="mt-3">
          {sample.error}
        </Note>
      )}
    </>
  )
}

interface FirstTaskProps extends FirstStepsProps {
  readonly projects: readonly Project[]
}

function FirstTask({ projects, onSuggested }: FirstTaskProps) {
  const { data } = useAgentsQuery()
  const missing = data?.agents.every((agent) => agent.missing !== null) ? data.agents[0]?.missing : null
  const [project] = projects
  const suggest = (words: string) => {
    if (!projects.some(({ id }) => id === recall(selectedProjectId)) && project !== undefined)
      changeElsewhere(selectedProjectId, project.id)
    changeElsewhere(draftDescription, withSuggestion(recall(draftDescription), words))
    onSuggested()
  }
  return (
    <>
      <Step title={texts.task.title} why={texts.task.why}>
        <SuggestedTasks ofSample={projects.every(isSample)} onChoose={suggest} />
      </Step>
      {missing !== null && missing !== undefined && (
        <Note kind="warning" className="mt-3">
          {/* `noAgent` says that commands can still run. Without an installed agent there is no runner, so commands could not run either. */}
          {data?.agents.some(({ installed }) => installed) ? texts.task.noAgent(missing) : missing}
        </Note>
      )}
    </>
  )
}

function FirstPullRequest({ task }: { readonly task: Task }) {
  const isOver = task.status === 'completed' && (task.changes?.files ?? 0) > 0
  const words = isOver ? texts.pullRequest : texts.watch
  return (
    <Step title={words.title} why={words.why}>
      <ButtonLink
        to={`/tasks/${task.id}${isOver ? '?tab=changes' : ''}`}
        kind={isOver ? 'primary' : 'plain'}
        size="touch"
      >
        {words.open}
      </ButtonLink>
    </Step>
  )
}

function OwnProject() {
  return (
    <Step title={texts.own.title} why={texts.own.why}>
      <OwnRepositoryLink kind="primary" />
    </Step>
  )
}

function OwnRepositoryLink({ kind }: { readonly kind: 'primary' | 'ghost' }) {
  return (
    <ButtonLink to="/projects/new" kind={kind} size="touch">
      {texts.ownRepository}
    </ButtonLink>
  )
}
