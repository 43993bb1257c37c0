/**
 * Finds the part of a Markdown text that people see on the code host's page. The text is untrusted, so the running time must grow linearly with its
 * length, never quadratically. The file also makes and finds the marker of our own comments, and breaks up mentions.
 */

/**
 * Characters that nobody sees: format, private-use, unassigned, surrogate, ignorable and blank ones, and control characters except tab and line feed.
 */
const invisible = /[\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}\u{2800}]|(?![\t\n])\p{Cc}/gu
const lineEnds = /\r\n?|[\u2028\u2029\u0085\v\f]/g

/** The titles of links, which are not displayed. The quantifiers are bounded, because the search must not read to the end for each unclosed link. */
const linkTitles =
  /(\]\(\s{0,99}[^\s()]{1,500})\s{1,99}(?:"[^"]{0,500}"|'[^']{0,500}'|\([^)]{0,500}\))\s{0,99}\)/g
/** Definitions of links, which are not displayed. Some people use them as comments. */
const definitions = /^ {0,3}\[[^\]\n]*\]:.*$/gm

/**
 * Removing a tag or link may create another tag or link from the text around it, so the removal is repeated, but only this many times. If the last
 * round still removes something, every `<` is escaped, and the rounds begin again.
 */
const maxRounds = 8
/** The maximum number of unclosed tags that are examined, because each needs a search to the end of the text. */
const maxUnclosed = 50

/** The visible text; empty when the removals never come to an end. Applying the function again changes nothing. */
export function visibleText(text: string): string {
  const clean = text.replaceAll(lineEnds, '\n').replaceAll(invisible, '')
  return settled(clean) ?? settled(clean.replaceAll('<', '&lt;')) ?? ''
}

function settled(text: string): string | undefined {
  let before = text
  for (let round = 0; round < maxRounds; round += 1) {
    const after = withoutMarkdown(withoutTags(before)).trim()
    if (after === before) return after
    before = after
  }
  return undefined
}

const withoutMarkdown = (text: string): string =>
  withoutAlts(text).replaceAll(linkTitles, '$1)').replaceAll(definitions, '')

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

/** Elements whose content is not displayed as text. */
const unseen: ReadonlySet<string> = new Set(['picture', 'script', 'style', 'template'])
const empty: ReadonlySet<string> = new Set(['br', 'hr', 'img', 'input', 'wbr'])
const hidingAttributes = /\s(?:hidden|style)(?![\w-])/i
const href = /\shref\s{0,9}=\s{0,9}("[^"]*"|'[^']*'|[^\s"'>]+)/i

/** Removes comments, hidden elements, images and invisible attributes. A comment or hidden element without an end hides the rest of the text. */
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
    if (tag === 'endless' || unclosed > maxUnclosed) break
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

/** The tag at the index `start`. `unclosed`: a tag begins but does not end. `endless`: a tag begins, does not end, and hides the rest of the text. */
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

/** The index after the `>` that ends the tag; -1 when the tag does not end. A `>` in a quoted value does not count. */
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

/** The invisible marker by which we recognize our own comments at the code host, whichever token wrote them. */
export const markerOf = (id: string): string => `<!-- flightdeck:${id} -->`

const marker = /<!--\s*flightdeck:/i

/** Whether a comment contains our marker. Our own comments are never feedback. */
export const isMarked = (body: string): boolean => marker.test(body)

/** Whether the comment is ours, about the feedback or task `id`. */
export const hasMarkerOf = (body: string, id: string): boolean => body.includes(markerOf(id))

/** Breaks up mentions, so that the text notifies nobody. */
export const withoutMentions = (text: string): string => text.replaceAll('@', '@\u200B')
