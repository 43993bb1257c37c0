/**
 * Markdown as agents write it. HTML in it is text; links open elsewhere; pictures are links, for a picture that is
 * fetched tells its server who reads what.
 */
import { useDeferredValue, type ComponentProps } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { safeLink } from '../../../ui/safeLink.ts'
import { CodeText } from '../changes/CodeText.tsx'

const plugins = [remarkGfm]

const components: Components = {
  a: ({ href, children }) => <OutsideLink href={href}>{children}</OutsideLink>,
  img: ({ src, alt }) => (
    <OutsideLink href={typeof src === 'string' ? src : undefined}>{alt || 'picture'}</OutsideLink>
  ),
  // What scrolls must be reached by the keyboard.
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  code: Code,
  table: ({ children }) => (
    <div className="overflow-x-auto" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
}

export function Markdown({ text }: { readonly text: string }) {
  // A long text that is being written is read anew with each piece: typing and scrolling come first.
  const shown = useDeferredValue(text)
  return (
    <div className="markdown">
      <ReactMarkdown remarkPlugins={plugins} components={components}>
        {shown}
      </ReactMarkdown>
    </div>
  )
}

function OutsideLink({ href, children }: Pick<ComponentProps<'a'>, 'href' | 'children'>) {
  const address = safeLink(href)
  if (address === null) return <span>{children}</span>
  return (
    <a href={address} target="_blank" rel="noreferrer noopener nofollow">
      {children}
    </a>
  )
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
