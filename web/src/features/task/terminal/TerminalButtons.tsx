/** The buttons of the terminal: find, wrap lines, and copy all. */
import { Copy, Search, WrapText } from 'lucide-react'
import { shortcutOf } from '../../../actions/Keys.tsx'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { useCopy } from '../useCopy.ts'
import { withoutColours } from './log/outputLines.ts'
import type { TerminalLine } from './log/terminalWriter.ts'
import { texts } from './texts.ts'
import type { TerminalFind } from './useTerminalFind.ts'

interface TerminalButtonsProps {
  readonly lines: readonly TerminalLine[]
  readonly find: TerminalFind
  readonly onCloseFind: () => void
  readonly wrap: boolean
  readonly onWrap: () => void
}

export function TerminalButtons({ lines, find, onCloseFind, wrap, onWrap }: TerminalButtonsProps) {
  const copy = useCopy()
  return (
    <span className="flex flex-none items-center gap-0.5">
      <IconButton
        icon={Search}
        label={texts.find.label}
        size="small"
        aria-expanded={find.isOpen}
        onClick={find.isOpen ? onCloseFind : find.open}
        {...shortcutOf('terminalFind')}
      />
      <IconButton
        icon={WrapText}
        label={texts.wrap}
        size="small"
        aria-pressed={wrap}
        onClick={onWrap}
        className="aria-pressed:bg-raised aria-pressed:text-text"
      />
      <IconButton
        icon={Copy}
        label={texts.copy}
        size="small"
        onClick={() => copy(lines.map((line) => withoutColours(line.text)).join('\n'))}
      />
    </span>
  )
}
