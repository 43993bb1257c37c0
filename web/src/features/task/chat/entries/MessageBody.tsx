/**
 * The text of a message. A text of more than 300 characters is cut until somebody expands it, unless it was read while it was written or matches a
 * search. Agents write Markdown; a person's text is shown literally, unless it contains a code block or a numbered listing.
 */
import { lazy, Suspense, use, useState, type ReactNode } from 'react'
import { withListings } from '../markdown/blocks.ts'
import { loadedMarkdown, loadMarkdown } from '../markdown/loadMarkdown.ts'
import type { MarkdownProps } from '../markdown/Markdown.tsx'
import { SearchContext } from '../searchMarks.ts'
import { texts } from '../texts.ts'

/**
 * The component that shows Markdown, from a chunk of its own. If the chunk cannot be loaded, for example when the server is down, the text is shown
 * literally.
 */
const Markdown = lazy(() =>
  loadMarkdown().then(
    (chunk) => ({ default: chunk.Markdown }),
    () => ({ default: PlainText }),
  ),
)

/** The number of characters of a collapsed message (contract, section 9). */
const collapsedLength = 300

interface MessageBodyProps {
  readonly text: string
  readonly markdown: boolean
  /** Whether the text is expanded until somebody collapses it, because it was read while it was written. */
  readonly expanded?: boolean
}

export function MessageBody({ text, markdown, expanded = false }: MessageBodyProps) {
  return (
    <Truncated text={text} expanded={expanded} cut={beginning}>
      {(visible) => (
        <div data-searched="" className={markdown ? undefined : '[&_p]:whitespace-pre-line'}>
          {markdown || hasCode(visible) ? <MarkdownText text={visible} /> : <PlainText text={visible} />}
        </div>
      )}
    </Truncated>
  )
}

export function CommandBody({ text }: { readonly text: string }) {
  return (
    <Truncated text={text} expanded={false} cut={beginningOfCommand}>
      {(visible) => (
        <code data-searched="" className="block font-mono text-code wrap-anywhere whitespace-pre-wrap">
          $ {visible}
        </code>
      )}
    </Truncated>
  )
}

interface TruncatedProps {
  readonly text: string
  readonly expanded: boolean
  readonly cut: (text: string, length: number) => string
  readonly children: (visible: string) => ReactNode
}

function Truncated({ text, expanded, cut, children }: TruncatedProps) {
  const [chosen, setOpen] = useState<boolean | null>(null)
  const words = use(SearchContext)
  // In code points, as the cut counts them; a text of twice as many code units is long in any case.
  const start = text.slice(0, 2 * collapsedLength + 1)
  const long = [...start].length > collapsedLength
  // A search match must be visible, wherever in the message it is.
  const isMatch = words !== '' && text.toLowerCase().includes(words.toLowerCase())
  const open = chosen ?? (expanded || isMatch)
  return (
    <>
      {children(long && !open ? cut(text, collapsedLength) : text)}
      {long && (
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="mt-1 rounded-badge text-ui max-md:min-h-11 font-medium text-accent hover:underline"
        >
          {open ? texts.chat.less : texts.chat.more}
        </button>
      )}
    </>
  )
}

/** Whether the text has a numbered listing, or a code block begins in it, at the top level or in a quotation. */
function hasCode(text: string): boolean {
  return /^(?: {0,3}>)* {0,3}(?:```|~~~)/m.test(text) || withListings(text) !== text
}

/** A text as Markdown. Until the chunk is loaded, the text is shown as it was written. */
export function MarkdownText({ text, growing = false }: MarkdownProps) {
  const Loaded = loadedMarkdown()?.Markdown
  if (Loaded) return <Loaded text={text} growing={growing} />
  return (
    <Suspense fallback={<PlainText text={text} />}>
      <Markdown text={text} growing={growing} />
    </Suspense>
  )
}

function PlainText({ text }: MarkdownProps) {
  return <p className="wrap-anywhere whitespace-pre-wrap [unicode-bidi:plaintext]">{text}</p>
}

function beginningOfCommand(text: string, length: number): string {
  return `${[...text].slice(0, length).join('')}…`
}

/** The beginning of a text, cut between words if a word ends shortly before `length`. A code block that the cut leaves open is closed. */
export function beginning(text: string, length: number): string {
  const cut = [...text].slice(0, length).join('')
  const space = cut.search(/\s\S*$/)
  const whole = space > length * 0.8 ? cut.slice(0, space) : cut
  const fences = whole.match(/^ {0,3}(`{3,}|~{3,})/gm) ?? []
  return fences.length % 2 === 1 ? `${whole}…\n${fences.at(-1)}` : `${whole}…`
}
