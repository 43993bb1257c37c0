/** Deletes the person's account. This cannot be undone, so the person first types their GitHub name or, without one, their email address or name. */
import { useState, type FormEvent } from 'react'
import { useDispatch } from 'react-redux'
import type { User } from '#domain/api/auth.schema.ts'
import { reasonOf } from '../../api/fault.ts'
import { sessionEnded } from '../../api/session.ts'
import { dropToken } from '../../api/tokenStore.ts'
import { Button } from '../../ui/form/Button.tsx'
import { ConfirmDialog } from '../../ui/overlay/ConfirmDialog.tsx'
import { Field } from '../../ui/form/Field.tsx'
import { Panel } from '../../ui/layout/Panel.tsx'
import { accountTexts as texts } from './texts.ts'
import { useDeleteAccountMutation } from './settingsApi.ts'

export function DeleteAccountPart({ user }: { readonly user: User }) {
  const [isConfirming, setConfirming] = useState(false)
  return (
    <section className="mt-8">
      <h2 className="mb-3 font-semibold">{texts.heading}</h2>
      <Panel label={texts.heading}>
        <div className="flex flex-col items-start gap-4 p-5 md:flex-row md:items-center md:justify-between">
          <p className="text-body text-muted">{texts.why}</p>
          <Button kind="danger" size="touch" className="shrink-0" onClick={() => setConfirming(true)}>
            {texts.open}
          </Button>
        </div>
      </Panel>
      <Question user={user} open={isConfirming} onClose={() => setConfirming(false)} />
    </section>
  )
}

interface QuestionProps {
  readonly user: User
  readonly open: boolean
  readonly onClose: () => void
}

const form = 'delete-account'

function Question({ user, open, onClose }: QuestionProps) {
  const dispatch = useDispatch()
  const [deleteAccount, { isLoading, error, reset }] = useDeleteAccountMutation()
  const [typed, setTyped] = useState('')
  const word = user.githubUsername ?? user.email ?? user.name
  const close = () => {
    setTyped('')
    reset()
    onClose()
  }
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault()
    const answer = await deleteAccount()
    if (answer.error !== undefined) return
    dropToken()
    dispatch(sessionEnded('logout'))
  }
  return (
    <ConfirmDialog
      open={open}
      onClose={close}
      title={texts.title}
      leave={texts.keep}
      confirm={texts.delete}
      isDangerous
      onConfirm={{ form }}
      busy={isLoading}
      busyLabel={texts.deleting}
      error={error && reasonOf(error, texts.notDeleted)}
      disabled={typed.trim() !== word}
    >
      <p>{texts.lead}</p>
      <ul className="my-2 list-disc space-y-1 pl-5">
        {texts.goes.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <p className="mb-4">{texts.stays}</p>
      <form id={form} onSubmit={(event) => void onSubmit(event)}>
        <Field
          label={texts.confirm(word)}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </form>
    </ConfirmDialog>
  )
}
