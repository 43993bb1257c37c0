/**
 * Markdown as agents write it. HTML is shown as text; links open in a new tab; images are shown as links, because loading an image would tell the
 * image's server who reads the chat.
 */
import { Copy } from 'lucide-react'
import {
  Component,
  createContext,
  memo,
  useContext,
  useDeferredValue,
  useRef,
  type ComponentProps,
  type ReactNode,
} from 'react'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'
import ReactMarkdown, { type Components } from 'react-markdown'
import type remarkParse from 'remark-parse'
import { IconButton } from '../../../../ui/form/IconButton.tsx'
import { safeLink } from '../../../../ui/text/safeLink.ts'
import { CodeText } from './CodeText.tsx'
import { useCopy } from '../../useCopy.ts'
import { blocksOf, withListings } from './blocks.ts'
import { texts } from '../texts.ts'

const plugins = [readGfm]

/** Parses GitHub's Markdown like remark-gfm, whose serializer would add 7 kB to this chunk. */
function readGfm(this: ThisParameterType<typeof remarkParse>): void {
  const data = this.data()
  data.micromarkExtensions = [gfm()]
  data.fromMarkdownExtensions = [gfmFromMarkdown()]
}

const components: Components = {
  a: ({ href, children }) => <OutsideLink href={href}>{children}</OutsideLink>,
  img: PictureLink,
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  code: Code,
  table: ({ children }) => (
    <div className="overflow-x-auto" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
}

export interface MarkdownProps {
  readonly text: string
  /** Whether the text is still being written: each addition then parses only the block that it belongs to. */
  readonly growing?: boolean
}

export function Markdown({ text, growing = false }: MarkdownProps) {
  if (isTooMuch(text)) return <AsWritten text={text} />
  return (
    <ElseAsWritten text={text}>
      <div className="markdown">
        {(growing ? blocksOf(text) : [text]).map((block, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- a block keeps its place while the text grows
          <Block key={index} text={block} />
        ))}
      </div>
    </ElseAsWritten>
  )
}

/** The length in characters above which parsing a block takes noticeable time, so that it is deferred behind typing and scrolling. */
const maxImmediateLength = 4_000

function Block({ text }: { readonly text: string }) {
  const isLong = text.length > maxImmediateLength
  // For a short text the deferred value stays `null`, which saves a second rendering.
  const later = useDeferredValue(isLong ? text : null)
  return <ReadBlock text={isLong ? (later ?? text) : text} />
}

/** Parsing is expensive, so a block is parsed again only when its text changes. */
const ReadBlock = memo(function ReadBlock({ text }: { readonly text: string }) {
  return (
    <ReactMarkdown remarkPlugins={plugins} components={components}>
      {withListings(text)}
    </ReactMarkdown>
  )
})

/** The length in characters above which laying out Markdown takes seconds. */
const maxLength = 100_000

/** Whether a text is too long, or nested more deeply than anybody writes by hand. Such a text is shown literally. */
export function isTooMuch(text: string): boolean {
  return (
    text.length > maxLength ||
    />(?:[ \t]*>){50}/.test(text) ||
    /(?:[-+*][ \t]+){50}|[*_~]{100}|^[ \t]{200}/m.test(text)
  )
}

function AsWritten({ text }: { readonly text: string }) {
  return <p className="wrap-anywhere whitespace-pre-wrap [unicode-bidi:plaintext]">{text}</p>
}

interface ElseAsWrittenProps {
  readonly text: string
  readonly children: ReactNode
}

/** If the parser fails on a text, that text is shown literally, and the rest of the chat stays. */
class ElseAsWritten extends Component<ElseAsWrittenProps, { readonly failedOn: string | null }> {
  override state = { failedOn: null }
  static getDerivedStateFromError() {
    return { failedOn: '' }
  }
  override componentDidCatch() {
    this.setState({ failedOn: this.props.text })
  }
  override render() {
    const { failedOn } = this.state
    return failedOn === '' || failedOn === this.props.text ? (
      <AsWritten text={this.props.text} />
    ) : (
      this.props.children
    )
  }
}

/**
 * A code block. It scrolls, so it must be reachable by keyboard; its copy button appears on hover or focus, and is always visible on a touch screen.
 */
function CodeBlock({ children }: { readonly children: ReactNode }) {
  const block = useRef<HTMLPreElement>(null)
  const copy = useCopy()
  return (
    <div className="group/code relative">
      <pre ref={block} tabIndex={0}>
        {children}
      </pre>
      <span className="absolute top-1 right-1 rounded-control bg-panel opacity-0 group-hover/code:opacity-100 focus-within:opacity-100 pointer-coarse:opacity-100">
        <IconButton
          icon={Copy}
          label={texts.chat.copyCode}
          size="row"
          onClick={() => copy(block.current?.textContent ?? '')}
        />
      </span>
    </div>
  )
}

function OutsideLink({ href, children }: Pick<ComponentProps<'a'>, 'href' | 'children'>) {
  const address = safeLink(href)
  if (address === null) return <span>{children}</span>
  return (
    <a href={address} target="_blank" rel="noreferrer noopener nofollow">
      <InLink value>{children}</InLink>
    </a>
  )
}

/** Links cannot be nested: an image inside a link is shown as its text. */
const InLink = createContext(false)

function PictureLink({ src, alt }: Pick<ComponentProps<'img'>, 'src' | 'alt'>) {
  const word = alt || 'picture'
  if (useContext(InLink)) return word
  return <OutsideLink href={typeof src === 'string' ? src : undefined}>{word}</OutsideLink>
}

function Code({ className, children }: Pick<ComponentProps<'code'>, 'className' | 'children'>) {
  const text = typeof children === 'string' ? children : ''
  // A code block ends with a line break, inline code never does.
  if (!text.endsWith('\n')) return <code>{children}</code>
  const name = /language-(\w+)/.exec(className ?? '')?.[1]
  const code = text.slice(0, -1)
  if (name === undefined) return <code>{code}</code>
  return (
    <code>
      <CodeText code={code} language={name === 'shell' ? 'bash' : name} />
    </code>
  )
}
