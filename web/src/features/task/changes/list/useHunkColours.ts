/**
 * The colours of the lines of hunks. A hunk may be a whole new file, so it is highlighted in blocks: each block when it first becomes visible, and
 * then cached. A block starts some lines early, so that a comment or string that began above is recognized.
 */
import { useRef } from 'react'
import type { CodeSpan } from '../diff/highlight.ts'
import type { DiffLine, Hunk } from '../diff/parseDiff.ts'
import { useHighlighter } from '../../chat/markdown/CodeText.tsx'

type Highlight = NonNullable<ReturnType<typeof useHighlighter>>
/** The spans of the lines of a block, by their index in the hunk. */
type BlockColours = ReadonlyMap<number, readonly CodeSpan[]>

/** The number of lines highlighted at once: a few milliseconds of work. */
const blockLines = 60
const linesEarly = 40

export function useHunkColours() {
  const highlight = useHighlighter()
  const known = useRef(new WeakMap<Hunk, Map<number, BlockColours>>())
  return (fileName: string, hunk: Hunk, index: number): readonly CodeSpan[] | null => {
    const language = languageOf(fileName)
    if (highlight === null || language === null) return null
    const blocks = known.current.get(hunk) ?? new Map<number, BlockColours>()
    known.current.set(hunk, blocks)
    const block = Math.floor(index / blockLines)
    const colours = blocks.get(block) ?? coloursOf(hunk.lines, block, language, highlight)
    blocks.set(block, colours)
    return colours.get(index) ?? null
  }
}

function coloursOf(
  lines: readonly DiffLine[],
  block: number,
  language: string,
  highlight: Highlight,
): BlockColours {
  const from = block * blockLines
  const read = lines
    .slice(Math.max(0, from - linesEarly), from + blockLines)
    .map((line, offset) => ({ line, index: Math.max(0, from - linesEarly) + offset }))
  /** The colours of one version of the code: without `added` lines it is the old version, without `deleted` lines the new one. */
  const side = (without: DiffLine['kind']): BlockColours => {
    const seen = read.filter(({ line }) => line.kind !== without)
    const spans = highlight(seen.map(({ line }) => line.text).join('\n'), language) ?? []
    return new Map(seen.flatMap(({ index }, position) => (spans[position] ? [[index, spans[position]]] : [])))
  }
  return new Map([...side('added'), ...side('deleted')])
}

/** The file extensions that the highlighter knows as names of languages. */
const extensions = new Set(
  'ts tsx mts cts js jsx mjs cjs json py go rs java sh bash css html xml svg yml yaml md'.split(' '),
)
/** For each of these file extensions, the language with which its files are coloured. */
const alike = new Map([
  ['kt', 'java'],
  ['vue', 'xml'],
])

/** The language of a file, from the extension of its name; `null` when the highlighter has none for it. */
function languageOf(fileName: string): string | null {
  const extension = /\.([^./]+)$/.exec(fileName)?.[1]?.toLowerCase() ?? ''
  return extensions.has(extension) ? extension : (alike.get(extension) ?? null)
}
