/** Code with syntax highlighting. */
import { Fragment, useEffect, useMemo, useState } from 'react'
import type { highlight } from '../../changes/diff/highlight.ts'

export function CodeText({ code, language }: { readonly code: string; readonly language: string }) {
  const highlight = useHighlighter()
  const lines = useMemo(() => highlight?.(code, language) ?? null, [highlight, code, language])
  if (lines === null) return code
  return lines.map((spans, line) => (
    // A line has no key but its number.
    <Fragment key={line}>
      {line > 0 && '\n'}
      {spans.map(({ text, className }, index) => (
        <span key={index} className={className}>
          {text}
        </span>
      ))}
    </Fragment>
  ))
}

type Highlight = typeof highlight

/** The highlighter; `null` until its chunk is loaded. Code is shown plain first. */
export function useHighlighter(): Highlight | null {
  const [loaded, setLoaded] = useState<{ readonly highlight: Highlight } | null>(null)
  useEffect(() => {
    let isMounted = true
    const load = async () => {
      const chunk = await import('../../changes/diff/highlight.ts')
      if (isMounted) setLoaded(chunk)
    }
    // If the chunk fails to load, the code stays plain.
    load().catch(() => undefined)
    return () => {
      isMounted = false
    }
  }, [])
  return loaded?.highlight ?? null
}
