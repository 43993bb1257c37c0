/** Shows a page only to the people it is for, and redirects others to where they can proceed. */
import type { ReactNode } from 'react'
import { useSelector } from 'react-redux'
import { Navigate, Outlet, useLocation } from 'react-router-dom'
import type { SerializedError } from '@reduxjs/toolkit'
import { selectSessionEnd, selectSignedIn } from '../api/session.ts'
import { useMeQuery } from '../features/auth/authApi.ts'
import { PageSpinner } from '../ui/status/Loading.tsx'
import type { ApiFault } from '../api/fault.ts'
import { Brand } from '../ui/text/Brand.tsx'
import { Button } from '../ui/form/Button.tsx'
import { Empty } from '../ui/layout/Empty.tsx'
import { texts } from '../features/auth/texts.ts'

interface GuardProps {
  /** The people who may see the page: `members` have completed the onboarding, `newcomers` have not. */
  readonly for: 'members' | 'newcomers'
  /** The guarded page; the child route when left out. */
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

interface ServerUnreachableProps {
  readonly error: ApiFault | SerializedError
  readonly onRetry: () => void
}

/** Shown when the server does not answer, or cannot tell who is signed in. The person stays signed in, and a button tries again. */
function ServerUnreachable({ error, onRetry }: ServerUnreachableProps) {
  const isAway = 'status' in error && error.status === null
  return (
    <div role="alert" className="mx-auto max-w-192 px-4 pt-6 md:px-6 md:pt-12">
      <Brand className="mb-8" />
      <Empty
        heading="h1"
        title={isAway ? texts.unreachable : texts.notLoaded}
        className="px-0"
        action={
          <Button size="touch" onClick={onRetry}>
            {texts.tryAgain}
          </Button>
        }
      >
        {isAway ? texts.unreachableWhy : error.message}
      </Empty>
    </div>
  )
}
