/** Positions a floating box beside its control, inside the window. */

interface Placing {
  /** Whether the box and the control are aligned at their starts, middles or ends. */
  readonly align: 'start' | 'middle' | 'end'
  /** The distance in pixels between the box and the control. */
  readonly gap: number
  /** The least distance in pixels between the box and the window's edge; the same as `gap` when left out. */
  readonly edge?: number
  /** The greatest height of the box in pixels. With `maxHeight` the box scrolls, and takes at most the space on its side of the control. */
  readonly maxHeight?: number
}

/** Places the box below the control if the box fits there; otherwise above or, with `maxHeight`, on the side with more room. */
export function placeBeside(
  box: HTMLElement,
  control: DOMRect,
  { align, gap, edge = gap, maxHeight }: Placing,
): void {
  if (maxHeight !== undefined) box.style.maxHeight = `${maxHeight}px`
  const { width, height } = box.getBoundingClientRect()
  const roomBelow = window.innerHeight - edge - control.bottom - gap
  const roomAbove = control.top - gap - edge
  const isBelow = height <= roomBelow || (maxHeight !== undefined && roomAbove <= roomBelow)
  const visibleHeight = maxHeight === undefined ? height : Math.min(height, isBelow ? roomBelow : roomAbove)
  if (maxHeight !== undefined)
    box.style.maxHeight = `${Math.min(maxHeight, isBelow ? roomBelow : roomAbove)}px`
  const lefts = {
    start: control.left,
    middle: control.left + control.width / 2 - width / 2,
    end: control.right - width,
  }
  box.style.left = `${Math.max(edge, Math.min(lefts[align], window.innerWidth - width - edge))}px`
  box.style.top = `${Math.max(edge, isBelow ? control.bottom + gap : control.top - gap - visibleHeight)}px`
}
