/** The rights of this server's App at the code host, for administrators. A part that could not be read gives the reason. */
import { ExternalLink, RefreshCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { reasonOf } from '../../api/fault.ts'
import { Button, ButtonLink } from '../../ui/form/Button.tsx'
import { Empty } from '../../ui/layout/Empty.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { Page } from '../../ui/layout/Page.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { RetryNote } from '../../ui/layout/RetryNote.tsx'
import { Skeletons } from '../../ui/status/Loading.tsx'
import { ForAdmins } from '../admin/ForAdmins.tsx'
import { useGitHubRightsQuery, useRefreshGitHubRightsMutation, type GitHubRights } from './gitHubApi.ts'
import { Deliveries, Installations, Limits, Permissions } from './RightsParts.tsx'
import { texts } from './rightsTexts.ts'

export function Rights() {
  return (
    <ForAdmins title={texts.title} refusal={texts.notAdmin}>
      <RightsPage />
    </ForAdmins>
  )
}

function RightsPage() {
  const rights = useGitHubRightsQuery(undefined, { refetchOnMountOrArgChange: true })
  const { data, error, isFetching } = rights
  const [refresh, { isLoading: isRefreshing }] = useRefreshGitHubRightsMutation()
  return (
    <Page
      title={texts.title}
      width="normal"
      lead={<p className="text-muted">{data?.app ? texts.leadOf(data.app.name) : texts.lead}</p>}
      actions={
        data !== undefined && (
          <div className="flex flex-wrap gap-2">
            {data.app !== null && (
              <ButtonLink to={data.app.url} size="touch" outside icon={<ExternalLink />}>
                {texts.openApp}
              </ButtonLink>
            )}
            <Button
              size="touch"
              icon={<RefreshCw />}
              busy={isFetching || isRefreshing}
              busyLabel={texts.refreshing}
              onClick={() => void refresh()}
            >
              {texts.refresh}
            </Button>
          </div>
        )
      }
    >
      <RetryNote read={rights} className="mb-4">
        {reasonOf(error, texts.notFetched)}
      </RetryNote>
      {data !== undefined && <Parts rights={data} />}
      {data === undefined && error === undefined && (
        <Skeletons
          label={texts.loading}
          each={[1, 2, 3].flatMap(() => ['mb-3 h-5 w-32', 'mb-8 h-32 w-full'])}
        />
      )}
    </Page>
  )
}

function Parts({ rights }: { readonly rights: GitHubRights }) {
  const { app, isSingleUser, isLocal, permissions, installations, deliveries, own } = rights
  if (app === null)
    return (
      <>
        <Panel label={texts.none.title}>
          <Empty
            title={texts.none.title}
            action={
              !isSingleUser &&
              !isLocal && (
                <ButtonLink to="/setup" size="touch">
                  {texts.none.setup}
                </ButtonLink>
              )
            }
          >
            {isLocal ? texts.none.local : isSingleUser ? texts.none.singleUser : texts.none.why}
          </Empty>
        </Panel>
        {own?.kind === 'read' && <Limits installations={[]} own={own} />}
      </>
    )
  const known = installations.kind === 'read' ? installations.installations : null
  return (
    <>
      {!app.hasKey && (
        <Note kind="warning" className="mb-4">
          {texts.noKey}
        </Note>
      )}
      {app.hasKey && (
        <>
          <Part title={texts.permissions.title} of={permissions}>
            {(read) => <Permissions permissions={read} installations={known} />}
          </Part>
          <Part title={texts.installations.title} of={installations}>
            {(read) => <Installations part={read} installUrl={app.installUrl} />}
          </Part>
        </>
      )}
      <Limits installations={known ?? []} own={own} />
      {app.hasKey && (
        <Part title={texts.deliveries.title} of={deliveries}>
          {({ deliveries: all }) => <Deliveries deliveries={all} />}
        </Part>
      )}
    </>
  )
}

type Unavailable = { readonly kind: 'unavailable'; readonly reason: string }

interface PartProps<Read> {
  readonly title: string
  readonly of: Read | Unavailable
  readonly children: (read: Exclude<Read, Unavailable>) => ReactNode
}

const isUnavailable = (part: object): part is Unavailable => 'kind' in part && part.kind === 'unavailable'
const isRead = <Read extends object>(part: Read | Unavailable): part is Exclude<Read, Unavailable> =>
  !isUnavailable(part)

function Part<Read extends object>({ title, of: part, children }: PartProps<Read>) {
  return (
    <section className="mt-8">
      <h2 className="mb-3 font-semibold">{title}</h2>
      {isRead(part) ? children(part) : isUnavailable(part) && <Note kind="warning">{part.reason}</Note>}
    </section>
  )
}
