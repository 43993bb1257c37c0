/** The page that a sign-in returns to. Its outcome was read before the page began, and decides where to go. */
import { lazy, Suspense } from 'react'
import { useSelector } from 'react-redux'
import { Navigate } from 'react-router-dom'
import { selectSignedIn } from '../../api/session.ts'
import { PageSpinner } from '../../ui/status/Loading.tsx'
import { useMeQuery } from './authApi.ts'
import type { CallbackOutcome } from './takeToken.ts'
import { texts } from './texts.ts'

/** Rarely needed, so no sign-in page loads it. */
const ConfirmAccount = lazy(async () => ({
  default: (await import('./ConfirmAccount.tsx')).ConfirmAccount,
}))

export function AuthCallback({ outcome }: { readonly outcome: CallbackOutcome | null }) {
  const signedIn = useSelector(selectSignedIn)
  const unknown = outcome === null || outcome.kind === 'nothing'
  const { data, isError } = useMeQuery(undefined, { skip: !signedIn || !unknown })
  if (outcome?.kind === 'error')
    return <Navigate to={`/auth?error=${encodeURIComponent(outcome.error)}`} replace />
  if (outcome?.kind === 'unasked')
    return (
      <Suspense fallback={<PageSpinner label={texts.completing} />}>
        <ConfirmAccount offered={outcome} />
      </Suspense>
    )
  if (outcome?.kind === 'token')
    return <Navigate to={outcome.onboarding ? '/onboarding' : '/dashboard'} replace />
  if (!signedIn || isError) return <Navigate to="/auth" replace />
  if (data !== undefined)
    return <Navigate to={data.user.onboardingCompleted ? '/dashboard' : '/onboarding'} replace />
  return <PageSpinner label={texts.completing} />
}
