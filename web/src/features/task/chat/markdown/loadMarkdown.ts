/** The chunk that shows Markdown. A page that will need it loads it beside its data, and shows its first text at once. */
import type * as MarkdownChunk from './Markdown.tsx'

let chunk: typeof MarkdownChunk | undefined

export async function loadMarkdown(): Promise<typeof MarkdownChunk> {
  chunk = await import('./Markdown.tsx')
  return chunk
}

/** The chunk, where it is there already: `lazy` would show the text as it is written first. */
export const loadedMarkdown = (): typeof MarkdownChunk | undefined => chunk
