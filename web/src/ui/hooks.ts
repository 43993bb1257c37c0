/** Hooks for the clock, for media queries, for events of the window, and for callbacks that must not change. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'

/** The current time in milliseconds, updated every `intervalMs` while `ticking`; a stopped clock keeps its last time. */
export function useNow(intervalMs: number, ticking = true): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!ticking) return
    const timer = setInterval(() => setNow(Date.now()), intervalMs)
    return () => clearInterval(timer)
  }, [intervalMs, ticking])
  return now
}

/** Whether a media query matches, kept up to date. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const media = matchMedia(query)
      media.addEventListener('change', changed)
      return () => media.removeEventListener('change', changed)
    },
    () => matchMedia(query).matches,
  )
}

/** A function with a stable identity that calls the latest `run`. It must not be called during rendering. */
export function useStable<Args extends readonly unknown[]>(
  run: (...args: Args) => void,
): (...args: Args) => void {
  const latest = useRef(run)
  useLayoutEffect(() => {
    latest.current = run
  })
  return useCallback((...args) => latest.current(...args), [])
}

/** Calls the latest `handle` for each event of the window. */
export function useWindowEvent<Type extends keyof WindowEventMap>(
  type: Type,
  handle: (event: WindowEventMap[Type]) => void,
): void {
  const stable = useStable(handle)
  useLayoutEffect(() => {
    window.addEventListener(type, stable)
    return () => window.removeEventListener(type, stable)
  }, [type, stable])
}
