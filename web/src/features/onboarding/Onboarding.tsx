/** Onboarding in two steps: name and email address, then team size and role. */
import { useEffect, useRef, useState, type FormEvent } from 'react'
import { Navigate, useNavigate } from 'react-router-dom'
import type { completeOnboarding, User } from '#domain/api/auth.schema.ts'
import type { BodyInputOf, AnswerOf } from '#domain/api/call.schema.ts'
import { authRoutes } from '#domain/api/auth.ts'
import { reasonOf } from '../../api/fault.ts'
import { Brand } from '../../ui/text/Brand.tsx'
import { Button } from '../../ui/form/Button.tsx'
import { Choice } from '../../ui/form/Choice.tsx'
import { Field } from '../../ui/form/Field.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { Progress } from '../../ui/status/Progress.tsx'
import { useMeQuery, storeUser } from '../auth/authApi.ts'
import { useLogout } from '../auth/useLogout.ts'
import { companySizes, roles, texts } from './texts.ts'
import { api } from '../../api/api.ts'
import { requestOf } from '../../api/endpoint.ts'

type Answers = BodyInputOf<typeof completeOnboarding>

export function Onboarding() {
  const { data } = useMeQuery()
  useEffect(() => {
    document.title = `${texts.pageTitle} · Flightdeck`
  }, [])
  return data === undefined ? <Navigate to="/auth" replace /> : <Steps user={data.user} />
}

function Steps({ user }: { readonly user: User }) {
  const logout = useLogout()
  const form = useOnboardingForm(user)
  const { step } = form
  const heading = useRef<HTMLHeadingElement>(null)
  const shownStep = useRef(step)
  useEffect(() => {
    // The button that was pressed is gone, and with it the focus.
    if (shownStep.current !== step) heading.current?.focus()
    shownStep.current = step
  }, [step])
  // The progress counts completed steps.
  const percent = (step - 1) * 50
  return (
    <main
      id="main"
      tabIndex={-1}
      className="mx-auto flex min-h-full w-full max-w-118 flex-col px-4 pt-3 pb-6 outline-none md:pt-6 md:pb-16"
    >
      <div className="flex h-11 flex-none items-center justify-between">
        <Brand />
        <Button kind="ghost" size="touch" className="-mr-3" onClick={logout}>
          {texts.logout}
        </Button>
      </div>
      <div className="flex flex-1 flex-col pt-8 md:pt-14">
        <div className="flex justify-between text-meta text-muted">
          <span>{texts.step(step)}</span>
          <span className="font-mono">{texts.percent(percent)}</span>
        </div>
        <Progress percent={percent} label={texts.progress} className="mt-2 mb-8 bg-line" />
        <h1 ref={heading} tabIndex={-1} className="mb-6 text-page font-semibold outline-none">
          {step === 1 ? texts.you : texts.team}
        </h1>
        <form onSubmit={(event) => void form.submit(event)} className="flex flex-1 flex-col md:flex-none">
          {/* Both steps have the same height, so that the buttons stay in place. On a phone the buttons are at the bottom. */}
          <div className="grid content-start gap-5 md:min-h-66">
            {step === 1 ? <AboutYou user={user} {...form} /> : <AboutTeam {...form} />}
          </div>
          <div className="mt-auto pt-8 md:mt-0 md:pt-3">
            {/* The fault is next to the button, since on a phone the top of the page is out of sight. */}
            {form.error !== undefined && (
              <Note kind="error" className="mb-4">
                {reasonOf(form.error, texts.failed)}
              </Note>
            )}
            <Buttons {...form} />
          </div>
        </form>
      </div>
    </main>
  )
}

type Form = ReturnType<typeof useOnboardingForm>

interface Draft {
  readonly fullName: string
  readonly email: string
  readonly companySize: Answers['companySize'] | null
  readonly role: Answers['role'] | null
}

function useOnboardingForm(user: User) {
  const navigate = useNavigate()
  const [complete, { isLoading, error }] = useCompleteOnboardingMutation()
  const [step, setStep] = useState<1 | 2>(1)
  const [draft, setDraft] = useState<Draft>({
    fullName: user.fullName || user.name,
    email: user.email ?? '',
    companySize: null,
    role: null,
  })
  const fullName = draft.fullName.trim()
  const email = draft.email.trim()
  const { companySize, role } = draft

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (fullName === '') return
    if (step === 1) return setStep(2)
    if (companySize === null || role === null) return
    const address = user.email === null && email !== '' ? { email } : {}
    const answer = await complete({ fullName, ...address, companySize, role })
    if (answer.error === undefined) void navigate('/dashboard', { replace: true })
  }
  return {
    step,
    setStep,
    draft,
    change: (changes: Partial<Draft>) => setDraft({ ...draft, ...changes }),
    canSubmit: fullName !== '' && (step === 1 || (companySize !== null && role !== null)),
    submit,
    isLoading,
    error,
  }
}

function AboutYou({ user, draft, change }: Form & { readonly user: User }) {
  return (
    <>
      <Field
        large
        label={texts.fullName}
        autoComplete="name"
        required
        maxCharacters={200}
        value={draft.fullName}
        onChange={(event) => change({ fullName: event.target.value })}
      />
      <Field
        large
        label={texts.email}
        type="email"
        autoComplete="email"
        readOnly={user.email !== null}
        help={user.email === null ? undefined : texts.fetched}
        value={draft.email}
        onChange={(event) => change({ email: event.target.value })}
      />
    </>
  )
}

function AboutTeam({ draft, change }: Form) {
  return (
    <>
      <Choice
        label={texts.companySize}
        options={companySizes}
        chosen={draft.companySize}
        onChoose={(companySize) => change({ companySize })}
      />
      <Choice label={texts.role} options={roles} chosen={draft.role} onChoose={(role) => change({ role })} />
    </>
  )
}

function Buttons({ step, setStep, canSubmit, isLoading }: Form) {
  return (
    <div className="flex items-center justify-between">
      {step === 1 ? (
        <span />
      ) : (
        <Button kind="ghost" size="large" className="-ml-4" onClick={() => setStep(1)} disabled={isLoading}>
          {texts.back}
        </Button>
      )}
      <Button
        key={step}
        kind="primary"
        size="large"
        type="submit"
        className="min-w-40"
        busy={isLoading}
        disabled={!canSubmit}
      >
        {step === 1 ? texts.continue : texts.complete}
      </Button>
    </div>
  )
}

export const onboardingApi = api.injectEndpoints({
  endpoints: (build) => ({
    completeOnboarding: build.mutation<
      AnswerOf<typeof completeOnboarding>,
      BodyInputOf<typeof completeOnboarding>
    >({
      query: (body) =>
        requestOf<typeof completeOnboarding>(authRoutes.completeOnboarding, { body, fallback: texts.failed }),
      onQueryStarted: storeUser,
    }),
  }),
})

export const { useCompleteOnboardingMutation } = onboardingApi
