/** The frame of all pages but the sign-in and the onboarding, with the top bar for people who are signed in, except below `/auth`. */
import { Suspense, useDeferredValue, type ReactNode, useState } from 'react'
import { useSelector } from 'react-redux'
import { Outlet, useLocation } from 'react-router-dom'
import { Info, X } from 'lucide-react'
import { ActionsProvider } from '../../actions/ActionsContext.tsx'
import { selectSignedIn } from '../../api/session.ts'
import { useMeQuery } from '../../features/auth/authApi.ts'
import { tryOr } from '../../state/tryOr.ts'
import { classes } from '../../ui/classes.ts'
import { optionalPart } from '../../ui/optionalPart.tsx'
import { AppActions } from './AppActions.tsx'
import { Deletions } from '../../features/deletions/Deletions.tsx'
import { ErrorBoundary } from '../ErrorBoundary.tsx'
import { OfflineBar } from './ConnectionState.tsx'
import { PageSpinner } from '../../ui/status/Loading.tsx'
import { TopBar } from './TopBar.tsx'
import { IconButton } from '../../ui/form/IconButton.tsx'
import { useNoticesQuery } from '../../api/aboutServerApi.ts'
import { texts } from './texts.ts'

const DeferredParts = optionalPart(async () => (await import('./DeferredParts.tsx')).DeferredParts)

/** Actions are provided inside this frame only: the sign-in page has none and need not load them. */
export function Layout() {
  return (
    <ActionsProvider>
      <Frame />
    </ActionsProvider>
  )
}

function Frame() {
  const { pathname } = useLocation()
  const signedIn = useSelector(selectSignedIn)
  const { data } = useMeQuery(undefined, { skip: !signedIn })
  // A comparison of its runs scrolls as a whole, like most pages.
  const onTask = /^\/tasks\/[^/]+(\/history)?\/?$/.test(pathname)
  const user = signedIn && data?.user.onboardingCompleted && !pathname.startsWith('/auth') ? data.user : null
  return (
    <div
      // Moves the toasts away from the bottom of the window, where a task has its composer and its terminal.
      data-fills-window={onTask || undefined}
      className={classes('flex flex-col', onTask ? 'h-dvh min-h-96 overflow-hidden' : 'min-h-full')}
    >
      {user !== null && (
        <div className={onTask ? 'flex-none' : 'sticky top-0 z-20'}>
          <TopBar user={user} />
          <OfflineBar />
          {/* Only the dashboard shows notices, because work begins there. */}
          {pathname === '/dashboard' && <Notices />}
          <AfterFirstRender>
            <Suspense fallback={null}>
              <DeferredParts />
            </Suspense>
            <Deletions />
            <AppActions />
          </AfterFirstRender>
        </div>
      )}
      <main
        id="main"
        tabIndex={-1}
        className={classes('outline-none', onTask ? 'flex min-h-0 flex-1 flex-col' : 'flex-1')}
      >
        <ErrorBoundary key={pathname}>
          <Suspense fallback={<PageSpinner />}>
            <Outlet />
          </Suspense>
        </ErrorBoundary>
      </main>
    </div>
  )
}

/** Renders parts that are invisible at first, after the page itself. */
function AfterFirstRender({ children }: { readonly children: ReactNode }) {
  const isRendered = useDeferredValue(true, false)
  return isRendered && children
}

const dismissedKey = 'noticesPutAway'
/** How often the notices are read again, in milliseconds: runners may come and go while the page is open. */
const pollIntervalMs = 60_000

/** Notices about this server, below the top bar of the dashboard. Dismissed notices stay away until the tab is closed or the notices change. */
function Notices() {
  const { data } = useNoticesQuery(undefined, {
    pollingInterval: pollIntervalMs,
    skipPollingIfUnfocused: true,
  })
  const [putAway, setPutAway] = useState(() => tryOr(() => sessionStorage.getItem(dismissedKey), null))
  const notices = data?.notices ?? []
  const text = notices.join('\n')
  if (text === '' || text === putAway) return null
  const close = () => {
    tryOr(() => sessionStorage.setItem(dismissedKey, text), undefined)
    setPutAway(text)
  }
  return (
    <aside
      aria-label={texts.notices}
      className="flex flex-none items-start gap-2 border-b border-line bg-raised py-1 pr-2 pl-4 text-meta text-muted"
    >
      <Info size={14} className="mt-3.75 flex-none md:mt-1.75" />
      <div className="min-w-0 flex-1 py-3.5 md:py-1.5">
        {notices.map((notice) => (
          <p key={notice}>{notice}</p>
        ))}
      </div>
      <IconButton label={texts.putAway} icon={X} size="small" onClick={close} />
    </aside>
  )
}
