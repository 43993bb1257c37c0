/** A text selection over rows of which only some are rendered. The rows at the ends of the selection stay rendered, or the browser would lose it. */
import { useEffect, useState, type RefObject } from 'react'

/** The ids of the lines in which a selection in `content` begins and ends; none while nothing in `content` is selected. */
export function useRowSelection(
  content: RefObject<HTMLElement | null>,
  idOf: (row: number) => number | undefined,
): readonly number[] {
  const [ids, setIds] = useState<readonly number[]>([])
  useEffect(() => {
    const changed = () => {
      const selection = content.current?.ownerDocument.getSelection()
      const ends = selection?.isCollapsed === false ? [selection.anchorNode, selection.focusNode] : []
      const next = ends.flatMap((node) => {
        const row = rowAround(node, content.current)
        const id = row === null ? undefined : idOf(row)
        return id === undefined ? [] : [id]
      })
      setIds((before) => (before.join() === next.join() ? before : next))
    }
    document.addEventListener('selectionchange', changed)
    return () => document.removeEventListener('selectionchange', changed)
  }, [content, idOf])
  return ids
}

/** The selected text, line by line; `null` when the selection is not within the rows. */
export function selectedText(
  selection: Selection | null,
  content: HTMLElement | null,
  textOf: (row: number) => string | undefined,
): string | null {
  if (selection === null || content === null || selection.isCollapsed || selection.rangeCount === 0)
    return null
  const range = selection.getRangeAt(0)
  const from = rowAround(range.startContainer, content)
  const to = rowAround(range.endContainer, content)
  if (from === null || to === null) return null
  const texts: string[] = []
  for (let row = from; row <= to; row += 1) {
    const text = textOf(row) ?? ''
    const start = row === from ? seenBefore(range.startContainer, range.startOffset) : 0
    const end = row === to ? seenBefore(range.endContainer, range.endOffset) : text.length
    texts.push(text.slice(start, end))
  }
  return texts.join('\n')
}

function rowAround(node: Node | null, content: HTMLElement | null): number | null {
  const element = node instanceof Element ? node : (node?.parentElement ?? null)
  const row = element?.closest('[data-index]')
  if (!(row instanceof HTMLElement) || content?.contains(row) !== true) return null
  return Number(row.dataset['index'])
}

/** The number of characters in a row's text before the given point in the row. */
function seenBefore(node: Node, offset: number): number {
  const element = node instanceof Element ? node : node.parentElement
  const text = element?.closest('[data-index]')?.querySelector('[data-line]')
  if (text === null || text === undefined) return 0
  const before = document.createRange()
  before.selectNodeContents(text)
  // In the row, the time precedes the text, and the outcome of a command follows it.
  if (before.comparePoint(node, offset) < 0) return 0
  if (before.comparePoint(node, offset) === 0) before.setEnd(node, offset)
  return before.toString().length
}
