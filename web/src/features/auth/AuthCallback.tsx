/** The page that a sign-in returns to. The outcome of the sign-in is read before the page is rendered, and decides where to go. */
import { lazy, Suspense } from 'react'
import { useSelector } from 'react-redux'
import { Navigate } from 'react-router-dom'
import { selectSignedIn } from '../../api/session.ts'
import { inTime } from '../../ui/inTime.ts'
import { PageSpinner } from '../../ui/status/Loading.tsx'
import { useMeQuery } from './authApi.ts'
import { texts } from './texts.ts'
import { keepToken, type TokenStorage } from '../../api/tokenStore.ts'
import { takeNonce, type NonceStorage } from './signInNonce.ts'

/** The page that asks to confirm the account is rarely needed, so it is a chunk of its own. */
const ConfirmAccount = lazy(() =>
  inTime(async () => ({ default: (await import('./ConfirmAccount.tsx')).ConfirmAccount })),
)

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

export type CallbackOutcome =
  | { readonly kind: 'error'; readonly error: string }
  | { readonly kind: 'token'; readonly onboarding: boolean }
  /** A token for a sign-in that this tab did not begin. The link may lead to somebody else's account, so the person decides whether to use it. */
  | { readonly kind: 'unasked'; readonly token: string; readonly onboarding: boolean }
  | { readonly kind: 'nothing' }

const callbackPath = '/auth/callback'

/**
 * Takes the outcome of a sign-in out of the address before any request is made, because a token in a URL ends up in logs. Returns `null` when the
 * page is not the callback. An error wins over a token; a token is only stored for a sign-in that this tab began.
 */
export function takeToken(
  location: Pick<Location, 'pathname' | 'search'>,
  history: Pick<History, 'replaceState' | 'state'>,
  storage?: TokenStorage,
  nonces?: NonceStorage,
): CallbackOutcome | null {
  if (location.pathname.replace(/\/$/, '') !== callbackPath) return null
  const query = new URLSearchParams(location.search)
  const error = query.get('error')
  const token = query.get('token')
  history.replaceState(history.state, '', callbackPath)
  if (error) return { kind: 'error', error }
  if (!token) return { kind: 'nothing' }
  const onboarding = query.get('onboarding') === 'true'
  if (!takeNonce(query.get('nonce'), nonces)) return { kind: 'unasked', token, onboarding }
  keepToken(token, storage)
  return { kind: 'token', onboarding }
}
