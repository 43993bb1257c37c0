/** Positions a floating box beside its control, inside the window. */

interface Placing {
  /** Which edges are aligned, or the middles. */
  readonly align: 'start' | 'middle' | 'end'
  /** The distance in pixels between the two, and from the window's edge. */
  readonly gap: number
  readonly edge?: number
  /** In pixels. If given, the box scrolls, and is limited to the space on its side. */
  readonly maxHeight?: number
}

/** Below the control if the box fits there; else above it or, with `maxHeight`, on the side with more room. */
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
