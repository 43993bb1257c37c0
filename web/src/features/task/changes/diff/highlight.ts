/** Syntax highlighting: a chunk of its own, loaded when code is first shown. Code in an unknown language stays plain. */
import bash from 'highlight.js/lib/languages/bash'
import css from 'highlight.js/lib/languages/css'
import go from 'highlight.js/lib/languages/go'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import markdown from 'highlight.js/lib/languages/markdown'
import python from 'highlight.js/lib/languages/python'
import rust from 'highlight.js/lib/languages/rust'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { createLowlight } from 'lowlight'

export interface CodeSpan {
  readonly text: string
  readonly className: string
}
type CodeLines = readonly (readonly CodeSpan[])[]

const lowlight = createLowlight({
  bash,
  css,
  go,
  java,
  javascript,
  json,
  markdown,
  python,
  rust,
  typescript,
  xml,
  yaml,
})

const styles: readonly (readonly [name: RegExp, className: string])[] = [
  [/^hljs-(comment|quote|meta)/, 'text-muted'],
  [/^hljs-(keyword|selector-tag|literal|type|built_in|tag|name|section|doctag)/, 'text-syn-key'],
  [/^hljs-(string|regexp|symbol|link|code)/, 'text-syn-str'],
  [/^hljs-(number|attr|attribute|variable|template-variable|params)/, 'text-syn-num'],
  [/^hljs-(title|function|class)/, 'text-syn-fn'],
]

/** The length in UTF-16 code units above which code is shown plain at once rather than highlighted late. */
const maxCodeLength = 200_000

/** The spans of the code by line; `null` when the language is unknown or the code is too long. */
export function highlight(code: string, language: string): CodeLines | null {
  if (!lowlight.registered(language) || code.length > maxCodeLength) return null
  const lines: CodeSpan[][] = [[]]
  const put = (text: string, className: string) => {
    text.split('\n').forEach((part, index) => {
      if (index > 0) lines.push([])
      if (part !== '') lines.at(-1)?.push({ text: part, className })
    })
  }
  const walk = (nodes: ReturnType<typeof lowlight.highlight>['children'], className: string) => {
    for (const node of nodes) {
      if (node.type === 'text') put(node.value, className)
      else if (node.type === 'element') walk(node.children, lookOf(node.properties['className']) ?? className)
    }
  }
  walk(lowlight.highlight(language, code).children, '')
  return lines
}

function lookOf(names: unknown): string | undefined {
  const name = Array.isArray(names) ? String(names[0]) : ''
  return styles.find(([pattern]) => pattern.test(name))?.[1]
}
