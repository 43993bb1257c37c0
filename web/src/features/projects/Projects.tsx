/** The project list: search, three figures, a card for each project. */
import { Plus, Search } from 'lucide-react'
import { useState } from 'react'
import type { Project } from '#domain/api/projects.schema.ts'
import { reasonOf } from '../../api/fault.ts'
import { usePageTitle } from '../tasks/usePageTitle.ts'
import { Button, ButtonLink } from '../../ui/form/Button.tsx'
import { Empty } from '../../ui/layout/Empty.tsx'
import { Field } from '../../ui/form/Field.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { Page } from '../../ui/layout/Page.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { RetryNote } from '../../ui/layout/RetryNote.tsx'
import { Skeleton, Spinner } from '../../ui/status/Loading.tsx'
import { Stats } from '../../ui/layout/Stats.tsx'
import { ProjectCard } from './ProjectCard.tsx'
import { useProjectsQuery } from './projectsApi.ts'
import { texts } from './texts.ts'
import { useCreatedProject } from './create/useCreatedProject.ts'
import { useSampleProject } from './useSampleProject.ts'

export function Projects() {
  usePageTitle(texts.list.title)
  const read = useProjectsQuery()
  const { data, error } = read
  const [search, setSearch] = useState('')
  const projects = data?.projects
  const matching = projects?.filter((project) => matches(project, search))
  const missing = error === undefined ? undefined : null
  const total = (figure: (project: Project) => number) =>
    projects?.reduce((sum, project) => sum + figure(project), 0) ?? missing
  return (
    <Page
      title={texts.list.title}
      width="wide"
      actions={<Actions search={search} onSearch={setSearch} isEmpty={projects?.length === 0} />}
    >
      <Panel className="mb-6">
        <Stats
          unknown={texts.list.unknown}
          stats={[
            { name: texts.list.stats.projects, value: projects?.length ?? missing },
            { name: texts.list.stats.active, value: total(({ stats }) => stats.runningTasks) },
            { name: texts.list.stats.completed, value: total(({ stats }) => stats.completedTasks) },
          ]}
        />
      </Panel>
      <RetryNote read={read} className="mb-6">
        {reasonOf(error, texts.notFetched)}
      </RetryNote>
      {matching === undefined ? (
        error === undefined && <Loading />
      ) : matching.length > 0 ? (
        // The `key` makes a new search start with the first cards again.
        <Cards key={search} projects={matching} />
      ) : search.trim() === '' ? (
        <NoProject />
      ) : (
        <Empty
          title={texts.list.noMatch}
          className="px-0"
          action={
            <Button size="touch" onClick={() => setSearch('')}>
              {texts.list.clearSearch}
            </Button>
          }
        >
          {texts.list.noMatchWhy}
        </Empty>
      )}
    </Page>
  )
}

interface ActionsProps {
  readonly search: string
  readonly onSearch: (search: string) => void
  readonly isEmpty: boolean
}

function Actions({ search, onSearch, isEmpty }: ActionsProps) {
  return (
    <>
      <Field
        label={texts.list.search}
        labelHidden
        type="search"
        icon={<Search />}
        placeholder={texts.list.search}
        value={search}
        onChange={(event) => onSearch(event.target.value)}
        className="w-full md:w-66"
      />
      {/* An empty list has its own primary button, so then this button is plain. */}
      <ButtonLink
        className="max-md:w-full"
        to="/projects/new"
        kind={isEmpty ? 'plain' : 'primary'}
        size="touch"
        icon={<Plus />}
      >
        {texts.list.create}
      </ButtonLink>
    </>
  )
}

function matches(project: Project, search: string): boolean {
  const words = search.trim().toLowerCase()
  return project.name.toLowerCase().includes(words) || project.description.toLowerCase().includes(words)
}

/** How many cards are shown at first, and how many more each time: search finds the others. */
const cardsPerStep = 60

function Cards({ projects }: { readonly projects: readonly Project[] }) {
  const [count, setCount] = useState(cardsPerStep)
  const more = Math.min(cardsPerStep, projects.length - count)
  return (
    <>
      <ul className="grid gap-4 md:grid-cols-2 wide:grid-cols-3">
        {projects.slice(0, count).map((project) => (
          <ProjectCard key={project.id} project={project} />
        ))}
      </ul>
      {more > 0 && (
        <Button size="touch" className="mt-4 w-full" onClick={() => setCount(count + cardsPerStep)}>
          {texts.list.showMore(more)}
        </Button>
      )}
    </>
  )
}

function NoProject() {
  const onCreated = useCreatedProject()
  const sample = useSampleProject()
  const addSample = async () => {
    const project = await sample.add()
    if (project !== null) onCreated(project)
  }
  return (
    <>
      <Empty
        title={texts.list.empty}
        className="px-0"
        action={
          <div className="flex flex-wrap gap-2">
            <ButtonLink to="/projects/new" kind="primary" size="touch">
              {texts.list.createFirst}
            </ButtonLink>
            {sample.exists && (
              <Button size="touch" busy={sample.adding} onClick={() => void addSample()}>
                {texts.list.addSample}
              </Button>
            )}
          </div>
        }
      >
        {texts.list.emptyWhy}
      </Empty>
      {sample.error !== undefined && <Note kind="error">{sample.error}</Note>}
    </>
  )
}

function Loading() {
  return (
    <div role="status" className="grid gap-4 md:grid-cols-2 wide:grid-cols-3">
      {[1, 2, 3].map((card) => (
        <Panel key={card} className="flex h-46 flex-col p-4">
          <Skeleton className="h-5 w-40" />
          <Skeleton className="mt-3 h-4 w-full" />
          <Skeleton className="mt-2 h-4 w-2/3" />
          {card === 1 && (
            <span className="mt-auto inline-flex items-center gap-2 text-meta text-muted">
              <Spinner />
              {texts.list.loading}
            </span>
          )}
        </Panel>
      ))}
    </div>
  )
}
