/** Splits a line of output into pieces with the same style: colours, links, and search matches. Pure. */
import { safeLink } from '../../../../ui/text/safeLink.ts'
import { placesOf } from '../../textMatches.ts'
import { withoutColours } from './outputLines.ts'
import { spansOf } from './styledSpans.ts'

export interface Piece {
  readonly text: string
  readonly className: string
  /** The address of the piece's link: http and https only. */
  readonly href: string | null
  readonly match: number | null
}

interface Range {
  readonly from: number
  readonly to: number
}

/** After about this many pieces, the rest of a line becomes one piece: every letter may have its own colour. No more matches than this are marked. */
export const maxPieces = 200

const esc = '\u001B'
const linkBegins = new RegExp(`${esc}\\]8;;([^\\u0007]*)\\u0007`)
const address = /https?:\/\/[^\s<>"'`\\^{|}]+/g
/** Punctuation that ends a sentence rather than being part of an address. */
const afterAddress = /[.,;:!?)\]]+$/

/** Splits a line into pieces. The colour codes `start` are in effect at the beginning of the line; the places of `words` are marked. */
export function piecesOf(start: string, text: string, words: string): readonly Piece[] {
  const { line, links } = withoutLinks(text)
  const spans = spansOf(start, line)
  const plain = spans.map((span) => span.text).join('')
  const places = placesOf(plain, words)
    .slice(0, maxPieces)
    .map((from) => ({ from, to: from + words.length }))
  const anchors = [...links, ...addressesIn(plain, links)]
  if (anchors.length === 0 && places.length === 0 && spans.length <= maxPieces)
    return spans.map((span) => ({ ...span, href: null, match: null }))

  const edges = [...places, ...anchors].flatMap(({ from, to }) => [from, to])
  const pieces: Piece[] = []
  let at = 0
  for (const span of spans) {
    const end = at + span.text.length
    const inside = edges.filter((edge) => edge > at && edge < end).toSorted((one, other) => one - other)
    let from = at
    for (const to of [...inside, end]) {
      if (to === from) continue
      const anchor = anchors.find((range) => range.from <= from && to <= range.to)
      const match = places.findIndex((range) => range.from <= from && to <= range.to)
      const style = {
        className: span.className,
        href: anchor?.href ?? null,
        match: match === -1 ? null : match,
      }
      pieces.push({ text: plain.slice(from, to), ...style })
      from = to
    }
    at = end
    if (pieces.length >= maxPieces) break
  }
  if (at < plain.length) pieces.push({ text: plain.slice(at), className: '', href: null, match: null })
  return pieces
}

/** A line without its links, and the positions of the links in its visible text. */
function withoutLinks(text: string): {
  readonly line: string
  readonly links: readonly (Range & { readonly href: string })[]
} {
  if (!text.includes(`${esc}]`)) return { line: text, links: [] }
  const parts = text.split(linkBegins)
  const links: (Range & { readonly href: string })[] = []
  let line = ''
  let seen = 0
  // The separator has a capture group, so every second part is an address, which is empty at the end of a link.
  for (const [index, part] of parts.entries()) {
    if (index % 2 === 1) continue
    const length = withoutColours(part).length
    const href = safeLink(parts[index - 1])
    if (href !== null && length > 0) links.push({ from: seen, to: seen + length, href })
    line += part
    seen += length
  }
  return { line, links }
}

function addressesIn(plain: string, links: readonly Range[]): readonly (Range & { readonly href: string })[] {
  if (!plain.includes('://')) return []
  return [...plain.matchAll(address)].flatMap((match) => {
    const url = match[0].replace(afterAddress, '')
    const range = { from: match.index, to: match.index + url.length }
    const href = safeLink(url)
    const isCovered = links.some(({ from, to }) => from < range.to && range.from < to)
    return href === null || isCovered ? [] : [{ ...range, href }]
  })
}
