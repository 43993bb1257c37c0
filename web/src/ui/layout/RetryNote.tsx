/** The reason why `read` failed, with a button that reads again. Renders nothing unless `read` failed. */
import { Button } from '../form/Button.tsx'
import { Note } from './Note.tsx'

interface RetryNoteProps {
  readonly read: { readonly error?: unknown; readonly isFetching?: boolean; refetch(): unknown }
  readonly children: string
  readonly className?: string
}

const texts = { tryAgain: 'Try Again' } as const

export function RetryNote({ read, ...note }: RetryNoteProps) {
  if (read.error === undefined) return null
  return (
    <Note
      {...note}
      kind="error"
      action={
        <Button size="small" busy={read.isFetching ?? false} onClick={() => void read.refetch()}>
          {texts.tryAgain}
        </Button>
      }
    />
  )
}
