/** Dragging the rows of a list into another order. The list itself holds the pointer: a row that is moved in the page loses it. */
import { useState, type PointerEvent } from 'react'
import { moved } from './queueChanges.ts'

interface DragOrder {
  /** The order while something is dragged, else `null`. */
  readonly order: readonly string[] | null
  readonly dragged: string | null
  readonly begin: (id: string, event: PointerEvent<HTMLElement>) => void
  readonly onPointerMove: (event: PointerEvent<HTMLElement>) => void
  readonly onPointerUp: () => void
  readonly onPointerCancel: () => void
}

/** Rows that can be dragged carry their id as `data-id`. */
export function useDragOrder(ids: readonly string[], onDrop: (ids: readonly string[]) => void): DragOrder {
  const [held, setHeld] = useState<{ readonly id: string; readonly order: readonly string[] } | null>(null)
  return {
    order:
      held === null
        ? null
        : [...held.order.filter((id) => ids.includes(id)), ...ids.filter((id) => !held.order.includes(id))],
    dragged: held?.id ?? null,
    begin: (id, event) => {
      if (event.button !== 0) return
      event.currentTarget.closest('ul')?.setPointerCapture(event.pointerId)
      setHeld({ id, order: ids })
    },
    onPointerMove: ({ clientY, currentTarget }) => {
      if (held === null) return
      const rows = [...currentTarget.querySelectorAll<HTMLElement>('[data-id]')]
      const others = rows.filter(({ dataset }) => dataset['id'] !== held.id)
      const to = others.filter((row) => {
        const { top, height } = row.getBoundingClientRect()
        return top + height / 2 < clientY
      }).length
      const order = moved(held.order, held.id, to)
      if (order !== held.order) setHeld({ ...held, order })
    },
    onPointerUp: () => {
      if (held === null) return
      setHeld(null)
      if (held.order.some((id, place) => ids[place] !== id)) onDrop(held.order)
    },
    onPointerCancel: () => setHeld(null),
  }
}
