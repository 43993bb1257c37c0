/**
 * Finds the author's own words in a Markdown text: without quotations and code. When in doubt, words count as quoted. The text is untrusted, so the
 * running time must grow linearly with its length, never quadratically.
 */

/** The maximum depth of nested containers. Nothing after a line with deeper nesting is read. */
const maxContainers = 50

/** A quotation, or a list item; `indent` is how far the item's content is indented, in columns. */
type Container = { readonly kind: 'quote' } | { readonly kind: 'item'; readonly indent: number }

interface Fence {
  readonly mark: string
}

interface Blocks {
  containers: readonly Container[]
  fence: Fence | null
  isParagraph: boolean
  /** Paragraphs and headings outside of quotations. */
  readonly own: string[][]
}

/** The paragraphs in the author's own words, in order, without code and quotations. */
export function ownWords(text: string): string {
  const blocks: Blocks = { containers: [], fence: null, isParagraph: false, own: [] }
  for (const line of text.replaceAll('\t', '    ').split('\n')) {
    readLine(blocks, line)
    if (blocks.containers.length > maxContainers) break
  }
  return withoutElements(blocks.own.map((lines) => withoutCode(lines.join('\n'))).join('\n\n'))
}

const spacesAt = (line: string, at: number): number => {
  let end = at
  while (line[end] === ' ') end += 1
  return end - at
}
const isBlankFrom = (line: string, at: number): boolean => at + spacesAt(line, at) === line.length

/** `count`: how many of the open containers the line continues. `at`: the column at which the line's content inside of them begins. */
function goneOn(containers: readonly Container[], line: string): { count: number; at: number } {
  let at = 0
  for (const [count, container] of containers.entries()) {
    const spaces = spacesAt(line, at)
    if (container.kind === 'quote') {
      if (spaces > 3 || line[at + spaces] !== '>') return { count, at }
      at = behindMark(line, at + spaces)
    } else if (spaces >= container.indent) at += container.indent
    else if (!isBlankFrom(line, at)) return { count, at }
  }
  return { count: containers.length, at }
}

const behindMark = (line: string, at: number): number => (line[at + 1] === ' ' ? at + 2 : at + 1)

function readLine(blocks: Blocks, line: string): void {
  const { count, at } = goneOn(blocks.containers, line)
  const isWithin = count === blocks.containers.length
  if (blocks.fence !== null) {
    if (isWithin) {
      if (isEndOf(blocks.fence, line.slice(at))) blocks.fence = null
      return
    }
    blocks.fence = null
  }
  const begun = containersAt(line, at, blocks.isParagraph)
  const rest = line.slice(begun.at)
  // In Markdown, a line without the mark `>` can continue a quoted paragraph. The line is then quoted as well.
  const isLazy = !isWithin && blocks.isParagraph && begun.containers.length === 0 && isParagraphLine(rest)
  if (!isLazy) {
    const isOther = !isWithin || begun.containers.length > 0
    blocks.containers = [...blocks.containers.slice(0, count), ...begun.containers]
    if (isOther) blocks.isParagraph = false
  }
  readLeaf(blocks, rest)
}

function readLeaf(blocks: Blocks, rest: string): void {
  const mark = fenceAt(rest)
  if (mark !== null) {
    blocks.fence = { mark }
    blocks.isParagraph = false
    return
  }
  const isCode = /^ {4}/.test(rest)
  if (!isParagraphLine(rest) || isCode) {
    const isHeading = /^ {0,3}#{1,6}(?: |$)/.test(rest)
    if (isHeading && !isQuoted(blocks)) blocks.own.push([rest])
    // An indented line after a paragraph's line continues the paragraph instead of beginning code.
    blocks.isParagraph &&= isCode && rest.trim() !== ''
    return
  }
  if (!isQuoted(blocks)) {
    const last = blocks.own.at(-1)
    if (blocks.isParagraph && last) last.push(rest)
    else blocks.own.push([rest])
  }
  blocks.isParagraph = true
}

const isQuoted = ({ containers }: Blocks): boolean => containers.some(({ kind }) => kind === 'quote')

const listMark = /(?:[-*+]|(\d{1,9})[.)])(?= |$)/y

