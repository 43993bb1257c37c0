/** Code of a known language, coloured. */
import { Fragment, useMemo } from 'react'
import { useHighlighter } from './useHighlighter.ts'

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
