/** What goes by itself after a while, unless it is pointed at or has the focus. */
import { useEffect, useRef, useState } from 'react'

/** Calls `onOver` once `duration` milliseconds have passed, those not counted in which it was held. */
export function useCountdown(duration: number, onOver: () => void) {
  const [held, setHeld] = useState(false)
  const left = useRef(duration)
  const over = useRef(onOver)
  useEffect(() => {
    over.current = onOver
  })
  useEffect(() => {
    if (held) return
    const since = Date.now()
    const timer = setTimeout(() => over.current(), left.current)
    return () => {
      clearTimeout(timer)
      left.current -= Date.now() - since
    }
  }, [held])
  /** For the element that holds it. */
  return {
    onPointerEnter: () => setHeld(true),
    onPointerLeave: () => setHeld(false),
    onFocus: () => setHeld(true),
    onBlur: () => setHeld(false),
  }
}
