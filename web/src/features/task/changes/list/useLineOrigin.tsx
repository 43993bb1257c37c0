/** Shows the origin of a line: on a click on its number, or by a key on the focused line. The popover's chunk is loaded only then. */
import { lazy, type MouseEvent, type RefObject, Suspense, useState } from 'react'
import { useAction } from '../../../../actions/ActionsContext.tsx'
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
  const [asked, setAsked] = useState<{ readonly row: LineRow; readonly anchor: DOMRect } | null>(null)
  const open = (id: string | null) => {
    const row = rows.find((each) => each.id === id)
    const number = box.current?.querySelector(`[data-row="${id}"] [data-origin]`)
    // In a replay, line numbers have no `data-origin`, so nothing opens.
    if (row?.kind === 'line' && number) setAsked({ row, anchor: number.getBoundingClientRect() })
  }
  useAction('originOfLine', () => open(active.id), shown && active.focused)
  const line = asked?.row.right?.line.after ?? null
  return {
    onClick: (event: MouseEvent) => {
      if (event.shiftKey || !(event.target instanceof Element)) return
      if (event.target.closest('[data-origin]') !== null) open(rowIdOf(event.target))
    },
    popover: asked !== null && line !== null && (
      <Suspense fallback={null}>
        <LineOrigin
          // A key per line, so that each opens a new instance.
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
