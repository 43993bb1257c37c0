/** Puts what floats beside the control it belongs to, inside the window. */

interface Placing {
  /** Which edges are in line, or their middles. */
  readonly align: 'start' | 'middle' | 'end'
  /** Pixels between the two, and between the box and the window's edge. */
  readonly gap: number
  readonly edge?: number
  /** Pixels. Given: the box scrolls inside, and is no higher than the room on its side. */
  readonly maxHeight?: number
}

/** Below the control; above it where there is more room there. */
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
  const shown = maxHeight === undefined ? height : Math.min(height, isBelow ? roomBelow : roomAbove)
  if (maxHeight !== undefined)
    box.style.maxHeight = `${Math.min(maxHeight, isBelow ? roomBelow : roomAbove)}px`
  const lefts = {
    start: control.left,
    middle: control.left + control.width / 2 - width / 2,
    end: control.right - width,
  }
  box.style.left = `${Math.max(edge, Math.min(lefts[align], window.innerWidth - width - edge))}px`
  box.style.top = `${Math.max(edge, isBelow ? control.bottom + gap : control.top - gap - shown)}px`
}
