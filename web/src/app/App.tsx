/** Maps addresses to pages (screens, section 2). */
import { Suspense } from 'react'
import { Navigate, Route, Routes } from 'react-router-dom'
import { AuthCallback } from '../features/auth/AuthCallback.tsx'
import { SignIn } from '../features/auth/SignIn.tsx'
import type { CallbackOutcome } from '../features/auth/takeToken.ts'
import { Toasts } from '../features/notifications/Toasts.tsx'
import { ErrorBoundary } from './ErrorBoundary.tsx'
import { Guard } from './Guard.tsx'
import { PageSpinner } from '../ui/status/Loading.tsx'
import { pages } from './loading/pages.ts'
import { RouteEffects } from './RouteEffects.tsx'

/** Loaded after the visible page. A lost count is not an error. */
function tellPageView(path: string): void {
  void import('./pageView.ts').then(
    (pageView) => pageView.tellPageView(path),
    () => undefined,
  )
}

interface AppProps {
  /** The outcome in the address of the sign-in callback, if the page was opened there. */
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
            path="/onboarding/*"
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
