/** Shown when a token arrives for a sign-in that this tab did not begin: names the account that the token is for, and lets the person decide. */
import { useEffect, useState } from 'react'
import { useSelector } from 'react-redux'
import { Navigate, useNavigate } from 'react-router-dom'
import type { getMe, User } from '#domain/api/auth.schema.ts'
import { authRoutes } from '#domain/api/auth.ts'
import { requestOf } from '../../api/endpoint.ts'
import { memberOf } from '../../api/memberOf.ts'
import { request, type ApiAnswer } from '../../api/request.ts'
import { selectSignedIn } from '../../api/session.ts'
import { keepToken } from '../../api/tokenStore.ts'
import { PageSpinner } from '../../ui/status/Loading.tsx'
import { Avatar } from '../../ui/text/Avatar.tsx'
import { Brand } from '../../ui/text/Brand.tsx'
import { Button } from '../../ui/form/Button.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { useMeQuery } from './authApi.ts'
import { texts } from './texts.ts'

const confirmTexts = {
  title: (name: string) => `Sign in as ${name}?`,
  why: 'This sign-in did not start in this tab. Someone may have sent you a link to their own account, where they can see everything you do. Continue only if this account is yours.',
  now: (name: string) => `You are signed in as ${name}.`,
  stay: (name: string) => `Stay signed in as ${name}`,
  otherWay: 'Go to Sign-In',
  take: (name: string) => `Continue as ${name}`,
  failedTitle: 'This sign-in link does not work',
  over: 'The link has expired. Sign in again.',
  unreachable: "Couldn't check which account this is.",
} as const

interface ConfirmAccountProps {
  readonly offered: { readonly token: string; readonly onboarding: boolean }
}

export function ConfirmAccount({ offered }: ConfirmAccountProps) {
  const [attempt, setAttempt] = useState(0)
  return <Confirming key={attempt} offered={offered} onRetry={() => setAttempt(attempt + 1)} />
}

function Confirming({ offered, onRetry }: ConfirmAccountProps & { readonly onRetry: () => void }) {
  const navigate = useNavigate()
  const signedIn = useSelector(selectSignedIn)
  const { data: current, isLoading } = useMeQuery(undefined, { skip: !signedIn })
  const tokenOwner = useOwner(offered.token)
  useEffect(() => {
    document.title = `${texts.pageTitle} · Flightdeck`
  }, [])
  if (tokenOwner.kind === 'loading' || isLoading) return <PageSpinner label={texts.completing} />
  const now = current?.user
  const stayButton = (
    <Button
      kind="primary"
      size="large"
      className="w-full"
      onClick={() => void navigate(now === undefined ? '/auth' : '/dashboard', { replace: true })}
    >
      {now === undefined ? confirmTexts.otherWay : confirmTexts.stay(nameOf(now))}
    </Button>
  )
  const take = () => {
    keepToken(offered.token)
    // A full reload, because no data of the previous person may stay in this page.
    window.location.replace(offered.onboarding ? '/onboarding' : '/dashboard')
  }
  // The token is for the person who is already signed in, so there is nothing to decide.
  if (tokenOwner.kind === 'owner' && tokenOwner.owner.id === now?.id)
    return <Navigate to="/dashboard" replace />
  return (
    <main id="main" tabIndex={-1} className="grid min-h-full place-items-center px-6 py-10 outline-none">
      <div className="w-full max-w-96">
        <Brand large className="mb-6" />
        {tokenOwner.kind === 'owner' ? (
          <>
            <h1 className="text-page font-semibold wrap-anywhere">
              {confirmTexts.title(nameOf(tokenOwner.owner))}
            </h1>
            <Account user={tokenOwner.owner} className="my-5 rounded-panel border border-line bg-panel p-4" />
            <p className="text-muted">{confirmTexts.why}</p>
            {now !== undefined && <p className="mt-3 wrap-anywhere">{confirmTexts.now(nameOf(now))}</p>}
            <div className="mt-6 grid gap-2.5">
              {stayButton}
              <Button size="large" className="w-full" onClick={take}>
                {confirmTexts.take(nameOf(tokenOwner.owner))}
              </Button>
            </div>
          </>
        ) : (
          <>
            <h1 className="mb-5 text-page font-semibold">{confirmTexts.failedTitle}</h1>
            <Note kind="error" className="mb-4">
              {tokenOwner.message}
            </Note>
            <div className="grid gap-2.5">
              {stayButton}
              {tokenOwner.canRetry && (
                <Button size="large" className="w-full" onClick={onRetry}>
                  {texts.tryAgain}
                </Button>
              )}
            </div>
          </>
        )}
      </div>
    </main>
  )
}

function Account({ user, className }: { readonly user: User; readonly className: string }) {
  return (
    <div className={`flex items-center gap-3 ${className}`}>
      <Avatar name={nameOf(user)} src={user.avatar} />
      <div className="min-w-0">
        <div className="truncate font-medium">{nameOf(user)}</div>
        <div className="truncate text-ui text-muted">{user.githubUsername ?? user.email}</div>
      </div>
    </div>
  )
}

const nameOf = (user: User): string => user.fullName || user.name || user.githubUsername || user.id

type TokenOwner =
  | { readonly kind: 'loading' }
  | { readonly kind: 'owner'; readonly owner: User }
  | { readonly kind: 'failed'; readonly message: string; readonly canRetry: boolean }

/** Asks the server who owns the token. The token stays out of the store. */
function useOwner(token: string): TokenOwner {
  const [owner, setOwner] = useState<TokenOwner>({ kind: 'loading' })
  useEffect(() => {
    const leaving = new AbortController()
    const { signal } = leaving
    const call = requestOf<typeof getMe>(authRoutes.getMe, { fallback: confirmTexts.unreachable })
    void request(call, { token, signal }).then((answer) => signal.aborted || setOwner(ownerIn(answer)))
    return () => leaving.abort()
  }, [token])
  return owner
}

function ownerIn(answer: ApiAnswer): TokenOwner {
  if ('error' in answer) {
    const { status, message } = answer.error
    return status === 401
      ? { kind: 'failed', message: confirmTexts.over, canRetry: false }
      : { kind: 'failed', message, canRetry: status !== 403 }
  }
  return hasUser(answer.data)
    ? { kind: 'owner', owner: answer.data.user }
    : { kind: 'failed', message: confirmTexts.unreachable, canRetry: true }
}

function hasUser(answer: unknown): answer is { readonly user: User } {
  return memberOf(answer, 'user') !== undefined
}
