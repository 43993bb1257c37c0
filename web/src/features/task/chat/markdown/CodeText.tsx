/** Code of a known language, coloured. */
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
    // Lines have no name but their number.
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

/** The highlighter once its chunk is there, `null` until then: code is shown plain first and coloured when it can be. */
type Highlight = typeof highlight

export function useHighlighter(): Highlight | null {
  const [loaded, setLoaded] = useState<{ readonly highlight: Highlight } | null>(null)
  useEffect(() => {
    let wanted = true
    const load = async () => {
      const chunk = await import('../../changes/diff/highlight.ts')
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
