/** The same function at each drawing, for what is drawn again only when its props change. */
import { useCallback, useEffect, useRef } from 'react'

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
