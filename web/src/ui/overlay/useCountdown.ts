/** A countdown that stops while its element is hovered or focused. */
import { useEffect, useRef, useState } from 'react'
import { useStable } from '../hooks.ts'

/** Calls `onOver` after `duration` milliseconds, not counting the time while the countdown is stopped. */
export function useCountdown(duration: number, onOver: () => void) {
  const [isPaused, setPaused] = useState(false)
  const left = useRef(duration)
  const over = useStable(onOver)
  useEffect(() => {
    if (isPaused) return
    const since = Date.now()
    const timer = setTimeout(over, left.current)
    return () => {
      clearTimeout(timer)
      left.current -= Date.now() - since
    }
  }, [isPaused, over])
  /** Props for the element that is shown for a time. The pointer or the focus on it stops the countdown. */
  return {
    onPointerEnter: () => setPaused(true),
    onPointerLeave: () => setPaused(false),
    onFocus: () => setPaused(true),
    onBlur: () => setPaused(false),
  }
}
