/**
 * The name of an icon, shown beside it once the mouse is on it for 400 ms, or at once on keyboard focus. It repeats the accessible name, so it is
 * hidden from assistive technology. Any key closes it.
 */
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react'
import { createPortal } from 'react-dom'
import { placeBeside } from './placeBeside.ts'

const restMs = 400
/** The distance between the tooltip and its icon, and the least distance between the tooltip and the window's edge, in pixels. */
const gap = 6

export function Tooltip({ label, children }: { readonly label: ReactNode; readonly children: ReactNode }) {
  const [anchor, setAnchor] = useState<Element | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const wrap = useRef<HTMLSpanElement>(null)

  const open = () => setAnchor(wrap.current?.firstElementChild ?? null)
  const close = () => {
    clearTimeout(timer.current)
    setAnchor(null)
  }
  useEffect(() => () => clearTimeout(timer.current), [])

  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- it only watches the control inside it
    <span
      ref={wrap}
      className="contents"
      onPointerEnter={(event) => {
        if (event.pointerType !== 'mouse') return
        clearTimeout(timer.current)
        timer.current = setTimeout(open, restMs)
      }}
      onPointerLeave={close}
      onPointerDown={close}
      onFocus={(event) => {
        if (event.target.matches(':focus-visible')) open()
      }}
      onBlur={close}
      onKeyDown={close}
    >
      {children}
      {/* An open dialog would cover a bubble outside of it. */}
      {anchor !== null &&
        createPortal(<Bubble anchor={anchor}>{label}</Bubble>, anchor.closest('dialog') ?? document.body)}
    </span>
  )
}

function Bubble({ anchor, children }: { readonly anchor: Element; readonly children: ReactNode }) {
  const ref = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (ref.current !== null)
      placeBeside(ref.current, anchor.getBoundingClientRect(), { align: 'middle', gap })
  }, [anchor])
  return (
    <div
      ref={ref}
      aria-hidden="true"
      className="pointer-events-none fixed z-50 flex animate-appear items-center gap-1.5 rounded-control bg-panel px-2 py-1 text-meta shadow-float"
    >
      {children}
    </div>
  )
}
