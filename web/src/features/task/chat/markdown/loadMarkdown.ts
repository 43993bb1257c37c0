/** Loads the chunk that renders Markdown. Pages that need it load it along with their data, so that their first text appears rendered. */
import type * as MarkdownChunk from './Markdown.tsx'

let chunk: typeof MarkdownChunk | undefined

export async function loadMarkdown(): Promise<typeof MarkdownChunk> {
  chunk = await import('./Markdown.tsx')
  return chunk
}

/** The chunk, if it is already loaded. React's `lazy` would briefly show the literal text even for a loaded chunk. */
export const loadedMarkdown = (): typeof MarkdownChunk | undefined => chunk
