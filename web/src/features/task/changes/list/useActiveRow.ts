/** The active row for the keyboard: Tab reaches it, and it gets the focus when requested. */
import { type FocusEvent, type RefObject, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { DiffRow } from '../diff/diffRows.ts'

export type ActiveRow = ReturnType<typeof useActiveRow>

export function useActiveRow(rows: readonly DiffRow[], box: RefObject<HTMLElement | null>) {
  const [active, setActive] = useState<string | null>(null)
  const [focused, setFocused] = useState(false)
  const index = useMemo(() => rows.findIndex(({ id }) => id === active), [rows, active])
  // Whether the active row should get the focus once it is rendered.
  const getsFocus = useRef(false)
  useLayoutEffect(() => {
    if (!getsFocus.current || active === null) return
    const row = box.current?.querySelector<HTMLElement>(`[data-row="${active}"]`)
    if (row === null || row === undefined) return
    getsFocus.current = false
    row.focus({ preventScroll: true })
  })
  return {
    id: active,
    /** The index of the active row; -1 when it is not in the list. */
    index,
    focused,
    choose: (row: DiffRow | undefined) => setActive(row?.id ?? null),
    /** Activates a row and focuses it as soon as it is rendered. */
    focus: (row: DiffRow | undefined) => {
      if (row === undefined) return
      setActive(row.id)
      getsFocus.current = true
    },
    handlers: {
      onFocus: ({ target }: FocusEvent) => {
        const id = rowIdOf(target, 'itself')
        setFocused(true)
        if (id !== null) setActive(id)
      },
      onBlur: () => setFocused(false),
    },
  }
}

/** The `data-row` id of the row that is or contains the target; with `itself`, only when the target is a row. `null` when there is none. */
export function rowIdOf(target: EventTarget, where: 'around' | 'itself' = 'around'): string | null {
  if (!(target instanceof HTMLElement || target instanceof SVGElement)) return null
  const row = where === 'itself' ? target : target.closest<HTMLElement>('[data-row]')
  return row?.dataset['row'] ?? null
}
