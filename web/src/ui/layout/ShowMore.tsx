/** A button at the end of a list in a panel, which loads more of the list. */
import { Button } from '../form/Button.tsx'

interface ShowMoreProps {
  readonly label: string
  readonly busyLabel: string
  readonly busy: boolean
  readonly onShow: () => void
}

export function ShowMore({ label, busyLabel, busy, onShow }: ShowMoreProps) {
  return (
    <div className="border-t border-line-soft p-2">
      <Button kind="ghost" size="touch" className="w-full" busy={busy} busyLabel={busyLabel} onClick={onShow}>
        {label}
      </Button>
    </div>
  )
}
