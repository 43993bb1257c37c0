/** Opens beside a line where it comes from: by its number, or by a key on the line that has the focus. What that shows is loaded only then. */
import { lazy, type MouseEvent, type RefObject, Suspense, useState } from 'react'
import { useAction } from '../../../../actions/ActionsContext.tsx'
import { useReplayed } from '../../replayed.ts'
import type { DiffRow, LineRow } from '../diff/diffRows.ts'
import { type ActiveRow, rowIdOf } from './useActiveRow.ts'

const LineOrigin = lazy(async () => ({
  default: (await import('../../provenance/LineOrigin.tsx')).LineOrigin,
}))

interface LineOriginOf {
  readonly rows: readonly DiffRow[]
  readonly active: ActiveRow
  readonly box: RefObject<HTMLElement | null>
  /** Whether its key applies. */
  readonly shown: boolean
}

export function useLineOrigin({ rows, active, box, shown }: LineOriginOf) {
  const isReplayed = useReplayed() !== null
  const [asked, setAsked] = useState<{ readonly row: LineRow; readonly anchor: DOMRect } | null>(null)
  const open = (id: string | null) => {
    const row = rows.find((each) => each.id === id)
    const number = box.current?.querySelector(`[data-row="${id}"] [data-origin]`)
    if (isReplayed || row?.kind !== 'line' || !number) return
    setAsked({ row, anchor: number.getBoundingClientRect() })
  }
  const row = rows[active.index]
  const canTrace = !isReplayed && row?.kind === 'line' && row.right !== null
  useAction('originOfLine', () => open(active.id), shown && active.focused && canTrace)
  const line = asked?.row.right?.line.after ?? null
  return {
    onClick: (event: MouseEvent) => {
      if (event.shiftKey || !(event.target instanceof Element)) return
      if (event.target.closest('[data-origin]') !== null) open(rowIdOf(event.target))
    },
    popover: asked !== null && line !== null && (
      <Suspense fallback={null}>
        <LineOrigin
          // Opened at another line it is another one.
          key={asked.row.id}
          file={asked.row.file}
          line={line}
          anchor={asked.anchor}
          onClose={(goBack) => {
            setAsked(null)
            if (goBack) active.focus(asked.row)
          }}
        />
      </Suspense>
    ),
  }
}
