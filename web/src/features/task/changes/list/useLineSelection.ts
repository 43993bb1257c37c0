/**
 * Selects lines for a comment. With the pointer, a person drags a line's button to the last line, or clicks the last line with Shift; with the
 * keyboard, they press Shift with the arrow keys.
 */
import { type PointerEvent, useRef, useState } from 'react'
import { useReplayed } from '../../replayContext.ts'
import type { DiffRow } from '../diff/diffRows.ts'
import { type ActiveRow, rowIdOf } from './useActiveRow.ts'
import { type CommentTarget, rowsBetween, targetOf, useRange } from './useRange.ts'

export function useLineSelection(
  rows: readonly DiffRow[],
  active: ActiveRow,
  onComment: (target: CommentTarget) => void,
) {
  const { range, setRange, inRange, ids } = useRange(rows)
  const [pointed, setPointed] = useState<string | null>(null)
  const dragging = useRef(false)
  const isReplayed = useReplayed() !== null
  /**
   * Comments on the selected lines if the row `id` is one of them; otherwise on that row or, with `extend`, on all lines from the active row to it.
   */
  const commentOn = (id: string, extend: boolean) => {
    if (isReplayed) return
    const taken =
      range !== null && ids.has(id)
        ? inRange
        : rowsBetween(rows, { anchor: extend ? (active.id ?? id) : id, head: id })
    const target = targetOf(taken)
    if (target !== null) onComment(target)
    setRange(null)
  }
  const extendTo = (head: string) => {
    if (active.id !== null) setRange({ anchor: range?.anchor ?? active.id, head })
  }
  const clear = () => setRange(null)

  const onPointerDown = (event: PointerEvent) => {
    const id = rowIdOf(event.target)
    if (id === null) return
    if (isAdd(event.target)) {
      // If this line is one of several selected lines, its button is for all of them, so the selection stays.
      if (ids.size > 1 && ids.has(id)) return
      dragging.current = !event.shiftKey
      if (!event.shiftKey) setRange({ anchor: id, head: id })
    } else if (event.shiftKey && active.id !== null) {
      event.preventDefault()
      extendTo(id)
    } else clear()
  }
  const onPointerMove = (event: PointerEvent) => {
    if (event.pointerType === 'touch') return
    const id = rowIdOf(event.target)
    setPointed(id)
    if (!dragging.current) return
    if (event.buttons === 0) dragging.current = false
    else if (id !== null) setRange((before) => (before === null ? null : { ...before, head: id }))
  }
  const onPointerUp = () => {
    if (!dragging.current) return
    dragging.current = false
    // A press that is released on the same line is a click on the button.
    if (range !== null && range.head !== range.anchor) commentOn(range.head, false)
  }
  return {
    ids,
    hasSelection: range !== null,
    /** The id of the row under the pointer. */
    pointed,
    commentOn,
    extendTo,
    clear,
    handlers: { onPointerDown, onPointerMove, onPointerUp, onPointerLeave: () => setPointed(null) },
  }
}

export type LineSelection = ReturnType<typeof useLineSelection>

function isAdd(target: EventTarget): boolean {
  return target instanceof Element && target.closest('[data-add]') !== null
}
