/** A note that something failed, with a button to try again. */
import type { ReactNode } from 'react'
import { Button } from '../../ui/form/Button.tsx'
import { Note } from '../../ui/layout/Note.tsx'
import { texts } from './texts.ts'

interface FailureNoteProps {
  readonly children: ReactNode
  readonly onRetry: () => void
  readonly busy?: boolean
  readonly className?: string
}

export function FailureNote({ children, onRetry, busy = false, className = '' }: FailureNoteProps) {
  const retry = (
    <Button size="small" busy={busy} onClick={onRetry}>
      {texts.tryAgain}
    </Button>
  )
  return (
    <Note kind="error" className={className} action={retry}>
      {children}
    </Note>
  )
}
