/** Only lets the right people through, and redirects others to where they can proceed. */
import type { ReactNode } from 'react'
import { useSelector } from 'react-redux'
import { Navigate, Outlet, useLocation } from 'react-router-dom'
import { selectSessionEnd, selectSignedIn } from '../api/session.ts'
import { useMeQuery } from '../features/auth/authApi.ts'
import { ServerUnreachable } from '../features/auth/ServerUnreachable.tsx'
import { PageSpinner } from '../ui/status/Loading.tsx'

interface GuardProps {
  /** Pages for people who have completed onboarding, or the onboarding itself. */
  readonly for: 'members' | 'newcomers'
  /** The route's own element by default. */
  readonly children?: ReactNode
}

export function Guard({ for: audience, children = <Outlet /> }: GuardProps) {
  const signedIn = useSelector(selectSignedIn)
  const end = useSelector(selectSessionEnd)
  const { search } = useLocation()
  const { data, error, refetch } = useMeQuery(undefined, { skip: !signedIn })
  if (!signedIn) {
    const installed = new URLSearchParams(search).has('installation_id') ? '?installed=true' : ''
    return <Navigate to={`${end === 'unauthorised' ? '/login' : '/auth'}${installed}`} replace />
  }
  if (data === undefined)
    return error ? <ServerUnreachable error={error} onRetry={() => void refetch()} /> : <PageSpinner />
  if (!data.user.onboardingCompleted && audience === 'members') return <Navigate to="/onboarding" replace />
  if (data.user.onboardingCompleted && audience === 'newcomers') return <Navigate to="/dashboard" replace />
  return children
}
