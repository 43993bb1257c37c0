/** The person's installations of the App, with the permissions they lack and who can grant them, and the requests that wait for an owner. */
import { CircleCheck, Clock, ExternalLink, TriangleAlert } from 'lucide-react'
import { useEffect, useState, type ReactNode } from 'react'
import { useSearchParams } from 'react-router-dom'
import type { InstallationOfPerson } from '#domain/api/github.schema.ts'
import { isFault, reasonOf } from '../../api/fault.ts'
import { ButtonLink } from '../../ui/form/Button.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { RetryNote } from '../../ui/layout/RetryNote.tsx'
import { Skeletons } from '../../ui/status/Loading.tsx'
import { useGitHubAccessQuery, type GitHubAccess } from '../github/gitHubApi.ts'
import { installationTexts as texts, linkError } from './texts.ts'

/** Shows the outcome when the browser returns from an installation. An installation that is not the person's is refused. */
export function ReturnedFromInstalling() {
  const [query, setQuery] = useSearchParams()
  // Kept in the state, because the effect below removes the id from the address.
  const [id] = useState(() => query.get('installation_id'))
  const read = useGitHubAccessQuery(id, { skip: id === null, refetchOnMountOrArgChange: true })
  const { currentData, error, isFetching } = read
  const account = currentData?.installations?.find((one) => one.id === id)?.account
  const isKnown = account !== undefined && !isFetching
  useEffect(() => {
    if (isKnown) setQuery({ tab: 'github' }, { replace: true })
  }, [isKnown, setQuery])
  if (isKnown) return <Next account={account} />
  if (id === null) return null
  return (
    <RetryNote read={read} className="mb-4">
      {isFault(error, 'install_callback')
        ? `${linkError('install_callback')} ${texts.notYours}`
        : reasonOf(error, texts.notFetched)}
    </RetryNote>
  )
}

function Next({ account }: { readonly account: string }) {
  return (
    <Panel className="mb-4">
      <div role="status" className="flex flex-wrap items-center gap-x-3 gap-y-2 p-4 md:px-5">
        <CircleCheck className="text-ok" />
        <div className="min-w-0 flex-1 basis-60 wrap-anywhere">
          <p className="font-medium">{texts.installed(account)}</p>
          <p className="text-ui text-muted">{texts.next}</p>
        </div>
        <ButtonLink to="/projects/new" kind="primary" size="touch">
          {texts.createProject}
        </ButtonLink>
      </div>
    </Panel>
  )
}

interface InstallationsProps {
  readonly access: ReturnType<typeof useGitHubAccessQuery>
}

export function Installations({ access }: InstallationsProps) {
  const { data, error } = access
  const [query] = useSearchParams()
  const justRequested = query.get('requested') !== null
  if (data !== undefined && data.installations === null) return null
  return (
    <Panel label={texts.title} className="mb-4 divide-y divide-line-soft">
      {data !== undefined && <Rows access={data} justRequested={justRequested} />}
      {data === undefined && error === undefined && (
        <Skeletons
          label={texts.loading}
          each={['h-4 w-40', 'h-3.5 w-56']}
          className="grid gap-2 px-4 py-3.5 md:px-5"
        />
      )}
      {data === undefined && error !== undefined && (
        <div className="p-4">
          <RetryNote read={access}>{reasonOf(error, texts.notFetched)}</RetryNote>
        </div>
      )}
    </Panel>
  )
}

interface RowsProps {
  readonly access: GitHubAccess
  readonly justRequested: boolean
}

function Rows({ access: { installations, requests, more }, justRequested }: RowsProps) {
  const waiting = requests.map(({ account }) => account)
  return (
    <ul className="divide-y divide-line-soft">
      {(installations ?? []).map((one) => (
        <Installed key={one.id} installation={one} />
      ))}
      {waiting.map((account) => (
        <Line key={account}>
          <Waiting>{texts.waiting(account)}</Waiting>
        </Line>
      ))}
      {/* The browser may return before the code host lists the request. */}
      {justRequested && waiting.length === 0 && (
        <Line>
          <Waiting>{texts.waitingForSomebody}</Waiting>
        </Line>
      )}
      {installations?.length === 0 && waiting.length === 0 && !justRequested && (
        <Line>
          <p className="text-ui text-muted">{texts.none}</p>
        </Line>
      )}
      {more > 0 && (
        <Line>
          <p className="text-ui text-muted">{texts.more(more)}</p>
        </Line>
      )}
    </ul>
  )
}

const Line = ({ children }: { readonly children: ReactNode }) => (
  <li className="px-4 py-3 md:px-5">{children}</li>
)

function Waiting({ children }: { readonly children: string }) {
  return (
    <p className="flex items-center gap-2 text-ui">
      <Clock className="size-3.5 flex-none text-muted" />
      {children}
    </p>
  )
}

function Installed({ installation }: { readonly installation: InstallationOfPerson }) {
  const { account, isOrganization, isSuspended, missing, url } = installation
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 md:px-5">
      <div className="min-w-0 flex-1 basis-56">
        <p className="font-medium wrap-anywhere">{account}</p>
        <p className="text-ui text-muted">{texts.repositories(installation)}</p>
        {isSuspended && <Warning>{texts.suspended(account, isOrganization)}</Warning>}
        {missing.length > 0 && <Warning>{texts.missing(missing, account, isOrganization)}</Warning>}
      </div>
      <ButtonLink to={url} size="touch" outside icon={<ExternalLink />} label={texts.configureOf(account)}>
        {missing.length > 0 || isSuspended ? texts.review : texts.configure}
      </ButtonLink>
    </li>
  )
}

function Warning({ children }: { readonly children: string }) {
  return (
    <p className="mt-1 flex gap-2 text-ui text-warn">
      <TriangleAlert className="mt-0.75 size-3.5 flex-none" />
      <span className="min-w-0 wrap-anywhere">{children}</span>
    </p>
  )
}
