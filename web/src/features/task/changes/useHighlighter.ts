/** The highlighter once its chunk is there, `null` until then: code is shown plain first and coloured when it can be. */
import { useEffect, useState } from 'react'
import type { highlight } from './highlight.ts'

type Highlight = typeof highlight

export function useHighlighter(): Highlight | null {
  const [loaded, setLoaded] = useState<{ readonly highlight: Highlight } | null>(null)
  useEffect(() => {
    let wanted = true
    const load = async () => {
      const chunk = await import('./highlight.ts')
      if (wanted) setLoaded(chunk)
    }
    // Without it the code stays plain.
    load().catch(() => undefined)
    return () => {
      wanted = false
    }
  }, [])
  return loaded?.highlight ?? null
}
