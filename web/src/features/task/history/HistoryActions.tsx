/** The actions on a history: replaying it, and saving its audit record or its replay. */
import { FileDown, Play, ShieldCheck, type LucideIcon } from 'lucide-react'
import { Button } from '../../../ui/form/Button.tsx'
import { useMedia } from '../../../ui/hooks.ts'
import { Menu, type MenuItem } from '../../../ui/overlay/Menu.tsx'
import { ellipsisButton } from '../ellipsisButton.tsx'
import { useSaveReplay } from '../savedReplay/useSaveReplay.ts'
import type { HistorySession } from './historySession.ts'
import { texts } from './texts.ts'

interface HistoryActionsProps {
  readonly session: HistorySession
  /** Opens the dialog of the audit record; `null` in a saved replay, which has no server. */
  readonly onAudit: (() => void) | null
}

/** The actions as buttons with labels, or as a menu where there is no room for buttons. */
export function HistoryActions({ session, onAudit }: HistoryActionsProps) {
  const isWide = useMedia('(width >= 1100px)')
  const { save, isSaving } = useSaveReplay(session)
  const actions: readonly (MenuItem & { readonly icon: LucideIcon; readonly hint: string })[] = [
    { label: texts.replay, hint: texts.hints.replay, icon: Play, onChoose: () => session.play() },
    ...(onAudit === null
      ? []
      : [
          { label: texts.auditRecord, hint: texts.hints.audit, icon: ShieldCheck, onChoose: onAudit },
          { label: texts.save, hint: texts.hints.save, icon: FileDown, onChoose: save, disabled: isSaving },
        ]),
  ]
  if (!isWide) return <Menu items={actions} button={ellipsisButton({ label: texts.more, size: 'small' })} />
  return actions.map(({ label, hint, icon: Icon, onChoose, disabled = false }) => (
    <Button
      key={label}
      kind="ghost"
      size="small"
      icon={<Icon className="size-3.5" />}
      busy={disabled}
      title={hint}
      onClick={onChoose}
    >
      {label}
    </Button>
  ))
}
