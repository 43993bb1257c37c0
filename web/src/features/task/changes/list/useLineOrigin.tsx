/** Shows the origin of a line when its number is clicked or a key is pressed on the focused line. The popover's chunk is loaded only then. */
import { lazy, type MouseEvent, type RefObject, Suspense, useState } from 'react'
import { useAction } from '../../../../actions/ActionsContext.tsx'
import type { DiffRow, LineRow } from '../diff/diffRows.ts'
import { type ActiveRow, rowIdOf } from './useActiveRow.ts'

const LineOrigin = lazy(async () => ({
  default: (await import('../../provenance/LineOrigin.tsx')).LineOrigin,
}))

/** Returns the list's click handler and the popover. The key works only while the list is `visible`. */
export function useLineOrigin(
  rows: readonly DiffRow[],
  active: ActiveRow,
  box: RefObject<HTMLElement | null>,
  visible: boolean,
) {
  const [opened, setOpened] = useState<{ readonly row: LineRow; readonly anchor: DOMRect } | null>(null)
  const open = (id: string | null) => {
    const row = rows.find((each) => each.id === id)
    const number = box.current?.querySelector(`[data-row="${id}"] [data-origin]`)
    // In a replay, line numbers have no `data-origin`, so nothing opens.
    if (row?.kind === 'line' && number) setOpened({ row, anchor: number.getBoundingClientRect() })
  }
  useAction('originOfLine', () => open(active.id), visible && active.focused)
  const line = opened?.row.right?.line.after ?? null
  return {
    onClick: (event: MouseEvent) => {
      if (event.shiftKey || !(event.target instanceof Element)) return
      if (event.target.closest('[data-origin]') !== null) open(rowIdOf(event.target))
    },
    popover: opened !== null && line !== null && (
      <Suspense fallback={null}>
        <LineOrigin
          // A key per line, so that each line opens a new instance.
          key={opened.row.id}
          file={opened.row.file}
          line={line}
          anchor={opened.anchor}
          onClose={(goBack) => {
            setOpened(null)
            if (goBack) active.focus(opened.row)
          }}
        />
      </Suspense>
    ),
  }
}
