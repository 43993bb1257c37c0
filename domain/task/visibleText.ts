/**
 * What a reader of the code host's page sees of a text: without what stands in it and is not shown there. Anybody may have written it, so the
 * work grows with its length and not with its square, whatever it is made of.
 */

/** Formats, private and unassigned characters, what is drawn as nothing, and controls but for tab and line feed. */
const invisible = /[\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}\u{2800}]|(?![\t\n])\p{Cc}/gu
const lineEnds = /\r\n?|[\u2028\u2029\u0085\v\f]/g

/** Bounds on quantifiers keep a text that never closes what it opens from being searched to its end again and again. */
const linkTitles =
  /(\]\(\s{0,99}[^\s()]{1,500})\s{1,99}(?:"[^"]{0,500}"|'[^']{0,500}'|\([^)]{0,500}\))\s{0,99}\)/g
/** Link definitions are shown nowhere, and so are remarks that are written as such. */
const definitions = /^ {0,3}\[[^\]\n]*\]:.*$/gm

/** Taking something out may bring the next together: that is looked for so often, and then no tag is left one. */
const mostRounds = 8
/** Tags that end nowhere: each was looked for to the end of the text. */
const mostUnclosed = 50

/** The text as it is seen; the same again for what it returned. */
export function visibleText(text: string): string {
  const clean = text.replaceAll(lineEnds, '\n').replaceAll(invisible, '')
  return settled(clean) ?? settled(clean.replaceAll('<', '&lt;')) ?? ''
}

function settled(text: string): string | undefined {
  let before = text
  for (let round = 0; round < mostRounds; round += 1) {
    const after = withoutMarkdown(withoutTags(before)).trim()
    if (after === before) return after
    before = after
  }
  return undefined
}

const withoutMarkdown = (text: string): string =>
  withoutAlts(text).replaceAll(linkTitles, '$1)').replaceAll(definitions, '')

/** Without what stands for an image that is not shown. */
function withoutAlts(text: string): string {
  const seen: string[] = []
  let at = 0
  for (;;) {
    const start = text.indexOf('![', at)
    const end = start === -1 ? -1 : text.indexOf(']', start)
    if (end === -1) break
    seen.push(text.slice(at, start), '![]')
    at = end + 1
  }
  return seen.join('') + text.slice(at)
}

interface Tag {
  readonly name: string
  readonly isClosing: boolean
  readonly end: number
  readonly source: string
}

/** Elements whose content is not shown, or is shown only where something else is not. */
const unseen: ReadonlySet<string> = new Set(['picture', 'script', 'style', 'template'])
/** They have no content. */
const empty: ReadonlySet<string> = new Set(['br', 'hr', 'img', 'input', 'wbr'])
const hidingAttributes = /\s(?:hidden|style)(?![\w-])/i
const href = /\shref\s{0,9}=\s{0,9}("[^"]*"|'[^']*'|[^\s"'>]+)/i

/** Without comments, hidden elements, images, and attributes that are not seen. What never ends hides the rest. */
function withoutTags(text: string): string {
  const seen: string[] = []
  let hidden: { readonly name: string; depth: number } | undefined
  let unclosed = 0
  for (let at = 0; at < text.length;) {
    const start = text.indexOf('<', at)
    if (hidden === undefined) seen.push(text.slice(at, start === -1 ? undefined : start))
    if (start === -1) break
    if (text.startsWith('<!--', start)) {
      const end = text.indexOf('-->', start + 4)
      if (end === -1) break
      at = end + 3
      continue
    }
    const tag = tagAt(text, start)
    if (tag === 'unclosed') unclosed += 1
    if (tag === 'endless' || unclosed > mostUnclosed) break
    if (tag === 'none' || tag === 'unclosed') {
      if (hidden === undefined) seen.push('<')
      at = start + 1
      continue
    }
    at = tag.end
    if (hidden === undefined) {
      if (isHiding(tag)) hidden = { name: tag.name, depth: 1 }
      else seen.push(shown(tag))
    } else if (tag.name === hidden.name) {
      hidden.depth += tag.isClosing ? -1 : 1
      if (hidden.depth === 0) hidden = undefined
    }
  }
  return seen.join('')
}

const tagName = /<\/?([a-z]\w{0,30})/iy

/** `unclosed` for a text that only begins as a tag does, `endless` where that hides what follows. */
function tagAt(text: string, start: number): Tag | 'none' | 'unclosed' | 'endless' {
  tagName.lastIndex = start
  const [begun, name = ''] = tagName.exec(text) ?? []
  if (begun === undefined) return 'none'
  const known = name.toLowerCase()
  const isNeverShown = unseen.has(known) || known === 'img'
  const from = start + begun.length
  if (!isNeverShown && !/[\s/>]/.test(text.charAt(from))) return 'none'
  const end = endOfTag(text, from)
  if (end === -1) return isNeverShown ? 'endless' : 'unclosed'
  return { name: known, isClosing: begun.startsWith('</'), end, source: text.slice(start, end) }
}

/** Behind its `>`, which is none within a quoted value; -1 when there is no such. */
function endOfTag(text: string, from: number): number {
  const mark = /=\s{0,9}["']|>/g
  mark.lastIndex = from
  for (let found = mark.exec(text); found; found = mark.exec(text)) {
    if (found[0] === '>') return mark.lastIndex
    const close = text.indexOf(found[0].slice(-1), mark.lastIndex)
    if (close === -1) return -1
    mark.lastIndex = close + 1
  }
  return -1
}

const isHiding = ({ name, isClosing, source }: Tag): boolean =>
  !isClosing && (unseen.has(name) || (!empty.has(name) && hidingAttributes.test(source)))

function shown({ name, isClosing, source }: Tag): string {
  if (name === 'img' || unseen.has(name)) return ''
  if (isClosing) return `</${name}>`
  const address = href.exec(source)?.[1]
  return address === undefined ? `<${name}>` : `<${name} href=${address}>`
}

/** The marker by which a comment of ours is known, whoever's token wrote it. */
export const markerOf = (id: string): string => `<!-- flightdeck:${id} -->`

const marker = /<!--\s*flightdeck:/i

/** Whether a comment carries a marker of ours: no such comment is feedback. */
export const isMarked = (body: string): boolean => marker.test(body)

/** Whether a comment answers this. */
export const answers = (body: string, id: string): boolean => body.includes(markerOf(id))
