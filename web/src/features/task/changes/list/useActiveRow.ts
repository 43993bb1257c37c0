/** The active row for the keyboard: Tab reaches it, and it gets the focus when requested. */
import { type FocusEvent, type RefObject, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { DiffRow } from '../diff/diffRows.ts'

export interface ActiveRow {
  readonly id: string | null
  /** -1 when it is not in the list. */
  readonly index: number
  /** Whether something in the list has the focus. */
  readonly focused: boolean
  readonly choose: (row: DiffRow | undefined) => void
  /** Activates a row and focuses it as soon as it is rendered. */
  readonly focus: (row: DiffRow | undefined) => void
  readonly handlers: { readonly onFocus: (event: FocusEvent) => void; readonly onBlur: () => void }
}

export function useActiveRow(rows: readonly DiffRow[], box: RefObject<HTMLElement | null>): ActiveRow {
  const [active, setActive] = useState<string | null>(null)
  const [focused, setFocused] = useState(false)
  const index = useMemo(() => rows.findIndex(({ id }) => id === active), [rows, active])
  // The row that should get the focus may not be rendered yet.
  const wanted = useRef(false)
  useLayoutEffect(() => {
    if (!wanted.current || active === null) return
    const row = box.current?.querySelector<HTMLElement>(`[data-row="${active}"]`)
    if (row === null || row === undefined) return
    wanted.current = false
    row.focus({ preventScroll: true })
  })
  return {
    id: active,
    index,
    focused,
    choose: (row) => setActive(row?.id ?? null),
    focus: (row) => {
      if (row === undefined) return
      setActive(row.id)
      wanted.current = true
    },
    handlers: {
      onFocus: ({ target }) => {
        const id = rowIdOf(target, 'itself')
        setFocused(true)
        if (id !== null) setActive(id)
      },
      onBlur: () => setFocused(false),
    },
  }
}

/** The id of the row that an element belongs to: lines have their id in `data-row`. */
/** The row around a target, or only the target itself if it is a row; `null` when there is none. */
export function rowIdOf(target: EventTarget, where: 'around' | 'itself' = 'around'): string | null {
  if (!(target instanceof HTMLElement || target instanceof SVGElement)) return null
  const row = where === 'itself' ? target : target.closest<HTMLElement>('[data-row]')
  return row?.dataset['row'] ?? null
}
