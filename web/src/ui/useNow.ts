/** The time, again and again, for words that age. */
import { useEffect, useState } from 'react'

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
