/** The colours of the lines of hunks: a hunk is read when its first line comes in sight, and then kept. */
import { useRef } from 'react'
import type { CodeLines, CodeSpan } from './highlight.ts'
import { languageOf } from './languageOf.ts'
import type { Hunk } from './parseDiff.ts'
import { useHighlighter } from './useHighlighter.ts'

/** Both sides of a hunk, each as the code it is; by line of the hunk. */
type HunkColours = readonly (readonly CodeSpan[] | undefined)[] | null

export function useHunkColours() {
  const highlight = useHighlighter()
  const known = useRef(new WeakMap<Hunk, HunkColours>())
  return (fileName: string, hunk: Hunk, index: number): readonly CodeSpan[] | null => {
    if (highlight === null) return null
    const language = languageOf(fileName)
    if (language === null) return null
    let colours = known.current.get(hunk)
    if (colours === undefined) {
      colours = coloursOf(hunk, (code) => highlight(code, language))
      known.current.set(hunk, colours)
    }
    return colours?.[index] ?? null
  }
}

function coloursOf(hunk: Hunk, highlight: (code: string) => CodeLines | null): HunkColours {
  const side = (kind: 'added' | 'deleted') => {
    const lines = hunk.lines.flatMap((line, index) =>
      line.kind === kind || line.kind === 'context' ? [{ line, index }] : [],
    )
    const colours = highlight(lines.map(({ line }) => line.text).join('\n'))
    return colours === null
      ? null
      : new Map(lines.map(({ index }, position) => [index, colours[position] ?? []]))
  }
  const before = side('deleted')
  const after = side('added')
  if (before === null || after === null) return null
  return hunk.lines.map((_line, index) => after.get(index) ?? before.get(index))
}
