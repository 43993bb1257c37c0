/**
 * Markdown as agents write it. HTML in it is text; links open elsewhere; pictures are links, for a picture that is
 * fetched tells its server who reads what.
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
import { blocksOf } from './blocks.ts'
import { withListings } from './listings.ts'
import { texts } from '../texts.ts'

const plugins = [readGfm]

/** GitHub's Markdown, as remark-gfm reads it. That also writes Markdown, which costs 7 kB here. */
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
  /** It is being written: of each word only the block it belongs to is read again. */
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

/** Characters; a longer block takes more than a moment to be read, and typing and scrolling come first. */
const readAtOnce = 4_000

function Block({ text }: { readonly text: string }) {
  const isLong = text.length > readAtOnce
  // What is short is not drawn a second time for it.
  const later = useDeferredValue(isLong ? text : null)
  return <ReadBlock text={isLong ? (later ?? text) : text} />
}

/** Reading is the costly part: never twice for the same text. */
const ReadBlock = memo(function ReadBlock({ text }: { readonly text: string }) {
  return (
    <ReactMarkdown remarkPlugins={plugins} components={components}>
      {withListings(text)}
    </ReactMarkdown>
  )
})

/** Characters; what is longer takes seconds to be laid out as Markdown. */
const longest = 100_000

/** Whether a text is only to be shown as it is written: it is very long, or nested deeper than anybody writes by hand. */
export function isTooMuch(text: string): boolean {
  return (
    text.length > longest ||
    />(?:[ \t]*>){50}/.test(text) ||
    /(?:[-+*][ \t]+){50}|[*_~]{100}|^[ \t]{200}/m.test(text)
  )
}

function AsWritten({ text }: { readonly text: string }) {
  return <p className="wrap-anywhere whitespace-pre-wrap">{text}</p>
}

interface ElseAsWrittenProps {
  readonly text: string
  readonly children: ReactNode
}

/** A text that its reader fails on is shown as it is written, and the rest of the chat stays. */
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

/** What scrolls must be reached by the keyboard; the button comes with the pointer or the focus. */
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

/** A link has no other link in it: a picture there is its word. */
const InLink = createContext(false)

function PictureLink({ src, alt }: Pick<ComponentProps<'img'>, 'src' | 'alt'>) {
  const word = alt || 'picture'
  if (useContext(InLink)) return word
  return <OutsideLink href={typeof src === 'string' ? src : undefined}>{word}</OutsideLink>
}

function Code({ className, children }: Pick<ComponentProps<'code'>, 'className' | 'children'>) {
  const text = typeof children === 'string' ? children : ''
  // A block ends with a line break, code in a sentence never does.
  if (!text.endsWith('\n')) return <code>{children}</code>
  const name = /language-(\w+)/.exec(className ?? '')?.[1]
  const code = text.slice(0, -1)
  if (name === undefined) return <code>{code}</code>
  return (
    <code>
      <CodeText code={code} language={names[name] ?? name} />
    </code>
  )
}

/** Short names of languages that people put behind the fence. */
const names: Readonly<Record<string, string>> = {
  ts: 'typescript',
  tsx: 'typescript',
  js: 'javascript',
  jsx: 'javascript',
  py: 'python',
  rs: 'rust',
  sh: 'bash',
  shell: 'bash',
  zsh: 'bash',
  html: 'xml',
  yml: 'yaml',
  md: 'markdown',
}
