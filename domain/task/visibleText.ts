/** What a reader of the code host's page sees of a text: without what stands in it and is not shown there. */

/** Formats, private and unassigned characters, what is drawn as nothing, and controls but for tab and line feed. */
const invisible = /[\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}\u{2800}]|(?![\t\n])\p{Cc}/gu
const lineEnds = /\r\n?|[\u2028\u2029\u0085\v\f]/g
/** One that is never closed hides the rest. */
const comments = /<!--[\s\S]*?(?:-->|$)/g
const imageAlts = /!\[[^\]]*\]/g
const linkTitles = /(\]\(\s*[^\s()]*)\s+(?:"[^"]*"|'[^']*'|\([^)]*\))\s*\)/g
/** Link definitions are shown nowhere, and so are remarks that are written as such. */
const definitions = /^ {0,3}\[[^\]\n]*\]:.*$/gm
const pictures = /<picture\b[\s\S]*?(?:<\/picture\s*>|$)/gi
const images = /<img\b[^>]*>?/gi
const hiddenAttributes =
  /\s(?:alt|title|aria-[a-z]+|placeholder|summary|label|data-[\w-]+)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/gi
/** Elements that are not shown. */
const hiddenElements = /<(\w+)\b[^>]*\s(?:hidden\b|style\s*=)[^>]*>[\s\S]*?(?:<\/\1\s*>|$)/gi

/** Taking something out may bring the next together, so it is repeated until nothing changes: each round makes the text shorter. */
export function visibleText(text: string): string {
  let before = text.replaceAll(lineEnds, '\n').replaceAll(invisible, '')
  for (;;) {
    const after = once(before)
    if (after === before) return after.trim()
    before = after
  }
}

function once(text: string): string {
  return text
    .replaceAll(comments, '')
    .replaceAll(pictures, '')
    .replaceAll(images, '')
    .replaceAll(hiddenElements, '')
    .replaceAll(hiddenAttributes, '')
    .replaceAll(imageAlts, (alt) => (alt === '![]' ? alt : '![]'))
    .replaceAll(linkTitles, '$1)')
    .replaceAll(definitions, '')
}

/** The marker by which a comment of ours is known, whoever's token wrote it. */
export const markerOf = (id: string): string => `<!-- flightdeck:${id} -->`

const marker = /<!--\s*flightdeck:/i

/** Whether a comment carries a marker of ours: no such comment is feedback. */
export const isMarked = (body: string): boolean => marker.test(body)

/** Whether a comment answers this. */
export const answers = (body: string, id: string): boolean => body.includes(markerOf(id))
