/** Code with syntax highlighting. */
import { Fragment, useEffect, useMemo, useState } from 'react'
import type { highlight } from '../../changes/diff/highlight.ts'

interface CodeTextProps {
  readonly code: string
  readonly language: string
}

export function CodeText({ code, language }: CodeTextProps) {
  const highlight = useHighlighter()
  const lines = useMemo(() => highlight?.(code, language) ?? null, [highlight, code, language])
  if (lines === null) return code
  return lines.map((spans, line) => (
    // Lines are only identified by number.
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

/** The highlighter; `null` until its chunk is loaded. Code is shown plain first. */
type Highlight = typeof highlight

export function useHighlighter(): Highlight | null {
  const [loaded, setLoaded] = useState<{ readonly highlight: Highlight } | null>(null)
  useEffect(() => {
    let wanted = true
    const load = async () => {
      const chunk = await import('../../changes/diff/highlight.ts')
      if (wanted) setLoaded(chunk)
    }
    // If it fails to load, the code stays plain.
    load().catch(() => undefined)
    return () => {
      wanted = false
    }
  }, [])
  return loaded?.highlight ?? null
}
