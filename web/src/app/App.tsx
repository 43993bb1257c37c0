/** Maps addresses to pages (screens, section 2). A change of the page resets the scroll position and the focus, and is counted. */
import { Suspense, useEffect, useRef } from 'react'
import { Navigate, Route, Routes, useLocation } from 'react-router-dom'
import { AuthCallback, type CallbackOutcome } from '../features/auth/AuthCallback.tsx'
import { SignIn } from '../features/auth/SignIn.tsx'
import { Toasts } from '../features/notifications/Toasts.tsx'
import { ErrorBoundary } from './ErrorBoundary.tsx'
import { Guard } from './Guard.tsx'
import { PageSpinner } from '../ui/status/Loading.tsx'
import { pages } from './loading/pages.ts'

/** Counts a page view. The code for it is loaded after the visible page, and a failure is ignored. */
function tellPageView(path: string): void {
  void import('./pageView.ts').then(
    (pageView) => pageView.tellPageView(path),
    () => undefined,
  )
}

interface AppProps {
  /** The outcome that the address of the sign-in callback contains; `null` when the page was opened at another address. */
  readonly callback: CallbackOutcome | null
}

export function App({ callback }: AppProps) {
  return (
    <ErrorBoundary>
      <RouteEffects onPageView={tellPageView} />
      <Suspense fallback={<PageSpinner />}>
        <Routes>
          <Route path="/auth" element={<SignIn />} />
          <Route path="/login" element={<SignIn />} />
          <Route path="/auth/callback" element={<AuthCallback outcome={callback} />} />
          <Route
            path="/onboarding/subscription?"
            element={
              <Guard for="newcomers">
                <pages.Onboarding />
              </Guard>
            }
          />
          <Route element={<pages.Frame />}>
            <Route element={<Guard for="members" />}>
              <Route index element={<Navigate to="/dashboard" replace />} />
              <Route path="/dashboard" element={<pages.Dashboard />} />
              <Route path="/projects" element={<pages.Projects />} />
              <Route path="/projects/new" element={<pages.CreateProject />} />
              <Route path="/projects/:projectId" element={<pages.ProjectDetail />} />
              <Route path="/tasks/:taskId/history?" element={<pages.TaskDetail />} />
              <Route path="/tasks/:taskId/compare" element={<pages.TaskDetail />} />
              <Route path="/settings" element={<pages.Settings />} />
            </Route>
            <Route path="*" element={<pages.OtherPages />} />
          </Route>
        </Routes>
      </Suspense>
      <Toasts />
    </ErrorBoundary>
  )
}

interface RouteEffectsProps {
  /** Called for every viewed page with the path only, because a query may contain private data. */
  readonly onPageView: (path: string) => void
}

/** Side effects of a page change: the scroll position, the focus, and the page-view count. */
export function RouteEffects({ onPageView }: RouteEffectsProps) {
  // The history has an address of its own but is part of the task's page, so opening it is no page change.
  const pathname = useLocation().pathname.replace('/history', '')
  const previousPath = useRef('')
  useEffect(() => {
    const from = previousPath.current
    previousPath.current = pathname
    if (from === pathname) return
    onPageView(pathname)
    if (!from) return
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches
    scrollTo({ top: 0, behavior: from.startsWith('/tasks/') && !calm ? 'smooth' : 'instant' })
    // Otherwise a screen reader would continue from a link that no longer exists.
    document.getElementById('main')?.focus({ preventScroll: true })
  }, [pathname, onPageView])
  return null
}
