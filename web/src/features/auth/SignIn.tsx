/** The sign-in page: what the product is, and the button to sign in. */
import { Check, GitBranch, GitPullRequest, KeyRound } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useSelector } from 'react-redux'
import { Navigate, useSearchParams } from 'react-router-dom'
import { selectRefusal, selectSessionEnd, selectSignedIn, type SessionEnd } from '../../api/session.ts'
import { Brand, GitHubMark } from '../../ui/text/Brand.tsx'
import { Button } from '../../ui/form/Button.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { useWindowEvent } from '../../ui/hooks.ts'
import { SampleTasks } from './SampleTasks.tsx'
import { beginSignIn } from './signInNonce.ts'
import { signInError, texts } from './texts.ts'
import { useRefusalQuery } from './authApi.ts'

const icons = [GitBranch, KeyRound, Check, GitPullRequest]

export function SignIn() {
  const signedIn = useSelector(selectSignedIn)
  const end = useSelector(selectSessionEnd)
  const [query] = useSearchParams()
  const inAddress = query.get('error')
  const mayBeRefused = inAddress === 'not_allowed' && end !== 'refused'
  const answer = useRefusalQuery(undefined, { skip: !mayBeRefused })
  const refusal = mayBeRefused ? answer.data?.sentence : undefined
  const refused = useSelector(selectRefusal)
  const isRefused = refused !== null || inAddress === 'not_allowed'
  const error =
    refused ?? sessionError(end) ?? refusal ?? (inAddress === null ? null : signInError(inAddress))
  useEffect(() => {
    document.title = `${texts.pageTitle} · Flightdeck`
  }, [])
  if (signedIn && error === null) return <Navigate to="/dashboard" replace />
  return (
    <main
      id="main"
      tabIndex={-1}
      className="grid min-h-full outline-none lg:grid-cols-[minmax(0,7fr)_minmax(0,5fr)]"
    >
      <section className="hidden flex-col border-r border-line bg-panel px-16 pt-10 lg:flex">
        <Brand />
        <div className="my-auto py-10">
          <h2 className="max-w-[13em] text-hero font-semibold text-balance">{texts.headline}</h2>
          <ul className="mt-8 grid max-w-[30em] gap-3.5">
            {texts.benefits.map(({ lead, rest }, index) => {
              const Icon = icons[index] ?? Check
              return (
                <li key={lead} className="flex gap-3 text-[15px]/6 text-muted">
                  <Icon className="mt-1 text-text" />
                  <span>
                    <b className="font-medium text-text">{lead}</b> {rest}
                  </span>
                </li>
              )
            })}
          </ul>
        </div>
        <SampleTasks />
      </section>
      <section className="grid place-items-center px-6 py-10">
        <div className="w-full max-w-84">
          {/* On a wide screen the name is in the left column. */}
          <Brand large className="mb-6" nameClassName="lg:hidden" />
          <h1 className="text-page font-semibold">{texts.title}</h1>
          <p className="mt-1 mb-6 text-muted">{texts.subtitle}</p>
          {error !== null && (
            <Note kind="error" className="mb-4">
              {error}
            </Note>
          )}
          {error === null && query.has('installed') && <p className="mb-4 text-ui">{texts.installed}</p>}
          <Continue another={isRefused} />
        </div>
      </section>
    </main>
  )
}

function Continue({ another }: { readonly another: boolean }) {
  const [leaving, setLeaving] = useState(false)
  // The browser's back button may restore the page as it was left, with a busy button.
  useWindowEvent('pageshow', () => setLeaving(false))
  return (
    <Button
      kind="primary"
      size="large"
      className="w-full"
      icon={<GitHubMark />}
      busy={leaving}
      busyLabel={texts.connecting}
      onClick={() => {
        setLeaving(true)
        beginSignIn({ another })
      }}
    >
      {another ? texts.another : texts.button}
    </Button>
  )
}

function sessionError(end: SessionEnd): string | null {
  if (end === 'unauthorised') return signInError('session_lost')
  return end === 'lost' ? signInError('other') : null
}
