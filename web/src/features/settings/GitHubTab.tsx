/** The account at the code host: connect it, see which repositories it reaches, disconnect it. */
import { Building2, CircleCheck, ExternalLink, Info, RefreshCw } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useDispatch } from 'react-redux'
import { useSearchParams } from 'react-router-dom'
import type { User } from '#domain/api/auth.schema.ts'
import { isFault } from '../../api/fault.ts'
import { Button, ButtonLink } from '../../ui/form/Button.tsx'
import { ConfirmDialog } from '../../ui/overlay/ConfirmDialog.tsx'
import { GitHubMark } from '../../ui/text/Brand.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { Stats } from '../../ui/layout/Stats.tsx'
import { notifiedFailure, notifiedOutcome } from '../notifications/notifications.ts'
import {
  useGitHubAccessQuery,
  useGitHubUserQuery,
  useRefreshGitHubAccessMutation,
} from '../github/gitHubApi.ts'
import { lostAccess } from '../github/lostAccess.ts'
import { installUrlOf, reachedCount } from '../github/appReach.ts'
import { useConnectGitHub } from '../github/useConnectGitHub.ts'
import { useRepositoriesQuery } from '../projects/projectsApi.ts'
import { Installations, ReturnedFromInstalling } from './Installations.tsx'
import { useDisconnectGitHubMutation, useOrganizationsQuery } from './settingsApi.ts'
import { linkError, texts } from './texts.ts'
import { TokenNote } from './TokenNote.tsx'

export function GitHubTab({ user }: { readonly user: User }) {
  const [query] = useSearchParams()
  const error = query.get('error')
  return (
    <>
      {error !== null && (
        <Note kind="error" className="mb-4">
          {linkError(error)}
        </Note>
      )}
      {user.githubConnected ? <Connected handle={user.githubUsername} /> : <NotConnected />}
    </>
  )
}

function NotConnected() {
  const { connect, leaving } = useConnectGitHub()
  return (
    <Panel label={texts.connectTitle} className="flex flex-wrap items-center gap-4 p-5">
      <HostBadge />
      <div className="min-w-0 flex-1">
        <h2 className="font-semibold">{texts.connectTitle}</h2>
        <p className="text-ui text-muted">{texts.connectWhy}</p>
      </div>
      <Button kind="primary" size="touch" busy={leaving} busyLabel={texts.connecting} onClick={connect}>
        {texts.connect}
      </Button>
    </Panel>
  )
}

function Connected({ handle }: { readonly handle: string | null }) {
  const dispatch = useDispatch()
  const account = useGitHubUserQuery()
  const repositories = useRepositoriesQuery()
  const organizations = useOrganizationsQuery()
  // Fetched again on each visit, because the person may come back from changing the access at the code host.
  const access = useGitHubAccessQuery(null, { refetchOnMountOrArgChange: true })
  // When access was revoked on GitHub, the server notices it only by using the access.
  const isLost = isFault(account.error, lostAccess)
  const error = isLost ? undefined : (account.error ?? repositories.error ?? organizations.error)
  useEffect(() => {
    if (error !== undefined) dispatch(notifiedFailure(texts.notFetched, error))
  }, [dispatch, error])

  const reads = [account, repositories, organizations]
  const retry = () => {
    for (const { isError, refetch } of reads) if (isError) void refetch()
  }
  const missing = error === undefined ? undefined : null
  const isCounted = access.data !== undefined || access.isError
  // The repositories that the App reaches; without an App, or when that is unknown, those that the person reaches.
  const reached =
    reachedCount(access.data) ?? (isCounted ? repositories.data?.repositories.length : undefined)
  const login = account.data?.user.login ?? handle
  if (isLost) return <NotConnected />
  return (
    <>
      <ReturnedFromInstalling />
      <Panel label={texts.connected}>
        <div className="flex flex-wrap items-center gap-3 p-4 md:gap-4 md:p-5">
          <HostBadge />
          <div className="min-w-0 flex-1">
            <h2 className="font-semibold">
              {texts.connected}
              {/* Hidden on a phone, where the icon would be alone on a line. */}
              <CircleCheck className="ml-2 hidden size-3.5 text-ok md:inline" />
            </h2>
            {login !== null && <p className="text-ui text-muted">@{login}</p>}
          </div>
          <Disconnect />
        </div>
        <Stats
          className="border-t border-line-soft"
          unknown={texts.unknown}
          stats={[
            { name: texts.counts.repositories, value: reached ?? missing },
            { name: texts.counts.organizations, value: organizations.data?.organizations.length ?? missing },
            { name: texts.counts.publicRepositories, value: account.data?.user.public_repos ?? missing },
          ]}
        />
      </Panel>
      {/* The notification disappears by itself; this note stays. */}
      {error !== undefined && (
        <Note
          kind="warning"
          className="mt-4"
          action={
            <Button size="small" busy={reads.some(({ isFetching }) => isFetching)} onClick={retry}>
              {texts.tryAgain}
            </Button>
          }
        >
          {texts.partMissing}
        </Note>
      )}
      {account.data?.token ? <TokenNote kind={account.data.token.kind} /> : <Access access={access} />}
    </>
  )
}