function containersAt(
  line: string,
  from: number,
  isParagraph: boolean,
): { readonly containers: readonly Container[]; readonly at: number } {
  const containers: Container[] = []
  let at = from
  while (containers.length <= maxContainers) {
    const spaces = spacesAt(line, at)
    const mark = at + spaces
    if (spaces > 3 || isRule(line.slice(mark))) break
    if (line[mark] === '>') {
      containers.push({ kind: 'quote' })
      at = behindMark(line, mark)
      continue
    }
    listMark.lastIndex = mark
    const [found, number] = listMark.exec(line) ?? []
    if (found === undefined) break
    const end = mark + found.length
    const isEmpty = isBlankFrom(line, end)
    // Inside a paragraph, an empty list item, or a numbered item that does not start at 1, is plain text.
    if (isParagraph && containers.length === 0 && (isEmpty || (number !== undefined && number !== '1'))) break
    const gap = spacesAt(line, end)
    const width = isEmpty || gap > 4 ? 1 : gap
    containers.push({ kind: 'item', indent: end + width - at })
    at = Math.min(end + width, line.length)
  }
  return { containers, at }
}

const isRule = (rest: string): boolean => /^([-*_])(?: *\1){2,} *$/.test(rest.slice(0, longestRule))
/** How many characters of a line are checked for a horizontal rule. */
const longestRule = 200

const fenceAt = (rest: string): string | null => /^ {0,3}(`{3,}(?![^`]*`)|~{3,})/.exec(rest)?.[1] ?? null

function isEndOf({ mark }: Fence, rest: string): boolean {
  const line = rest.trim()
  return spacesAt(rest, 0) <= 3 && line.startsWith(mark) && line === (mark[0] ?? '').repeat(line.length)
}

/** Whether the line is text of a paragraph, rather than the beginning of another block. */
function isParagraphLine(rest: string): boolean {
  if (rest.trim() === '' || fenceAt(rest) !== null) return false
  const line = rest.trimStart()
  return rest.length - line.length > 3 || !(/^#{1,6}(?: |$)/.test(line) || isRule(line))
}

/** Removes code from the text of one paragraph. */
function withoutCode(text: string): string {
  const ends = endsOfRuns(text)
  const kept: string[] = []
  for (let at = 0; at < text.length;) {
    const next = /[\\`]/g
    next.lastIndex = at
    const found = next.exec(text)
    kept.push(text.slice(at, found?.index))
    if (!found) break
    if (found[0] === '\\') {
      kept.push(text.slice(found.index, found.index + 2))
      at = found.index + 2
      continue
    }
    const length = runAt(text, found.index)
    const end = ends(length, found.index + length)
    kept.push(end === undefined ? text.slice(found.index, found.index + length) : ' ')
    at = end ?? found.index + length
  }
  return kept.join('')
}

function runAt(text: string, at: number): number {
  let end = at
  while (text[end] === '`') end += 1
  return end - at
}

/**
 * Returns a function that finds the end of the next run of exactly `length` backticks. `from` must grow from call to call, so that each run is passed
 * only once.
 */
function endsOfRuns(text: string): (length: number, from: number) => number | undefined {
  const byLength = new Map<number, { readonly starts: number[]; next: number }>()
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const known = byLength.get(run.length) ?? { starts: [], next: 0 }
    known.starts.push(index)
    byLength.set(run.length, known)
  }
  return (length, from) => {
    const known = byLength.get(length)
    if (!known) return undefined
    while ((known.starts[known.next] ?? from) < from) known.next += 1
    const start = known.starts[known.next]
    return start === undefined ? undefined : start + length
  }
}

const quoting = /<(\/?)(?:blockquote|code|pre|q|samp|kbd|tt|xmp)(?=[\s/>])/gi

/** Removes HTML elements that contain quotations or code. If an element is never closed, everything after its beginning is removed. */
function withoutElements(text: string): string {
  const kept: string[] = []
  let depth = 0
  let at = 0
  for (const { 0: found, 1: slash, index } of text.matchAll(quoting)) {
    // The match lies within a tag that was already removed.
    if (index < at) continue
    const end = text.indexOf('>', index + found.length)
    if (end === -1) break
    if (depth === 0) kept.push(text.slice(at, index), ' ')
    depth = Math.max(0, depth + (slash === '/' ? -1 : 1))
    at = end + 1
  }
  if (depth === 0) kept.push(text.slice(at))
  return kept.join('')
}
