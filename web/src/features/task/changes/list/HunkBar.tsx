/** The bar above a hunk or at the end of a file: the place of the hunk, and buttons to show hidden lines. */
import { ChevronDown, ChevronsUpDown, ChevronUp } from 'lucide-react'
import { memo, useState } from 'react'
import { IconButton } from '../../../../ui/form/IconButton.tsx'
import { useReplayed } from '../../replayContext.ts'
import type { DiffRow, Gap } from '../diff/diffRows.ts'
import { texts } from '../texts.ts'
import { linesAtOnce } from './useKnownLines.ts'

interface HunkBarProps {
  readonly row: Extract<DiffRow, { kind: 'bar' }>
  /** Requests the lines `from` to `to`, both included, by their numbers before the change. */
  readonly onShow: (fileName: string, from: number, to: number) => Promise<void>
}

export const HunkBar = memo(function HunkBar({ row, onShow }: HunkBarProps) {
  const [busy, setBusy] = useState(false)
  // A saved replay has no server to load lines from.
  const isSaved = useReplayed()?.isSaved === true
  const show = async (from: number, to: number) => {
    setBusy(true)
    await onShow(row.file.name, from, to)
    setBusy(false)
  }
  return (
    <div className="h-7 bg-raised font-mono text-meta/7 tracking-normal whitespace-pre text-muted">
      <span className="sticky left-0 flex h-7 w-fit items-center">
        <span className="inline-flex w-20 items-center justify-end gap-1 pr-1">
          {row.gap !== null &&
            !isSaved &&
            waysInto(row.gap).map(({ icon, label, from, to }) => (
              <IconButton
                key={label}
                icon={icon}
                label={label}
                size="row"
                disabled={busy}
                onClick={() => void show(from, to)}
              />
            ))}
        </span>
        <span className="pl-5">{row.header}</span>
      </span>
    </div>
  )
})

/**
 * The ways to expand a gap. A small gap above a hunk is expanded as a whole, a larger one from each end that has a hunk; the gap at the end of a file
 * only downwards.
 */
function waysInto({ from, to, place }: Gap) {
  const size = to === null ? null : to - from + 1
  const down = (last: number) => ({
    icon: ChevronDown,
    label: size === null ? texts.showFurther : texts.showBelow(last - from + 1),
    from,
    to: last,
  })
  const last = to === null ? from + linesAtOnce - 1 : Math.min(to, from + linesAtOnce - 1)
  if (place === 'end') return [down(last)]
  if (size === null || to === null) return []
  if (size <= linesAtOnce) return [{ icon: ChevronsUpDown, label: texts.showHidden(size), from, to }]
  const first = to - linesAtOnce + 1
  const up = { icon: ChevronUp, label: texts.showAbove(linesAtOnce), from: first, to }
  return place === 'top' ? [up] : [down(last), up]
}
