/** Imports an existing repository: a search field, the count, the repositories as radio buttons, and the button to import. */
import { Lock, Search } from 'lucide-react'
import { type FormEvent, useId, useState } from 'react'
import { useDispatch } from 'react-redux'
import type { Repository } from '#domain/api/projects.schema.ts'
import { reasonOf } from '../../../api/fault.ts'
import { Button, ButtonLink } from '../../../ui/form/Button.tsx'
import { Linked } from '../../../ui/text/Linked.tsx'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { Field } from '../../../ui/form/Field.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { Panel } from '../../../ui/layout/Panel.tsx'
import { Skeleton } from '../../../ui/status/Loading.tsx'
import { notified } from '../../notifications/notifications.ts'
import { useGitHubAccessQuery } from '../../github/gitHubApi.ts'
import { installUrlOf } from '../../github/appReach.ts'
import { useCreateProjectMutation, useRepositoriesQuery } from '../projectsApi.ts'
import { texts } from '../texts.ts'
import { NotListed, NotListedHint, OutOfReach } from './RepositoryReach.tsx'
import { useCreatedProject } from './useCreatedProject.ts'

export function ImportRepository() {
  const dispatch = useDispatch()
  const onCreated = useCreatedProject()
  const listing = useRepositoriesQuery()
  const { data, error } = listing
  const [create, { isLoading, error: refused }] = useCreateProjectMutation()
  const [search, setSearch] = useState('')
  const [chosen, setChosen] = useState<string | null>(null)
  const all = data?.repositories
  // The person's access at GitHub is only used for hints, so a failure to read it is not shown.
  const access = useGitHubAccessQuery(null).data
  const installUrl = installUrlOf(access)
  const matching = all?.filter((repository) => matches(repository, search))
  // A chosen repository that the search hides is not imported.
  const selected = matching?.find(({ id }) => id === chosen)

  const onSubmit = async (event: FormEvent) => {
    event.preventDefault()
    if (selected === undefined) {
      dispatch(notified('error', texts.create.noneSelected, texts.create.noneSelectedWhy))
      return
    }
    const answer = await create({ repoUrl: selected.html_url })
    if (answer.error !== undefined) return
    onCreated(answer.data.project)
  }

  return (
    <form onSubmit={(event) => void onSubmit(event)}>
      <Field
        label={texts.create.search}
        labelHidden
        type="search"
        icon={<Search />}
        placeholder={texts.create.search}
        value={search}
        onChange={(event) => setSearch(event.target.value)}
        className="mb-2"
      />
      {error === undefined ? (
        <>
          <p className="mb-2 h-4 text-meta text-muted" aria-live="polite">
            {all !== undefined && matching !== undefined && countText(matching.length, all.length, search)}
          </p>
          <Panel className="overflow-hidden">
            {matching === undefined ? (
              <Loading />
            ) : matching.length === 0 ? (
              <NoRepository hasOthers={all?.length !== 0} onClear={() => setSearch('')} />
            ) : (
              <Repositories repositories={matching} chosen={chosen} onChoose={setChosen} />
            )}
          </Panel>
        </>
      ) : (
        <NotListed listing={listing} />
      )}
      {access?.app && <NotListedHint manageUrl={access.app.manageUrl} installUrl={installUrl} />}
      {/* Without a repository to import, the panel above already says what to do. */}
      {error === undefined && all?.length !== 0 && (
        <div className="sticky bottom-0 mt-4 bg-bg py-3">
          {selected !== undefined && <OutOfReach repository={selected} access={access} />}
          {refused !== undefined && (
            <Note kind="error" className="mb-3">
              <Linked text={reasonOf(refused, texts.notCreated)} />
            </Note>
          )}
          <div className="flex justify-end">
            <Button kind="primary" size="touch" type="submit" busy={isLoading} busyLabel={texts.create.busy}>
              {texts.create.submitImport}
            </Button>
          </div>
        </div>
      )}
    </form>
  )
}

interface NoRepositoryProps {
  /** Whether there are repositories, but none that matches the search. */
  readonly hasOthers: boolean
  readonly onClear: () => void
}

function NoRepository({ hasOthers, onClear }: NoRepositoryProps) {
  return (
    <Empty
      title={texts.create.noneFound}
      action={
        hasOthers ? (
          <Button size="touch" onClick={onClear}>
            {texts.create.clearSearch}
          </Button>
        ) : (
          <ButtonLink to="/settings?tab=github" size="touch">
            {texts.create.access}
          </ButtonLink>
        )
      }
    >
      {hasOthers ? texts.create.noneFoundWhy : texts.create.noneAtAllWhy}
    </Empty>
  )
}

interface RepositoriesProps {
  readonly repositories: readonly Repository[]
  readonly chosen: string | null
  readonly onChoose: (id: string) => void
}

function Repositories({ repositories, chosen, onChoose }: RepositoriesProps) {
  const name = useId()
  return (
    <fieldset className="max-h-100 min-w-0 overflow-y-auto">
      <legend className="sr-only">{texts.create.list}</legend>
      {repositories.map((repository) => (
        <label
          key={repository.id}
          className="flex min-h-12 cursor-pointer items-center gap-3 border-b border-line-soft px-4 py-1.5 last:border-b-0 hover:bg-raised has-checked:bg-select has-focus-visible:outline-2 has-focus-visible:-outline-offset-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name={name}
            value={repository.id}
            checked={repository.id === chosen}
            onChange={() => onChoose(repository.id)}
            className="size-4 flex-none accent-accent outline-none"
          />
          <span className="min-w-0 flex-1">
            <span className="block truncate font-medium" title={repository.full_name}>
              {repository.full_name}
            </span>
            <span className="block truncate text-meta text-muted">
              {repository.description || texts.create.noDescription}
            </span>
          </span>
          {repository.private && (
            <span className="inline-flex flex-none items-center gap-1 text-meta text-muted">
              <Lock className="size-3.5" />
              {texts.private}
            </span>
          )}
        </label>
      ))}
    </fieldset>
  )
}

function matches(repository: Repository, search: string): boolean {
  const text = `${repository.full_name} ${repository.description ?? ''}`.toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

function countText(matching: number, all: number, search: string): string {
  return search.trim() === '' ? texts.create.found(all) : texts.create.showing(matching, all)
}

function Loading() {
  return (
    <div role="status">
      <span className="sr-only">{texts.create.list}</span>
      {[1, 2, 3, 4, 5].map((row) => (
        <div
          key={row}
          className="flex h-12 items-center gap-3 border-b border-line-soft px-4 last:border-b-0"
        >
          <Skeleton className="size-4 rounded-full" />
          <Skeleton className="h-4 w-56" />
        </div>
      ))}
    </div>
  )
}
