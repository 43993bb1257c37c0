/** The frame of every page that has the top bar. */
import { lazy, Suspense, useDeferredValue, type ComponentType, type ReactNode } from 'react'
import { useSelector } from 'react-redux'
import { Outlet, useLocation } from 'react-router-dom'
import { ActionsProvider } from '../../actions/ActionsContext.tsx'
import { selectSignedIn } from '../../api/session.ts'
import { useMeQuery } from '../../features/auth/authApi.ts'
import { classes } from '../../ui/classes.ts'
import { AppActions } from './AppActions.tsx'
import { Deletions } from '../../features/deletions/Deletions.tsx'
import { ErrorBoundary } from '../ErrorBoundary.tsx'
import { Notices } from './Notices.tsx'
import { OfflineBar } from './ConnectionState.tsx'
import { PageSpinner } from '../../ui/status/Loading.tsx'
import { TopBar } from './TopBar.tsx'

/** Without the chunk they are missed, and the page is not. */
const DeferredParts = lazy<ComponentType>(() =>
  import('./DeferredParts.tsx').then(
    (loaded) => ({ default: loaded.DeferredParts }),
    () => ({ default: () => null }),
  ),
)

/** Actions begin here: signing in has none, and need not wait for them. */
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
  const onTask = /^\/tasks\/[^/]+/.test(pathname)
  const user = signedIn && data?.user.onboardingCompleted ? data.user : null
  return (
    <div
      // The chat is written and the terminal is read at the bottom of a task.
      data-fills-window={onTask || undefined}
      className={classes('flex flex-col', onTask ? 'h-dvh overflow-hidden' : 'min-h-full')}
    >
      {user !== null && (
        <div className={onTask ? 'flex-none' : 'sticky top-0 z-20'}>
          <TopBar user={user} />
          <OfflineBar />
          {/* Said once, where work begins. */}
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

/** For what shows nothing at first: the page comes before it. */
function AfterFirstRender({ children }: { readonly children: ReactNode }) {
  const drawn = useDeferredValue(true, false)
  return drawn && children
}
