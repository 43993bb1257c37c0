/** The part of a page for one provider's key, whether the key is missing, being entered and checked, stored, or about to be removed. */
import { useState, type FormEvent, type ReactNode } from 'react'
import { useDispatch } from 'react-redux'
import type { KeyKind } from '#domain/agentKeys.ts'
import { messageFor, reasonOf } from '../../api/fault.ts'
import { Button } from '../../ui/form/Button.tsx'
import { Field } from '../../ui/form/Field.tsx'
import { focusFirstField, useFocusBack } from '../../ui/form/useFocusBack.ts'
import { useNow } from '../../ui/hooks.ts'
import { ConfirmDialog } from '../../ui/overlay/ConfirmDialog.tsx'
import { age } from '../../ui/text/times.ts'
import { notified, notifiedFailure } from '../notifications/notifications.ts'
import { keyTexts as texts } from './keyTexts.ts'

export interface StoredKey {
  readonly kind: KeyKind
  readonly ending: string
  readonly setAt: string
  readonly checked: boolean
}

/** The outcome of a write: the key as it is stored now, or the fault. */
type Outcome = { readonly stored: StoredKey | undefined } | { readonly error: unknown }

export interface KeySlotProps {
  /** The name of the provider. */
  readonly name: string
  readonly stored: StoredKey | undefined
  /** The text shown while no key is stored. */
  readonly none: string
  /** The text shown beside the stored key. */
  readonly note?: string | undefined
  readonly removeWhy: string
  readonly valueLabel: string
  readonly valueHelp?: string | undefined
  /** Fields above the field for the key. */
  readonly children?: ReactNode
  /** Stores the key, or removes it when the value is `null`. */
  readonly onSet: (value: string | null) => Promise<Outcome>
}

export function KeySlot(slot: KeySlotProps) {
  const { name, stored, none } = slot
  const [isEntering, setEntering] = useState(false)
  useFocusBack(isEntering ? name : null)
  return (
    <div role="group" aria-label={name} className="grid grid-cols-1 gap-3 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <div className="min-w-0 flex-1 basis-56">
          <p className="font-medium">{name}</p>
          {stored === undefined ? (
            <p className="text-ui text-muted">{none}</p>
          ) : (
            <Stored {...slot} stored={stored} />
          )}
        </div>
        {!isEntering && (
          <Button
            data-opens={name}
            size="touch"
            aria-label={stored === undefined ? texts.addTo(name) : texts.replaceOf(name)}
            onClick={() => setEntering(true)}
          >
            {stored === undefined ? texts.add : texts.replace}
          </Button>
        )}
        {stored !== undefined && !isEntering && <Removal {...slot} />}
      </div>
      {isEntering && <Entry {...slot} onClose={() => setEntering(false)} />}
    </div>
  )
}

const halfMinuteMs = 30_000

function Stored({ stored, note }: KeySlotProps & { readonly stored: StoredKey }) {
  const now = useNow(halfMinuteMs)
  return (
    <>
      <p className="text-ui">
        {texts.stored(stored.kind, stored.ending)}
        <span className="text-muted"> · {texts.set(age(stored.setAt, now))}</span>
      </p>
      {note !== undefined && <p className="text-ui wrap-anywhere text-muted">{note}</p>}
      <p className="text-ui text-muted">{stored.checked ? texts.checked : texts.notChecked}</p>
    </>
  )
}

function Removal({ name, removeWhy, onSet }: KeySlotProps) {
  const dispatch = useDispatch()
  const [isConfirming, setConfirming] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const onConfirm = async () => {
    setBusy(true)
    const outcome = await onSet(null)
    setBusy(false)
    setConfirming(false)
    dispatch(
      'error' in outcome
        ? notifiedFailure(texts.notRemoved, outcome.error)
        : notified('success', texts.removed),
    )
  }
  return (
    <>
      <Button size="touch" aria-label={texts.removeOf(name)} onClick={() => setConfirming(true)}>
        {texts.remove}
      </Button>
      <ConfirmDialog
        open={isConfirming}
        onClose={() => setConfirming(false)}
        title={texts.removeTitle(name)}
        leave={texts.cancel}
        confirm={texts.remove}
        isDangerous
        busy={isBusy}
        busyLabel={texts.removing}
        onConfirm={() => void onConfirm()}
      >
        {removeWhy}
      </ConfirmDialog>
    </>
  )
}

function Entry({
  valueLabel,
  valueHelp,
  children,
  onSet,
  onClose,
}: KeySlotProps & { readonly onClose: () => void }) {
  const dispatch = useDispatch()
  const [value, setValue] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    const outcome = await onSet(value.trim())
    setBusy(false)
    if ('error' in outcome) return setError(outcome.error)
    const isChecked = outcome.stored?.checked === true
    dispatch(notified('success', isChecked ? texts.saved : texts.savedUnchecked))
    onClose()
  }
  const refused = error === undefined ? undefined : reasonOf(error, texts.notSaved)
  const isOfField = messageFor(error, 'baseUrl') !== undefined || messageFor(error, 'kind') !== undefined
  return (
    <form ref={focusFirstField} onSubmit={(event) => void onSubmit(event)} className="grid grid-cols-1 gap-3">
      {children}
      {isOfField && (
        <p role="alert" className="text-ui text-bad">
          {refused}
        </p>
      )}
      <Field
        label={valueLabel}
        help={valueHelp}
        type="password"
        autoComplete="off"
        spellCheck={false}
        maxCharacters={1_000}
        value={value}
        error={isOfField ? undefined : refused}
        onChange={(event) => setValue(event.target.value)}
      />
      <div className="flex justify-end gap-2">
        <Button size="touch" onClick={onClose}>
          {texts.cancel}
        </Button>
        <Button
          kind="primary"
          size="touch"
          type="submit"
          busy={isBusy}
          busyLabel={texts.checking}
          disabled={value.trim() === ''}
        >
          {texts.save}
        </Button>
      </div>
    </form>
  )
}
