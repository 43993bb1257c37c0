/** The time, again and again, for words that age. */
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react'

/** Now, in milliseconds, renewed each `everyMs` while `ticking`; a stopped clock keeps the last time it showed. */
export function useNow(everyMs: number, ticking = true): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!ticking) return
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs, ticking])
  return now
}

/** Whether a media query holds, as the window changes. */
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

/** The same function at each drawing, for what is drawn again only when its props change. */
/** Does what the latest `run` does; not to be called while something is drawn. */
export function useStable<Args extends readonly unknown[]>(
  run: (...args: Args) => void,
): (...args: Args) => void {
  const latest = useRef(run)
  useEffect(() => {
    latest.current = run
  })
  return useCallback((...args) => latest.current(...args), [])
}
