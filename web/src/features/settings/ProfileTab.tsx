/** The person's name and email address, the theme, and the other settings of the person. */
import { type FormEvent, Suspense, useState } from 'react'
import { useDispatch } from 'react-redux'
import type { User } from '#domain/api/auth.schema.ts'
import { messageFor } from '../../api/fault.ts'
import { chooseTheme, themes, useChosenTheme } from '../../state/theme.ts'
import { Button, ButtonLink } from '../../ui/form/Button.tsx'
import { Field } from '../../ui/form/Field.tsx'
import { optionalPart } from '../../ui/optionalPart.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { Segmented } from '../../ui/form/Segmented.tsx'
import { notifiedOutcome } from '../notifications/notifications.ts'
import { NotificationsPart } from '../notifications/NotificationsPart.tsx'
import { useUpdateProfileMutation } from './settingsApi.ts'
import { adminTexts, texts } from './texts.ts'
import { useMeQuery } from '../auth/authApi.ts'

const ProfileParts = optionalPart(async () => (await import('./ProfileParts.tsx')).ProfileParts)

export function ProfileTab({ user }: { readonly user: User }) {
  return (
    <>
      <PersonalInformation user={user} />
      <Appearance />
      <NotificationsPart />
      <AdministrationPart />
      <Suspense fallback={null}>
        <ProfileParts user={user} />
      </Suspense>
    </>
  )
}

function PersonalInformation({ user }: { readonly user: User }) {
  const dispatch = useDispatch()
  const [update, { isLoading, error }] = useUpdateProfileMutation()
  const [fullName, setFullName] = useState(user.fullName || user.name)
  const [email, setEmail] = useState(user.email ?? '')
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault()
    const address = email.trim()
    const answer = await update({ fullName: fullName.trim(), email: address === '' ? null : address })
    dispatch(notifiedOutcome(answer.error, texts.updated, texts.notUpdated, texts.updateFailed))
  }

  return (
    <Panel label={texts.personal}>
      <form onSubmit={(event) => void onSubmit(event)} className="grid gap-4 p-5">
        <h2 className="font-semibold">{texts.personal}</h2>
        <Field
          label={texts.fullName}
          autoComplete="name"
          required
          maxCharacters={200}
          value={fullName}
          error={messageFor(error, 'fullName')}
          onChange={(event) => setFullName(event.target.value)}
        />
        <Field
          label={texts.email}
          type="email"
          autoComplete="email"
          value={email}
          error={messageFor(error, 'email')}
          onChange={(event) => setEmail(event.target.value)}
        />
        <div className="flex justify-end">
          <Button
            kind="primary"
            size="touch"
            type="submit"
            busy={isLoading}
            busyLabel={texts.updating}
            disabled={fullName.trim() === ''}
          >
            {texts.update}
          </Button>
        </div>
      </form>
    </Panel>
  )
}

function Appearance() {
  const theme = useChosenTheme()
  return (
    <section className="mt-8">
      <h2 className="mb-3 font-semibold">{texts.appearance}</h2>
      <Segmented
        label={texts.theme}
        options={themes.map((value) => ({ value, label: texts.themes[value] }))}
        chosen={theme}
        onChoose={chooseTheme}
        className="w-full md:w-auto"
      />
    </section>
  )
}

/** For administrators: links to the audit log and to the rights of the App. */
function AdministrationPart() {
  const { data } = useMeQuery()
  if (data?.isAdmin !== true) return null
  return (
    <section className="mt-8">
      <h2 className="mb-1 font-semibold">{adminTexts.heading}</h2>
      <p className="mb-3 text-muted">{adminTexts.why}</p>
      <div className="flex flex-wrap gap-2">
        <ButtonLink to="/admin/audit" size="touch">
          {adminTexts.open}
        </ButtonLink>
        <ButtonLink to="/admin/github" size="touch">
          {adminTexts.openRights}
        </ButtonLink>
      </div>
    </section>
  )
}