/** A button that makes the server ask GitHub again, instead of answering from its cache of some minutes. */
function Refresh({ isFetching }: { readonly isFetching: boolean }) {
  const dispatch = useDispatch()
  const [refreshAccess, { isLoading }] = useRefreshGitHubAccessMutation()
  const refresh = async () => {
    const { error } = await refreshAccess()
    if (error !== undefined) dispatch(notifiedFailure(texts.notFetched, error))
  }
  return (
    <Button
      size="touch"
      icon={<RefreshCw />}
      busy={isLoading || isFetching}
      busyLabel={texts.refreshing}
      onClick={() => void refresh()}
    >
      {texts.refresh}
    </Button>
  )
}

/** Which repositories the App can reach, and how to change that. */
function Access({ access }: { readonly access: ReturnType<typeof useGitHubAccessQuery> }) {
  const app = access.data?.app
  const installUrl = installUrlOf(access.data)
  if (app === null)
    return (
      <section className="mt-8">
        <h2 className="font-semibold">{texts.access}</h2>
        <p className="mt-1 max-w-[62ch] text-ui text-muted">{texts.noApp}</p>
      </section>
    )
  return (
    <section className="mt-8">
      <h2 className="font-semibold">{texts.access}</h2>
      <p className="mt-1 mb-3 max-w-[62ch] text-ui text-muted">
        {installUrl === undefined && app !== undefined ? texts.accessWhyPrivate : texts.accessWhy}
      </p>
      <Installations access={access} />
      {app !== undefined && (
        <div className="flex flex-wrap gap-2">
          {installUrl !== undefined && (
            <ButtonLink to={installUrl} size="touch" outside icon={<Building2 />}>
              {app.isPublic === false ? texts.installFirst : texts.install}
            </ButtonLink>
          )}
          <ButtonLink to={app.manageUrl} size="touch" outside icon={<ExternalLink />}>
            {texts.manage}
          </ButtonLink>
          <Refresh isFetching={access.isFetching} />
        </div>
      )}
      <ul className="mt-5 border-t border-line-soft pt-3">
        {(app?.isPublic === false ? [texts.isPrivate, texts.newOnes] : [...texts.help, texts.newOnes]).map(
          (sentence) => (
            <li key={sentence} className="flex gap-2.5 py-1.25 text-ui text-muted">
              <Info className="mt-0.75 size-3.5" />
              {sentence}
            </li>
          ),
        )}
      </ul>
    </section>
  )
}

function Disconnect() {
  const dispatch = useDispatch()
  const [isConfirming, setConfirming] = useState(false)
  const [disconnect, { isLoading }] = useDisconnectGitHubMutation()
  const onConfirm = async () => {
    const { error } = await disconnect()
    setConfirming(false)
    dispatch(notifiedOutcome(error, texts.disconnected, texts.notDisconnected, texts.disconnectFailed))
  }
  return (
    <>
      <Button kind="danger" size="touch" onClick={() => setConfirming(true)}>
        {texts.disconnect}
      </Button>
      <ConfirmDialog
        open={isConfirming}
        onClose={() => setConfirming(false)}
        title={texts.disconnectTitle}
        leave={texts.keep}
        confirm={texts.disconnect}
        isDangerous
        busy={isLoading}
        busyLabel={texts.disconnecting}
        onConfirm={() => void onConfirm()}
      >
        {texts.disconnectWhy}
      </ConfirmDialog>
    </>
  )
}

function HostBadge() {
  return (
    <span className="grid size-10 flex-none place-items-center rounded-full border border-line">
      <GitHubMark />
    </span>
  )
}
